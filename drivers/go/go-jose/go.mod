module jeton/driver-go-jose

go 1.25.0

require (
	github.com/go-jose/go-jose/v4 v4.1.9
	jeton/harness v0.0.0
)

replace jeton/harness => ../harness
