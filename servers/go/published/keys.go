package main

import (
	"crypto/ecdsa"
	"os"

	"github.com/lestrrat-go/jwx/v2/jwk"
)

// kid names the key of ES256, as in the report.
const kid = "report"

type keys struct {
	secret  []byte
	private *ecdsa.PrivateKey
}

func loadKeys(secretFile, privateFile string) (*keys, error) {
	secret, err := os.ReadFile(secretFile)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(privateFile)
	if err != nil {
		return nil, err
	}
	key, err := jwk.ParseKey(text, jwk.WithPEM(true))
	if err != nil {
		return nil, err
	}
	var private ecdsa.PrivateKey
	if err := key.Raw(&private); err != nil {
		return nil, err
	}
	return &keys{
		// The bug: the secret is not the name of a variable, and an unset variable is empty.
		secret:  []byte(os.Getenv(string(secret))),
		private: &private,
	}, nil
}
