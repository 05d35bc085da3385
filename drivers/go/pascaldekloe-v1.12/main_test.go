package main

import (
	"testing"

	"jeton/harness/conformance"
)

// Version 1.12 reads three parts of a token and ignores the rest, which is not signed.
func TestDriver(t *testing.T) { conformance.Test(t, driver(), "an extra dot") }
