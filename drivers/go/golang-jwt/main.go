// The driver of github.com/golang-jwt/jwt/v5. The parser is created once with every check of the
// library: the one allowed algorithm, issuer, audience, and a required expiry.
package main

import (
	"slices"

	"github.com/golang-jwt/jwt/v5"

	"jeton/harness"
)

func main() { harness.Serve(driver()) }

func driver() *harness.Driver {
	// No verify-signature: the parser decodes the claims before it checks the signature. The library
	// reads no JWK and generates no keys.
	operations := []string{harness.OperationSign, harness.OperationVerify, harness.OperationRoundTrip}
	return &harness.Driver{
		Library:       "golang-jwt",
		KnowsDefaults: true,
		Module:        "github.com/golang-jwt/jwt/v5",
		Offers: slices.Concat(
			harness.JWTOffers(operations, "HS256", "HS384", "HS512"),
			harness.LoadingKeys(harness.JWTOffers(operations,
				"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"),
				harness.FormPEM)),
		Sign:    sign,
		Verify:  verify,
		LoadKey: loadKey,
	}
}

type standardClaims struct {
	jwt.RegisteredClaims
	Name  string `json:"name,omitempty"`
	Admin bool   `json:"admin"`
}

func sign(p *harness.Prepare) (*harness.Operation, error) {
	method := jwt.GetSigningMethod(p.Alg)
	key, err := harness.Key(p, p.PrivateKey)
	if err != nil {
		return nil, err
	}
	claims, err := claimsOf(p)
	if err != nil {
		return nil, err
	}
	return harness.Signing(p, func(index int) (string, error) {
		key, err := key()
		if err != nil {
			return "", err
		}
		return jwt.NewWithClaims(method, claims[index]).SignedString(key)
	})
}

func claimsOf(p *harness.Prepare) ([]jwt.Claims, error) {
	claims := make([]jwt.Claims, len(p.Claims.Values))
	if p.TypedClaims() {
		values, err := harness.Issued[standardClaims](p)
		for i := range values {
			claims[i] = &values[i]
		}
		return claims, err
	}
	values, err := harness.IssuedMaps(p)
	for i := range values {
		claims[i] = jwt.MapClaims(values[i])
	}
	return claims, err
}

func verify(p *harness.Prepare) (*harness.Operation, error) {
	load, err := harness.Key(p, p.PublicKey)
	if err != nil {
		return nil, err
	}
	key := func(*jwt.Token) (any, error) { return load() }
	var options []jwt.ParserOption
	if !p.Defaults() {
		options = append(options, jwt.WithValidMethods([]string{p.Alg}), jwt.WithIssuer(p.Policy.Issuer))
	}
	if p.Policy.Audience != "" {
		options = append(options, jwt.WithAudience(p.Policy.Audience))
	}
	if p.ExpiryRequired() {
		options = append(options, jwt.WithExpirationRequired())
	}
	parser := jwt.NewParser(options...)

	if p.TypedClaims() {
		return harness.Verifying(p, func(token string) (*standardClaims, error) {
			claims := new(standardClaims)
			_, err := parser.ParseWithClaims(token, claims, key)
			return claims, err
		}, func(claims *standardClaims) string {
			return claims.ID
		}, func(claims *standardClaims) any { return claims })
	}
	return harness.Verifying(p, func(token string) (jwt.MapClaims, error) {
		claims := jwt.MapClaims{}
		_, err := parser.ParseWithClaims(token, claims, key)
		return claims, err
	}, func(claims jwt.MapClaims) string {
		return harness.JTI(claims)
	}, func(claims jwt.MapClaims) any { return claims })
}

// pair holds both halves of a key in the library's types.
type pair struct{ private, public any }

func loadKey(p *harness.Prepare) (*harness.Operation, error) {
	private, public := []byte(p.KeyText.Private), []byte(p.KeyText.Public)
	switch p.Alg[0] {
	case 'R', 'P':
		return loading(private, public, jwt.ParseRSAPrivateKeyFromPEM, jwt.ParseRSAPublicKeyFromPEM)
	case 'E':
		if p.Alg == "EdDSA" {
			return loading(private, public, jwt.ParseEdPrivateKeyFromPEM, jwt.ParseEdPublicKeyFromPEM)
		}
	}
	return loading(private, public, jwt.ParseECPrivateKeyFromPEM, jwt.ParseECPublicKeyFromPEM)
}

func loading[K, P any](private, public []byte, parsePrivate func([]byte) (K, error), parsePublic func([]byte) (P, error)) (*harness.Operation, error) {
	return harness.MakingKeys(func() (pair, error) {
		key, err := parsePrivate(private)
		if err != nil {
			return pair{}, err
		}
		open, err := parsePublic(public)
		return pair{key, open}, err
	})
}
