module jeton/driver-pascaldekloe

go 1.25.0

require (
	github.com/pascaldekloe/jwt v1.9.0
	jeton/harness v0.0.0
)

replace jeton/harness => ../harness
