package main

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/jeton/jeton/sdk/go"

	"jeton/harness"
)

// Claims in a JWE. Except with a key for `dir`, a JWE does not authenticate its sender, so the library has no verified
// claims for it. They are written and read with encoding/json, and checked by hand inside the timed loop.

func encrypt(p *harness.Prepare, claims []any) (*harness.Operation, error) {
	encrypter, err := source(p, func() (*jeton.Encrypter, error) {
		key, err := public(p)
		if err != nil {
			return nil, err
		}
		defer key.Close()
		return jeton.NewEncrypter(key, jeton.WithContentEncryption(jeton.Encryption(p.Enc)))
	})
	if err != nil {
		return nil, err
	}
	return harness.Signing(p, func(index int) (token string, err error) {
		text, err := json.Marshal(claims[index])
		if err != nil {
			return "", err
		}
		encrypter, done, err := encrypter()
		if err != nil {
			return "", err
		}
		token, err = encrypter.Encrypt(text)
		done()
		return token, err
	})
}

func decrypt(p *harness.Prepare) (*harness.Operation, error) {
	decrypter, err := source(p, func() (*jeton.Decrypter, error) {
		key, err := private(p)
		if err != nil {
			return nil, err
		}
		defer key.Close()
		return jeton.NewDecrypter(key, jeton.WithContentEncryption(jeton.Encryption(p.Enc)))
	})
	if err != nil {
		return nil, err
	}
	plaintext := func(token string) ([]byte, error) {
		decrypter, done, err := decrypter()
		if err != nil {
			return nil, err
		}
		defer done()
		return decrypter.Decrypt(token)
	}
	if p.TypedClaims() {
		return harness.Verifying(p, func(token string) (*decrypted, error) {
			text, err := plaintext(token)
			if err != nil {
				return nil, err
			}
			claims := new(decrypted)
			if err := json.Unmarshal(text, claims); err != nil {
				return nil, err
			}
			return claims, checkClaims(p, claims)
		}, func(claims *decrypted) string { return claims.ID }, func(claims *decrypted) any { return claims })
	}
	return harness.Verifying(p, func(token string) (map[string]any, error) {
		text, err := plaintext(token)
		if err != nil {
			return nil, err
		}
		var claims map[string]any
		if err := json.Unmarshal(text, &claims); err != nil {
			return nil, err
		}
		registered := new(decrypted)
		if err := json.Unmarshal(text, registered); err != nil {
			return nil, err
		}
		return claims, checkClaims(p, registered)
	}, harness.JTI, func(claims map[string]any) any { return claims })
}

// decrypted are all claims of a JWE. A time is any number (RFC 7519, section 2): some libraries write 1795878382.0.
type decrypted struct {
	Issuer    string           `json:"iss,omitempty"`
	Subject   string           `json:"sub,omitempty"`
	Audience  harness.Audience `json:"aud,omitempty"`
	ExpiresAt float64          `json:"exp,omitempty"`
	NotBefore float64          `json:"nbf,omitempty"`
	IssuedAt  float64          `json:"iat,omitempty"`
	ID        string           `json:"jti,omitempty"`
	Name      string           `json:"name,omitempty"`
	Admin     bool             `json:"admin"`
}

func checkClaims(p *harness.Prepare, claims *decrypted) error {
	now := float64(time.Now().Unix())
	switch {
	case claims.ExpiresAt == 0 && p.ExpiryRequired():
		return harness.ErrExpiryMissing
	case claims.ExpiresAt != 0 && now >= claims.ExpiresAt, now < claims.NotBefore:
		return harness.ErrTime
	case p.Policy.Issuer != "" && claims.Issuer != p.Policy.Issuer:
		return harness.ErrIssuer
	case p.Policy.Audience != "" && !slices.Contains(claims.Audience, p.Policy.Audience):
		return harness.ErrAudience
	}
	return nil
}
