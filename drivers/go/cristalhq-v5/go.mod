module jeton/driver-cristalhq-v5

go 1.25.0

require (
	github.com/cristalhq/jwt/v5 v5.4.0
	jeton/harness v0.0.0
)

replace jeton/harness => ../harness
