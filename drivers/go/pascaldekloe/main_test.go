package main

import (
	"testing"

	"jeton/harness/conformance"
)

func TestDriver(t *testing.T) { conformance.Test(t, driver(), conformance.FlawedES512) }
