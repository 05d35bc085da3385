module github.com/jeton/jeton/sdk/go/lib/linux_arm64

go 1.24
