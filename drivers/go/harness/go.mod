module jeton/harness

go 1.25.0
