module jeton/driver-cristalhq

go 1.25.0

require (
	github.com/cristalhq/jwt/v3 v3.0.14
	jeton/harness v0.0.0
)

replace jeton/harness => ../harness
