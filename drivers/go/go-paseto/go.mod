module jeton/driver-go-paseto

go 1.25.0

require (
	aidanwoods.dev/go-paseto v1.6.0
	jeton/harness v0.0.0
)

require (
	aidanwoods.dev/go-result v0.3.1 // indirect
	golang.org/x/crypto v0.46.0 // indirect
	golang.org/x/sys v0.39.0 // indirect
)

replace jeton/harness => ../harness
