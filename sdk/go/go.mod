module github.com/jeton/jeton/sdk/go

go 1.24

require github.com/jeton/jeton/sdk/go/lib/linux_amd64 v0.1.0

// In a release, the library of each platform is a separate module. In the repository, it is a folder.
replace github.com/jeton/jeton/sdk/go/lib/linux_amd64 => ./lib/linux_amd64
