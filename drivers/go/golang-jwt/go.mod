module jeton/driver-golang-jwt

go 1.25.0

require (
	github.com/golang-jwt/jwt/v5 v5.3.1
	jeton/harness v0.0.0
)

replace jeton/harness => ../harness
