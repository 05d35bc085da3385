module github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl

go 1.24
