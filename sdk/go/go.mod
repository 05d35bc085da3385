module github.com/jeton/jeton/sdk/go

go 1.24

require (
	github.com/jeton/jeton/sdk/go/lib/linux_amd64 v0.1.0
	github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl v0.1.0
	github.com/jeton/jeton/sdk/go/lib/linux_arm64 v0.1.0
	github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl v0.1.0
)

// In a release, the library of each platform is a separate module. In the repository, it is a folder.
replace (
	github.com/jeton/jeton/sdk/go/lib/linux_amd64 => ./lib/linux_amd64
	github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl => ./lib/linux_amd64_musl
	github.com/jeton/jeton/sdk/go/lib/linux_arm64 => ./lib/linux_arm64
	github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl => ./lib/linux_arm64_musl
)
