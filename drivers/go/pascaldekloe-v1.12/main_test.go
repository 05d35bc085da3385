package main

import (
	"testing"

	"jeton/harness/conformance"
)

// Version 1.12 reads three parts of a token and leaves unread, and unsigned, what comes behind.
func TestDriver(t *testing.T) { conformance.Test(t, driver(), "one dot more") }
