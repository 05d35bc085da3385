package main

import (
	"strings"

	"github.com/jeton/jeton/sdk/go"

	"jeton/harness"
)

// closer is a value of the library.
type closer interface{ Close() error }

// source returns the function that an operation calls for its issuer or verifier, and what is called after it. For
// `prepared`, it is made once; for `parsed-per-call` each call makes and closes one.
func source[T closer](p *harness.Prepare, make func() (T, error)) (func() (T, func(), error), error) {
	made, err := make()
	if err != nil {
		return nil, err
	}
	nothing := func() {}
	if p.KeyHandling != harness.ParsedPerCall {
		return func() (T, func(), error) { return made, nothing, nil }, nil
	}
	return func() (T, func(), error) {
		made, err := make()
		if err != nil {
			return made, nothing, err
		}
		return made, func() { _ = made.Close() }, nil
	}, nil
}

func options(p *harness.Prepare) []jeton.KeyOption {
	if p.Format[0] == 'v' {
		return nil
	}
	options := []jeton.KeyOption{jeton.WithAlgorithm(jeton.Algorithm(p.Alg))}
	if p.Alg == "dir" {
		options = append(options, jeton.WithContentEncryption(jeton.Encryption(p.Enc)))
	}
	return options
}

// private is the key that signs or decrypts.
func private(p *harness.Prepare) (*jeton.Key, error) {
	if p.Format[0] == 'v' {
		return paserk(p, "secret")
	}
	text, err := p.PrivateJWK()
	if err != nil {
		return nil, err
	}
	return jeton.ParseKey(text, options(p)...)
}

// public is the key that verifies or encrypts.
func public(p *harness.Prepare) (*jeton.Key, error) {
	if p.Format[0] == 'v' {
		return paserk(p, "public")
	}
	text, err := p.PublicJWK()
	if err != nil {
		return nil, err
	}
	return jeton.ParseKey(text, options(p)...)
}

func paserk(p *harness.Prepare, half string) (*jeton.Key, error) {
	if strings.HasSuffix(p.Format, ".local") {
		half = "local"
	}
	return jeton.ParseKey([]byte(p.Keys.Paserk[half]))
}

func generateKey(p *harness.Prepare) (*harness.Operation, error) {
	alg, chosen := jeton.Algorithm(p.Alg), []jeton.KeyOption{}
	if p.Format[0] == 'v' {
		alg = jeton.Algorithm(p.Format)
	}
	if p.Alg == "dir" {
		chosen = append(chosen, jeton.WithContentEncryption(jeton.Encryption(p.Enc)))
	}
	return harness.MakingKeys(func() (struct{}, error) {
		key, err := jeton.GenerateKey(alg, chosen...)
		if err == nil {
			_ = key.Close()
		}
		return struct{}{}, err
	})
}

func loadKey(p *harness.Prepare) (*harness.Operation, error) {
	chosen := options(p)
	return harness.MakingKeys(func() (struct{}, error) {
		for _, text := range []string{p.KeyText.Private, p.KeyText.Public} {
			if text == "" {
				continue
			}
			key, err := jeton.ParseKey([]byte(text), chosen...)
			if err != nil {
				return struct{}{}, err
			}
			_ = key.Close()
		}
		return struct{}{}, nil
	})
}
