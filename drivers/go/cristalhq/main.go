// The driver of github.com/cristalhq/jwt/v3. The library verifies algorithm and signature. The
// claims are then decoded with encoding/json and checked with the library's own methods, as in its
// example.
package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/cristalhq/jwt/v3"

	"jeton/harness"
)

func main() { harness.Serve(driver()) }

func driver() *harness.Driver {
	return &harness.Driver{
		Library:       "cristalhq",
		KnowsDefaults: true,
		ByDriver:      []string{"jwt:claims"},
		Module:        "github.com/cristalhq/jwt/v3",
		Offers: harness.JWTOffers(
			[]string{
				harness.OperationSign, harness.OperationVerify, harness.OperationVerifySignature,
				harness.OperationVerifyParsed, harness.OperationRoundTrip,
			},
			"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
			"ES256", "ES384", "ES512", "EdDSA"),
		Sign:            sign,
		Verify:          verify,
		VerifySignature: verifySignature,
		VerifyParsed:    verifyParsed,
	}
}

// standardClaims shadows the embedded `aud`. The library's own type would turn an array of one into
// a plain string, and the token would be shorter than those of other libraries.
type standardClaims struct {
	jwt.StandardClaims
	Audience harness.Audience `json:"aud,omitempty"`
	Name     string           `json:"name,omitempty"`
	Admin    bool             `json:"admin"`
}

func sign(p *harness.Prepare) (*harness.Operation, error) {
	builder, err := harness.Key(p, func() (*jwt.Builder, error) {
		key, err := p.PrivateKey()
		if err != nil {
			return nil, err
		}
		signer, err := newSigner(jwt.Algorithm(p.Alg), key)
		if err != nil {
			return nil, keyError(p, err)
		}
		return jwt.NewBuilder(signer), nil
	})
	if err != nil {
		return nil, err
	}
	claims, err := claimsOf(p)
	if err != nil {
		return nil, err
	}
	return harness.Signing(p, func(index int) ([]byte, error) {
		builder, err := builder()
		if err != nil {
			return nil, err
		}
		return builder.BuildBytes(claims[index])
	})
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
	verifier, err := newVerifier(p)
	if err != nil {
		return nil, err
	}
	check := claimsCheck(p)

	if p.TypedClaims() {
		return harness.Verifying(p, func(raw []byte) (*standardClaims, error) {
			token, err := parse(raw, verifier)
			if err != nil {
				return nil, err
			}
			claims := new(standardClaims)
			if err := json.Unmarshal(token.RawClaims(), claims); err != nil {
				return nil, err
			}
			return claims, check(&claims.StandardClaims, claims.Audience)
		}, func(claims *standardClaims) string {
			return claims.ID
		}, func(claims *standardClaims) any { return claims })
	}
	return harness.Verifying(p, func(raw []byte) (map[string]any, error) {
		token, err := parse(raw, verifier)
		if err != nil {
			return nil, err
		}
		var claims map[string]any
		if err := json.Unmarshal(token.RawClaims(), &claims); err != nil {
			return nil, err
		}
		registered, err := registeredOf(claims)
		if err != nil {
			return nil, err
		}
		return claims, check(registered, registered.Audience)
	}, harness.JTI, func(claims map[string]any) any { return claims })
}

// registeredOf extracts the policy's claims from map claims, so that the library's methods can
// check them without decoding the JSON again.
func registeredOf(claims map[string]any) (*jwt.StandardClaims, error) {
	var registered jwt.StandardClaims
	registered.Issuer, _ = claims["iss"].(string)
	var err error
	if registered.ExpiresAt, err = dateOf(claims["exp"]); err != nil {
		return nil, err
	}
	if registered.NotBefore, err = dateOf(claims["nbf"]); err != nil {
		return nil, err
	}
	switch audience := claims["aud"].(type) {
	case string:
		registered.Audience = jwt.Audience{audience}
	case []any:
		for _, one := range audience {
			text, ok := one.(string)
			if !ok {
				return nil, jwt.ErrAudienceInvalidFormat
			}
			registered.Audience = append(registered.Audience, text)
		}
	}
	return &registered, nil
}

func dateOf(claim any) (*jwt.NumericDate, error) {
	switch seconds := claim.(type) {
	case nil:
		return nil, nil
	case float64:
		return jwt.NewNumericDate(time.Unix(int64(seconds), 0)), nil
	}
	return nil, jwt.ErrDateInvalidFormat
}

func verifySignature(p *harness.Prepare) (*harness.Operation, error) {
	verifier, err := newVerifier(p)
	if err != nil {
		return nil, err
	}
	return harness.VerifyingSignature(p, func(raw []byte) error {
		_, err := parse(raw, verifier)
		return err
	})
}

// verifyParsed is what a published report timed as this library's check: the token is parsed
// outside the timed loop, and no claims are decoded.
func verifyParsed(p *harness.Prepare) (*harness.Operation, error) {
	verifier, err := newVerifier(p)
	if err != nil {
		return nil, err
	}
	return harness.VerifyingParsed(p, func(raw []byte) (*jwt.Token, error) {
		return jwt.Parse(raw)
	}, func(token *jwt.Token) error {
		ready, err := verifier()
		if err != nil {
			return err
		}
		if ready.Algorithm() != token.Header().Algorithm {
			return jwt.ErrAlgorithmMismatch
		}
		return ready.Verify(token.Payload(), token.Signature())
	})
}

func parse(raw []byte, verifier func() (jwt.Verifier, error)) (*jwt.Token, error) {
	ready, err := verifier()
	if err != nil {
		return nil, err
	}
	return jwt.ParseAndVerify(raw, ready)
}

func claimsCheck(p *harness.Prepare) func(*jwt.StandardClaims, []string) error {
	issuer, audience, expiryRequired := p.Policy.Issuer, p.Policy.Audience, p.ExpiryRequired()
	if p.Defaults() {
		// The library's Parse checks no claims; the times need a separate call.
		return func(*jwt.StandardClaims, []string) error { return nil }
	}
	return func(claims *jwt.StandardClaims, audiences []string) error {
		if expiryRequired && claims.ExpiresAt == nil {
			return harness.ErrExpiryMissing
		}
		// Not IsValidAt: it would also reject an `iat` that the policy does not mention.
		if now := time.Now(); !claims.IsValidExpiresAt(now) || !claims.IsValidNotBefore(now) {
			return harness.ErrTime
		}
		if issuer != "" && !claims.IsIssuer(issuer) {
			return harness.ErrIssuer
		}
		if audience != "" && !slices.Contains(audiences, audience) {
			return harness.ErrAudience
		}
		return nil
	}
}

func newSigner(alg jwt.Algorithm, key any) (jwt.Signer, error) {
	switch key := key.(type) {
	case []byte:
		return jwt.NewSignerHS(alg, key)
	case *rsa.PrivateKey:
		if alg[0] == 'P' {
			return jwt.NewSignerPS(alg, key)
		}
		return jwt.NewSignerRS(alg, key)
	case *ecdsa.PrivateKey:
		return jwt.NewSignerES(alg, key)
	case ed25519.PrivateKey:
		return jwt.NewSignerEdDSA(key)
	}
	return nil, jwt.ErrInvalidKey
}

func newVerifier(p *harness.Prepare) (func() (jwt.Verifier, error), error) {
	return harness.Key(p, func() (jwt.Verifier, error) {
		key, err := p.PublicKey()
		if err != nil {
			return nil, err
		}
		verifier, err := verifierOf(jwt.Algorithm(p.Alg), key)
		return verifier, keyError(p, err)
	})
}

func verifierOf(alg jwt.Algorithm, key any) (jwt.Verifier, error) {
	switch key := key.(type) {
	case []byte:
		return jwt.NewVerifierHS(alg, key)
	case *rsa.PublicKey:
		if alg[0] == 'P' {
			return jwt.NewVerifierPS(alg, key)
		}
		return jwt.NewVerifierRS(alg, key)
	case *ecdsa.PublicKey:
		return jwt.NewVerifierES(alg, key)
	case ed25519.PublicKey:
		return jwt.NewVerifierEdDSA(key)
	}
	return nil, jwt.ErrInvalidKey
}

// keyError explains the library's rule that ties the RSA key's length to the hash.
func keyError(p *harness.Prepare, err error) error {
	bits := map[string]string{"256": "2048", "384": "3072", "512": "4096"}[p.Alg[2:]]
	if errors.Is(err, jwt.ErrInvalidKey) && p.Alg[1] == 'S' && (p.Alg[0] == 'R' || p.Alg[0] == 'P') {
		return harness.Unsupported("cristalhq takes only RSA keys of %s bits for %s", bits, p.Alg)
	}
	return err
}
