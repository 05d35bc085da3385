module github.com/jeton/jeton/sdk/go/lib/linux_amd64

go 1.24
