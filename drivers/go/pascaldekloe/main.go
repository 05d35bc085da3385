// The driver of github.com/pascaldekloe/jwt. The library checks signature and time. The driver
// compares `iss` by hand and checks that `aud` is present: without `aud`, AcceptAudience always
// accepts.
//
// One of 512 ES512 signatures of version 1.9.0 is wrong. If r is below 2^512, its leading zeros are
// bytes of the digest left in the buffer. The driver returns such signatures unchanged.
package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"slices"
	"time"

	"github.com/pascaldekloe/jwt"

	"jeton/harness"
)

func main() { harness.Serve(driver()) }

func driver() *harness.Driver {
	// No verify-signature: every check also decodes the claims.
	operations := []string{harness.OperationSign, harness.OperationVerify, harness.OperationRoundTrip}
	return &harness.Driver{
		Library:       "pascaldekloe",
		KnowsDefaults: true,
		ByDriver:      []string{"jwt:exp", "jwt:iss"},
		Module:        "github.com/pascaldekloe/jwt",
		// The library's KeyRegister reads symmetric and public keys, and no private keys.
		Offers: slices.Concat(
			harness.LoadingKeys(harness.JWTOffers(operations, "HS256", "HS384", "HS512"), harness.FormJWK),
			harness.JWTOffers(operations,
				"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")),
		Sign:    sign,
		Verify:  verify,
		LoadKey: loadKey,
	}
}

// standardClaims is the user's own type; the library has fields for the registered claims and a map
// for all others.
type standardClaims struct {
	jwt.Registered
	Name  string `json:"name"`
	Admin bool   `json:"admin"`
}

var errKey = errors.New("the library has no operation for this kind of key")

// The library's original registrations.
var hmacAlgs, rsaAlgs, ecdsaAlgs = jwt.HMACAlgs, jwt.RSAAlgs, jwt.ECDSAAlgs

// pinAlgorithm leaves one algorithm in the library's registrations, which is how a caller pins it.
// Otherwise a check accepts any algorithm of the header within the family of the key.
func pinAlgorithm(alg string) {
	only := func(registered map[string]crypto.Hash) map[string]crypto.Hash {
		if hash, ok := registered[alg]; ok {
			return map[string]crypto.Hash{alg: hash}
		}
		return nil
	}
	jwt.HMACAlgs, jwt.RSAAlgs, jwt.ECDSAAlgs = only(hmacAlgs), only(rsaAlgs), only(ecdsaAlgs)
}

func sign(p *harness.Prepare) (*harness.Operation, error) {
	pinAlgorithm(p.Alg)
	key, err := harness.Key(p, p.PrivateKey)
	if err != nil {
		return nil, err
	}
	if p.TypedClaims() {
		values, err := harness.Issued[standardClaims](p)
		if err != nil {
			return nil, err
		}
		return harness.Signing(p, func(index int) ([]byte, error) {
			value := &values[index]
			// The map is created each time because signing writes the registered claims into it.
			return signOne(p.Alg, key, &jwt.Claims{
				Registered: value.Registered,
				Set:        map[string]any{"name": value.Name, "admin": value.Admin},
			})
		})
	}
	values, err := harness.IssuedMaps(p)
	if err != nil {
		return nil, err
	}
	return harness.Signing(p, func(index int) ([]byte, error) {
		return signOne(p.Alg, key, &jwt.Claims{Set: values[index]})
	})
}

func signOne(alg string, key func() (any, error), claims *jwt.Claims) ([]byte, error) {
	ready, err := key()
	if err != nil {
		return nil, err
	}
	switch key := ready.(type) {
	case []byte:
		return claims.HMACSign(alg, key)
	case *rsa.PrivateKey:
		return claims.RSASign(alg, key)
	case *ecdsa.PrivateKey:
		return claims.ECDSASign(alg, key)
	case ed25519.PrivateKey:
		return claims.EdDSASign(key)
	}
	return nil, errKey
}

func verify(p *harness.Prepare) (*harness.Operation, error) {
	pinAlgorithm(p.Alg)
	if p.Defaults() {
		jwt.HMACAlgs, jwt.RSAAlgs, jwt.ECDSAAlgs = hmacAlgs, rsaAlgs, ecdsaAlgs
	}
	key, err := harness.Key(p, p.PublicKey)
	if err != nil {
		return nil, err
	}
	issuer, audience, expiryRequired := p.Policy.Issuer, p.Policy.Audience, p.ExpiryRequired()
	check := func(token []byte) (*jwt.Claims, error) {
		claims, err := checkOne(token, key)
		if err != nil {
			return nil, err
		}
		if expiryRequired && claims.Expires == nil {
			return nil, harness.ErrExpiryMissing
		}
		if !claims.Valid(time.Now()) {
			return nil, harness.ErrTime
		}
		if issuer != "" && claims.Issuer != issuer {
			return nil, harness.ErrIssuer
		}
		if audience != "" && (len(claims.Audiences) == 0 || !claims.AcceptAudience(audience)) {
			return nil, harness.ErrAudience
		}
		return claims, nil
	}

	if p.TypedClaims() {
		return harness.Verifying(p, func(token []byte) (standardClaims, error) {
			claims, err := check(token)
			if err != nil {
				return standardClaims{}, err
			}
			name, _ := claims.String("name")
			admin, _ := claims.Set["admin"].(bool)
			return standardClaims{Registered: claims.Registered, Name: name, Admin: admin}, nil
		}, func(claims standardClaims) string {
			return claims.ID
		}, func(claims standardClaims) any { return claims })
	}
	return harness.Verifying(p, check, func(claims *jwt.Claims) string {
		return claims.ID
	}, func(claims *jwt.Claims) any { return claims.Raw })
}

func checkOne(token []byte, key func() (any, error)) (*jwt.Claims, error) {
	ready, err := key()
	if err != nil {
		return nil, err
	}
	switch key := ready.(type) {
	case []byte:
		return jwt.HMACCheck(token, key)
	case *rsa.PublicKey:
		return jwt.RSACheck(token, key)
	case *ecdsa.PublicKey:
		return jwt.ECDSACheck(token, key)
	case ed25519.PublicKey:
		return jwt.EdDSACheck(token, key)
	}
	return nil, errKey
}

func loadKey(p *harness.Prepare) (*harness.Operation, error) {
	text := []byte(p.KeyText.Private)
	return harness.MakingKeys(func() (*jwt.KeyRegister, error) {
		keys := new(jwt.KeyRegister)
		_, err := keys.LoadJWK(text)
		return keys, err
	})
}
