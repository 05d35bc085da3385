module jeton/driver-jeton

go 1.25.0

require (
	github.com/jeton/jeton/sdk/go v0.1.0
	jeton/harness v0.0.0
)

require (
	github.com/jeton/jeton/sdk/go/lib/linux_amd64 v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_arm64 v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl v0.1.0 // indirect
)

replace (
	github.com/jeton/jeton/sdk/go => ../../../sdk/go
	github.com/jeton/jeton/sdk/go/lib/linux_amd64 => ../../../sdk/go/lib/linux_amd64
	github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl => ../../../sdk/go/lib/linux_amd64_musl
	github.com/jeton/jeton/sdk/go/lib/linux_arm64 => ../../../sdk/go/lib/linux_arm64
	github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl => ../../../sdk/go/lib/linux_arm64_musl
	jeton/harness => ../harness
)
