// The driver of github.com/lestrrat-go/jwx/v3. Verification is one jwt.Parse with every check of
// the library: the one algorithm with its key, issuer, audience, and a required expiry. An
// encrypted token is decrypted, its content encryption is compared by hand, and its payload is
// parsed with the same checks.
package main

import (
	"errors"
	"slices"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwe"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"jeton/harness"
)

func main() { harness.Serve(driver()) }

func driver() *harness.Driver {
	// The library generates no keys. It reads symmetric keys as JWK, and pairs also as PEM.
	signs := []string{
		harness.OperationSign, harness.OperationVerify, harness.OperationVerifySignature, harness.OperationRoundTrip,
	}
	seals := []string{harness.OperationEncrypt, harness.OperationDecrypt, harness.OperationRoundTrip}
	encs := []string{"A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM", "A256GCM"}
	return &harness.Driver{
		Library:       "jwx",
		KnowsDefaults: true,
		Module:        "github.com/lestrrat-go/jwx/v3",
		Offers: slices.Concat(
			harness.LoadingKeys(slices.Concat(
				harness.JWTOffers(signs, "HS256", "HS384", "HS512"),
				harness.JWEOffers(seals, []string{
					"dir", "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW",
				}, encs)), harness.FormJWK),
			harness.LoadingKeys(slices.Concat(
				harness.JWTOffers(signs,
					"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"),
				harness.JWEOffers(seals, []string{
					"RSA1_5", "RSA-OAEP", "RSA-OAEP-256", "RSA-OAEP-384", "RSA-OAEP-512",
					"ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW",
				}, encs)), harness.FormJWK, harness.FormPEM)),
		Sign:            sign,
		Verify:          verify,
		VerifySignature: verifySignature,
		LoadKey:         loadKey,
	}
}

var errContentEncryption = errors.New("the token's content encryption is not the expected one")

// standardClaims is the user's own type; the library has a builder and accessors instead.
type standardClaims struct {
	Issuer   string           `json:"iss,omitempty"`
	Subject  string           `json:"sub,omitempty"`
	Audience harness.Audience `json:"aud,omitempty"`
	Expiry   int64            `json:"exp,omitempty"`
	IssuedAt int64            `json:"iat,omitempty"`
	ID       string           `json:"jti,omitempty"`
	Name     string           `json:"name,omitempty"`
	Admin    bool             `json:"admin"`
}

func (c *standardClaims) token() (jwt.Token, error) {
	return jwt.NewBuilder().
		Issuer(c.Issuer).
		Subject(c.Subject).
		Audience(c.Audience).
		Expiration(time.Unix(c.Expiry, 0)).
		IssuedAt(time.Unix(c.IssuedAt, 0)).
		JwtID(c.ID).
		Claim("name", c.Name).
		Claim("admin", c.Admin).
		Build()
}

func read(token jwt.Token) (*standardClaims, error) {
	claims := new(standardClaims)
	claims.Issuer, _ = token.Issuer()
	claims.Subject, _ = token.Subject()
	claims.Audience, _ = token.Audience()
	if at, ok := token.Expiration(); ok {
		claims.Expiry = at.Unix()
	}
	if at, ok := token.IssuedAt(); ok {
		claims.IssuedAt = at.Unix()
	}
	claims.ID, _ = token.JwtID()
	if token.Has("name") {
		if err := token.Get("name", &claims.Name); err != nil {
			return nil, err
		}
	}
	if token.Has("admin") {
		if err := token.Get("admin", &claims.Admin); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

func sign(p *harness.Prepare) (*harness.Operation, error) {
	seal, err := harness.Key(p, func() (func(jwt.Token) ([]byte, error), error) { return sealer(p) })
	if err != nil {
		return nil, err
	}
	token, err := tokens(p)
	if err != nil {
		return nil, err
	}
	return harness.Signing(p, func(index int) ([]byte, error) {
		seal, err := seal()
		if err != nil {
			return nil, err
		}
		token, err := token(index)
		if err != nil {
			return nil, err
		}
		return seal(token)
	})
}

func sealer(p *harness.Prepare) (func(jwt.Token) ([]byte, error), error) {
	if p.Format == "jwe" {
		with, err := withKey(p, p.PublicJWK)
		if err != nil {
			return nil, err
		}
		enc, _ := jwa.LookupContentEncryptionAlgorithm(p.Enc)
		content := jwt.WithEncryptOption(jwe.WithContentEncryption(enc))
		return func(token jwt.Token) ([]byte, error) {
			return jwt.NewSerializer().Encrypt(with, content).Serialize(token)
		}, nil
	}
	with, err := withKey(p, p.PrivateJWK)
	return func(token jwt.Token) ([]byte, error) { return jwt.Sign(token, with) }, err
}

// tokens returns the function that makes the library's token from the claims at an index.
func tokens(p *harness.Prepare) (func(int) (jwt.Token, error), error) {
	if p.TypedClaims() {
		values, err := harness.Issued[standardClaims](p)
		return func(index int) (jwt.Token, error) { return values[index].token() }, err
	}
	values, err := harness.IssuedMaps(p)
	return func(index int) (jwt.Token, error) {
		token := jwt.New()
		for name, value := range values[index] {
			if err := token.Set(name, value); err != nil {
				return nil, err
			}
		}
		return token, nil
	}, err
}

func verify(p *harness.Prepare) (*harness.Operation, error) {
	open, err := harness.Key(p, func() (func([]byte) (jwt.Token, error), error) { return opener(p) })
	if err != nil {
		return nil, err
	}
	parse := func(text []byte) (jwt.Token, error) {
		open, err := open()
		if err != nil {
			return nil, err
		}
		return open(text)
	}
	if p.TypedClaims() {
		return harness.Verifying(p, func(text []byte) (*standardClaims, error) {
			token, err := parse(text)
			if err != nil {
				return nil, err
			}
			return read(token)
		}, func(claims *standardClaims) string {
			return claims.ID
		}, func(claims *standardClaims) any { return claims })
	}
	return harness.Verifying(p, parse, func(token jwt.Token) string {
		id, _ := token.JwtID()
		return id
	}, func(token jwt.Token) any { return token })
}

func opener(p *harness.Prepare) (func([]byte) (jwt.Token, error), error) {
	options := policyOf(p)
	if p.Format != "jwe" {
		with, err := withKey(p, p.PublicJWK)
		options = append(options, with)
		return func(text []byte) (jwt.Token, error) { return jwt.Parse(text, options...) }, err
	}
	alg, key, err := keyOf(p, p.PrivateJWK)
	if err != nil {
		return nil, err
	}
	enc, _ := jwa.LookupContentEncryptionAlgorithm(p.Enc)
	with := jwe.WithKey(alg, key)
	options = append(options, jwt.WithVerify(false)) // there is no signature inside
	return func(text []byte) (jwt.Token, error) {
		message := jwe.NewMessage()
		payload, err := jwe.Decrypt(text, with, jwe.WithMessage(message))
		if err != nil {
			return nil, err
		}
		if used, _ := message.ProtectedHeaders().ContentEncryption(); used != enc && !p.Defaults() {
			return nil, errContentEncryption
		}
		return jwt.Parse(payload, options...)
	}, nil
}

func policyOf(p *harness.Prepare) []jwt.ParseOption {
	options := []jwt.ParseOption{jwt.WithAcceptableSkew(0)}
	if p.Policy.Issuer != "" {
		options = append(options, jwt.WithIssuer(p.Policy.Issuer))
	}
	if p.Policy.Audience != "" {
		options = append(options, jwt.WithAudience(p.Policy.Audience))
	}
	if p.ExpiryRequired() {
		options = append(options, jwt.WithRequiredClaim(jwt.ExpirationKey))
	}
	return options
}

func verifySignature(p *harness.Prepare) (*harness.Operation, error) {
	with, err := harness.Key(p, func() (jws.VerifyOption, error) {
		alg, key, err := keyOf(p, p.PublicJWK)
		return jws.WithKey(alg, key), err
	})
	if err != nil {
		return nil, err
	}
	return harness.VerifyingSignature(p, func(text []byte) error {
		with, err := with()
		if err != nil {
			return err
		}
		_, err = jws.Verify(text, with)
		return err
	})
}

func withKey(p *harness.Prepare, text func() ([]byte, error)) (jwt.SignEncryptParseOption, error) {
	alg, key, err := keyOf(p, text)
	if err != nil {
		return nil, err
	}
	return jwt.WithKey(alg, key), nil
}

// keyOf reads a JWK with the library and returns its key.
func keyOf(p *harness.Prepare, text func() ([]byte, error)) (jwa.KeyAlgorithm, any, error) {
	alg, err := jwa.KeyAlgorithmFrom(p.Alg)
	if err != nil {
		return nil, nil, err
	}
	jwkText, err := text()
	if err != nil {
		return nil, nil, err
	}
	key, err := exported(jwkText)
	return alg, key, err
}

func exported(text []byte, options ...jwk.ParseOption) (any, error) {
	key, err := jwk.ParseKey(text, options...)
	if err != nil {
		return nil, err
	}
	var raw any
	err = jwk.Export(key, &raw)
	return raw, err
}

func loadKey(p *harness.Prepare) (*harness.Operation, error) {
	halves := [][]byte{[]byte(p.KeyText.Private)}
	if p.KeyText.Public != "" {
		halves = append(halves, []byte(p.KeyText.Public))
	}
	options := []jwk.ParseOption{jwk.WithPEM(p.KeyText.Form == harness.FormPEM)}
	return harness.MakingKeys(func() (loaded [2]any, err error) {
		for i, half := range halves {
			if loaded[i], err = exported(half, options...); err != nil {
				return loaded, err
			}
		}
		return loaded, nil
	})
}
