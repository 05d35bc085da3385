package main

import (
	"encoding/json"
	"testing"

	"jeton/harness/conformance"
)

func TestDriver(t *testing.T) { conformance.Test(t, driver()) }

func TestTimesWithFractionsAreRead(t *testing.T) {
	var claims decrypted
	// josekit writes times so.
	if err := json.Unmarshal([]byte(`{"exp":1795878382.0,"aud":"api"}`), &claims); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil || claims.ExpiresAt != 1795878382 || string(text) != `{"aud":["api"],"exp":1795878382,"admin":false}` {
		t.Fatalf("%s, %v", text, err)
	}
}
