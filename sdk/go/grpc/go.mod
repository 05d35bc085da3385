module github.com/jeton/jeton/sdk/go/grpc

go 1.26.0

require (
	github.com/jeton/jeton/sdk/go v0.1.0
	google.golang.org/grpc v1.85.0
)

require (
	github.com/jeton/jeton/sdk/go/lib/linux_amd64 v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_arm64 v0.1.0 // indirect
	github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl v0.1.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace (
	github.com/jeton/jeton/sdk/go => ../
	github.com/jeton/jeton/sdk/go/lib/linux_amd64 => ../lib/linux_amd64
	github.com/jeton/jeton/sdk/go/lib/linux_amd64_musl => ../lib/linux_amd64_musl
	github.com/jeton/jeton/sdk/go/lib/linux_arm64 => ../lib/linux_arm64
	github.com/jeton/jeton/sdk/go/lib/linux_arm64_musl => ../lib/linux_arm64_musl
)
