package migration

import (
	"context"
	"crypto/ecdsa"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"
)

func jwxIssue(key *ecdsa.PrivateKey) ([]byte, error) {
	token, err := jwt.NewBuilder().
		Issuer("https://id.example").
		Audience([]string{"api"}).
		Expiration(time.Now().Add(15*time.Minute)).
		Claim("admin", true).
		Build()
	if err != nil {
		return nil, err
	}
	return jwt.Sign(token, jwt.WithKey(jwa.ES256(), key))
}

func jwxVerify(text []byte, key *ecdsa.PublicKey) (bool, error) {
	token, err := jwt.Parse(text, jwt.WithKey(jwa.ES256(), key),
		jwt.WithIssuer("https://id.example"),
		jwt.WithAudience("api"),
		jwt.WithRequiredClaim("exp"))
	if err != nil {
		return false, err
	}
	var admin bool
	return admin, token.Get("admin", &admin)
}

func jwxKeySet(text, set []byte) (jwt.Token, error) {
	keys, err := jwk.Parse(set)
	if err != nil {
		return nil, err
	}
	return jwt.Parse(text, jwt.WithKeySet(keys), jwt.WithIssuer("https://id.example"))
}

func jetonKeySet(text string, set []byte) (*jeton.Verified[Custom], error) {
	keys, err := jeton.ParseKeySet(set, jeton.WithPublishedKeys()) // once
	if err != nil {
		return nil, err
	}
	verifier, err := jeton.NewVerifier(keys, jeton.WithIssuer("https://id.example"), jeton.WithAnyAudience())
	if err != nil {
		return nil, err
	}
	return jeton.Verify[Custom](verifier, text)
}

func jwxRemote(ctx context.Context, address string) (jwk.Set, error) {
	return jwk.Fetch(ctx, address)
}

func TestJWX(t *testing.T) {
	private := newKey(t)
	key, err := jeton.NewKey(private, jeton.WithAlgorithm(jeton.ES256), jeton.WithKeyID("2026-11"))
	check(t, err)
	text, err := jwxIssue(private)
	check(t, err)
	verified, err := jetonVerify(string(text), &private.PublicKey)
	check(t, err)
	issued, err := jetonIssue(private)
	check(t, err)
	admin, err := jwxVerify([]byte(issued), &private.PublicKey)
	check(t, err)
	if !admin || !verified.Claims.Admin {
		t.Error("claims differ")
	}
	keys, err := jeton.NewKeySet(key)
	check(t, err)
	set, err := keys.JWKS()
	check(t, err)
	_, err = jwxKeySet([]byte(issued), set)
	check(t, err)
	_, err = jetonKeySet(issued, set)
	check(t, err)
	_ = jwxRemote
}
