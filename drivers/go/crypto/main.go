// The driver of Go's own crypto packages: key generation. A Go library without key generation
// leaves it to them. A published report timed them as the cost of a JWT key.
package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"

	"jeton/harness"
)

func main() { harness.Serve(driver()) }

func driver() *harness.Driver {
	offers := harness.JWTOffers([]string{harness.OperationGenerateKey}, "ES256", "ES384", "ES512", "EdDSA")
	for i := range offers {
		offers[i].Format = "bare"
		offers[i].KeyHandling = []string{harness.Prepared}
	}
	return &harness.Driver{
		Library:     "crypto",
		Module:      harness.StandardLibrary,
		Offers:      offers,
		GenerateKey: generateKey,
	}
}

func generateKey(p *harness.Prepare) (*harness.Operation, error) {
	curves := map[string]elliptic.Curve{
		"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521(),
	}
	if curve, ok := curves[p.Alg]; ok {
		return harness.MakingKeys(func() (*ecdsa.PrivateKey, error) {
			return ecdsa.GenerateKey(curve, rand.Reader)
		})
	}
	return harness.MakingKeys(func() (ed25519.PrivateKey, error) {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	})
}
