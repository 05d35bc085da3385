module github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl

go 1.24
