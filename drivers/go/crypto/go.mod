module jeton/driver-crypto

go 1.25.0

require jeton/harness v0.0.0

replace jeton/harness => ../harness
