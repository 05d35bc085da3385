module jeton/driver-golang-jwt-v4

go 1.25.0

require (
	github.com/golang-jwt/jwt/v4 v4.5.2
	jeton/harness v0.0.0
)

replace jeton/harness => ../harness
