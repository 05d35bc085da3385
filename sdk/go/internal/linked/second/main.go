//go:build jeton_second

// The program second uses jeton and another Rust library with its own copy of the standard library. Both catch panics.
package main

// #include <stdint.h>
// uint64_t second_sum(uint64_t count);
import "C"

import (
	"log"
	"math"

	"github.com/jeton/jeton/sdk/go"
)

func main() {
	if _, err := jeton.GenerateKey(jeton.ES256); err != nil {
		log.Fatal(err)
	}
	if C.second_sum(10) != 45 {
		log.Fatal("the other library computes a wrong sum")
	}
	if C.second_sum(1000) != math.MaxUint64 {
		log.Fatal("the other library does not catch its panic")
	}
	if _, err := jeton.GenerateKey(jeton.RS256); err != nil {
		log.Fatal(err)
	}
}
