module jeton/driver-cristalhq

go 1.25.0

require (
	github.com/cristalhq/jwt/v3 v3.1.0
	jeton/harness v0.0.0
)

replace jeton/harness => ../harness
