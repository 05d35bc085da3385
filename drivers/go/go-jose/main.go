// The driver of github.com/go-jose/go-jose/v4. Algorithms are pinned when a token is parsed. Claims
// are validated with a leeway of zero instead of the library's minute. The library cannot require
// `exp`, so the driver checks by hand that it is present.
package main

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"jeton/harness"
)

func main() { harness.Serve(driver()) }

func driver() *harness.Driver {
	// The library generates no keys and reads them only as JWK.
	return &harness.Driver{
		Library:       "go-jose",
		KnowsDefaults: true,
		ByDriver:      []string{"jwt:exp", "jwe:exp"},
		Module:        "github.com/go-jose/go-jose/v4",
		Offers: harness.LoadingKeys(slices.Concat(
			harness.JWTOffers(
				[]string{
					harness.OperationSign, harness.OperationVerify, harness.OperationVerifySignature,
					harness.OperationRoundTrip,
				},
				"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
				"ES256", "ES384", "ES512", "EdDSA"),
			harness.JWEOffers(
				[]string{harness.OperationEncrypt, harness.OperationDecrypt, harness.OperationRoundTrip},
				[]string{
					"dir", "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW",
					"RSA1_5", "RSA-OAEP", "RSA-OAEP-256",
					"ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW",
				},
				[]string{
					"A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM", "A256GCM",
				})), harness.FormJWK),
		Sign:            sign,
		Verify:          verify,
		VerifySignature: verifySignature,
		LoadKey:         loadKey,
	}
}

type standardClaims struct {
	jwt.Claims
	Name  string `json:"name,omitempty"`
	Admin bool   `json:"admin"`
}

func sign(p *harness.Prepare) (*harness.Operation, error) {
	builder, err := harness.Key(p, func() (jwt.Builder, error) { return builderOf(p) })
	if err != nil {
		return nil, err
	}
	claims, err := claimsOf(p)
	if err != nil {
		return nil, err
	}
	return harness.Signing(p, func(index int) (string, error) {
		builder, err := builder()
		if err != nil {
			return "", err
		}
		return builder.Claims(claims[index]).Serialize()
	})
}

func builderOf(p *harness.Prepare) (jwt.Builder, error) {
	if p.Format == "jwe" {
		key, err := parsed(p.PublicJWK())
		if err != nil {
			return nil, err
		}
		recipient := jose.Recipient{Algorithm: jose.KeyAlgorithm(p.Alg), Key: key}
		encrypter, err := jose.NewEncrypter(jose.ContentEncryption(p.Enc), recipient, nil)
		if err != nil {
			return nil, err
		}
		return jwt.Encrypted(encrypter), nil
	}
	key, err := parsed(p.PrivateJWK())
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(p.Alg), Key: key}, nil)
	if err != nil {
		return nil, err
	}
	return jwt.Signed(signer), nil
}

func claimsOf(p *harness.Prepare) ([]any, error) {
	claims := make([]any, len(p.Claims.Values))
	if p.TypedClaims() {
		values, err := harness.Issued[standardClaims](p)
		for i := range values {
			claims[i] = &values[i]
		}
		return claims, err
	}
	values, err := harness.IssuedMaps(p)
	for i := range values {
		claims[i] = values[i]
	}
	return claims, err
}

func verify(p *harness.Prepare) (*harness.Operation, error) {
	load := p.PublicJWK
	if p.Format == "jwe" {
		load = p.PrivateJWK
	}
	key, err := harness.Key(p, func() (any, error) { return parsed(load()) })
	if err != nil {
		return nil, err
	}
	open := openerOf(p, key)
	check := claimsCheck(p)

	if p.TypedClaims() {
		return harness.Verifying(p, func(text string) (*standardClaims, error) {
			claims := new(standardClaims)
			if err := open(text, claims); err != nil {
				return nil, err
			}
			return claims, check(&claims.Claims)
		}, func(claims *standardClaims) string {
			return claims.ID
		}, func(claims *standardClaims) any { return claims })
	}
	return harness.Verifying(p, func(text string) (map[string]any, error) {
		var registered jwt.Claims
		var claims map[string]any
		if err := open(text, &registered, &claims); err != nil {
			return nil, err
		}
		return claims, check(&registered)
	}, harness.JTI, func(claims map[string]any) any { return claims })
}

// openerOf returns the function that verifies or decrypts a token and decodes its claims.
func openerOf(p *harness.Prepare, key func() (any, error)) func(text string, into ...any) error {
	algs, encs := []jose.KeyAlgorithm{jose.KeyAlgorithm(p.Alg)}, []jose.ContentEncryption{jose.ContentEncryption(p.Enc)}
	if p.Format == "jwe" && (p.Alg[0] == 'R' || p.Alg[0] == 'E') {
		// The package for JWTs rejects these, because anyone can encrypt with a public key.
		return func(text string, into ...any) error {
			object, err := jose.ParseEncryptedCompact(text, algs, encs)
			if err != nil {
				return err
			}
			key, err := key()
			if err != nil {
				return err
			}
			payload, err := object.Decrypt(key)
			if err != nil {
				return err
			}
			for _, one := range into {
				if err := json.Unmarshal(payload, one); err != nil {
					return err
				}
			}
			return nil
		}
	}
	parse := func(text string) (*jwt.JSONWebToken, error) { return jwt.ParseEncrypted(text, algs, encs) }
	if p.Format != "jwe" {
		algs := []jose.SignatureAlgorithm{jose.SignatureAlgorithm(p.Alg)}
		parse = func(text string) (*jwt.JSONWebToken, error) { return jwt.ParseSigned(text, algs) }
	}
	return func(text string, into ...any) error {
		token, err := parse(text)
		if err != nil {
			return err
		}
		key, err := key()
		if err != nil {
			return err
		}
		return token.Claims(key, into...)
	}
}

func claimsCheck(p *harness.Prepare) func(*jwt.Claims) error {
	expected := jwt.Expected{Issuer: p.Policy.Issuer}
	if p.Policy.Audience != "" {
		expected.AnyAudience = jwt.Audience{p.Policy.Audience}
	}
	expiryRequired := p.ExpiryRequired()
	return func(claims *jwt.Claims) error {
		if expiryRequired && claims.Expiry == nil {
			return harness.ErrExpiryMissing
		}
		if p.Defaults() {
			return claims.Validate(expected.WithTime(time.Now()))
		}
		return claims.ValidateWithLeeway(expected.WithTime(time.Now()), 0)
	}
}

func verifySignature(p *harness.Prepare) (*harness.Operation, error) {
	key, err := harness.Key(p, func() (any, error) { return parsed(p.PublicJWK()) })
	if err != nil {
		return nil, err
	}
	algs := []jose.SignatureAlgorithm{jose.SignatureAlgorithm(p.Alg)}
	return harness.VerifyingSignature(p, func(text string) error {
		token, err := jose.ParseSignedCompact(text, algs)
		if err != nil {
			return err
		}
		key, err := key()
		if err != nil {
			return err
		}
		_, err = token.Verify(key)
		return err
	})
}

func loadKey(p *harness.Prepare) (*harness.Operation, error) {
	halves := [][]byte{[]byte(p.KeyText.Private)}
	if p.KeyText.Public != "" {
		halves = append(halves, []byte(p.KeyText.Public))
	}
	return harness.MakingKeys(func() (loaded [2]any, err error) {
		for i, half := range halves {
			if loaded[i], err = parsed(half, nil); err != nil {
				return loaded, err
			}
		}
		return loaded, nil
	})
}

// parsed reads a JWK with the library and returns its key.
func parsed(text []byte, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var key jose.JSONWebKey
	err = key.UnmarshalJSON(text)
	return key.Key, err
}
