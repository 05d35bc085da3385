module github.com/jeton/jeton/sdk/go

go 1.24

require github.com/jeton/jeton/sdk/go/lib/linux_amd64 v0.1.0

// Releases have the library for each platform as a module of its own. Here it is in a folder.
replace github.com/jeton/jeton/sdk/go/lib/linux_amd64 => ./lib/linux_amd64
