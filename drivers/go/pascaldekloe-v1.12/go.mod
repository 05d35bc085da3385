module jeton/driver-pascaldekloe-v1.12

go 1.25.0

require (
	github.com/pascaldekloe/jwt v1.12.0
	jeton/harness v0.0.0
)

replace jeton/harness => ../harness
