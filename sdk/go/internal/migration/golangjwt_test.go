package migration

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jeton/jeton/sdk/go"
)

type Claims struct {
	Admin bool `json:"admin"`
	jwt.RegisteredClaims
}

type Custom struct {
	Admin bool `json:"admin"`
}

func golangJWTIssue(key *ecdsa.PrivateKey) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodES256, Claims{true, jwt.RegisteredClaims{
		Issuer:    "https://id.example",
		Audience:  jwt.ClaimStrings{"api"},
		Subject:   "user-7",
		ExpiresAt: jwt.NewNumericDate(time.Now().Add(15 * time.Minute)),
	}})
	token.Header["kid"] = "2026-11"
	return token.SignedString(key)
}

func jetonIssue(private *ecdsa.PrivateKey) (string, error) {
	key, err := jeton.NewKey(private, jeton.WithAlgorithm(jeton.ES256), jeton.WithKeyID("2026-11")) // once
	if err != nil {
		return "", err
	}
	issuer, err := jeton.NewIssuer(key, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"),
		jeton.WithLifetime(15*time.Minute)) // once
	if err != nil {
		return "", err
	}
	return issuer.Issue(struct {
		Subject string `json:"sub"`
		Custom
	}{"user-7", Custom{Admin: true}})
}

func golangJWTVerify(text string, key *ecdsa.PublicKey) (*Claims, error) {
	claims := &Claims{}
	_, err := jwt.ParseWithClaims(text, claims, func(t *jwt.Token) (any, error) { return key, nil },
		jwt.WithValidMethods([]string{"ES256"}),
		jwt.WithIssuer("https://id.example"),
		jwt.WithAudience("api"),
		jwt.WithExpirationRequired(),
		jwt.WithLeeway(30*time.Second))
	if errors.Is(err, jwt.ErrTokenExpired) {
		return nil, errors.New("sign in again")
	}
	return claims, err
}

func jetonVerify(text string, public *ecdsa.PublicKey) (*jeton.Verified[Custom], error) {
	key, err := jeton.NewKey(public, jeton.WithAlgorithm(jeton.ES256)) // once
	if err != nil {
		return nil, err
	}
	verifier, err := jeton.NewVerifier(key, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"),
		jeton.WithLeeway(30*time.Second)) // once
	if err != nil {
		return nil, err
	}
	verified, err := jeton.Verify[Custom](verifier, text)
	if errors.Is(err, jeton.ErrTokenExpired) {
		return nil, errors.New("sign in again")
	}
	return verified, err
}

func golangJWTSecret(secret []byte, claims jwt.MapClaims) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
}

func jetonSecret(secret []byte, claims map[string]any) (string, error) {
	key, err := jeton.NewSecret(jeton.HS256, secret)
	if err != nil {
		return "", err
	}
	issuer, err := jeton.NewIssuer(key) // claims has `exp`; otherwise WithLifetime or WithoutExpiry
	if err != nil {
		return "", err
	}
	return issuer.Issue(claims)
}

func golangJWTKeySet(text string, keys map[string]*ecdsa.PublicKey) (*jwt.Token, error) {
	return jwt.Parse(text, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		if key, ok := keys[kid]; ok {
			return key, nil
		}
		return nil, errors.New("unknown key")
	}, jwt.WithValidMethods([]string{"ES256"}))
}

func jetonRemote(ctx context.Context, text string) (*jeton.Verified[Custom], error) {
	keys, err := jeton.DiscoverKeySet("https://id.example") // once
	if err != nil {
		return nil, err
	}
	verifier, err := jeton.NewVerifier(keys, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"))
	if err != nil {
		return nil, err
	}
	return jeton.VerifyContext[Custom](ctx, verifier, text)
}

func golangJWTIssuers(text string, keys map[string]*ecdsa.PublicKey) (*jwt.Token, error) {
	return jwt.Parse(text, func(t *jwt.Token) (any, error) {
		issuer, err := t.Claims.GetIssuer()
		if key, ok := keys[issuer]; ok {
			return key, err
		}
		return nil, errors.New("unknown issuer")
	}, jwt.WithValidMethods([]string{"ES256"}))
}

func jetonIssuers(keys map[string]*jeton.Key) (*jeton.MultiIssuerVerifier, error) {
	var verifiers []*jeton.Verifier
	for issuer, key := range keys {
		verifier, err := jeton.NewVerifier(key, jeton.WithIssuer(issuer), jeton.WithAudience("api"))
		if err != nil {
			return nil, err
		}
		verifiers = append(verifiers, verifier)
	}
	return jeton.NewMultiIssuerVerifier(verifiers...) // pass it to Verify
}

func TestSeveralIssuers(t *testing.T) {
	private, other := newKey(t), newKey(t)
	theirs := map[string]*ecdsa.PublicKey{"https://id.example": &private.PublicKey, "https://b.example": &other.PublicKey}
	keys := map[string]*jeton.Key{}
	for issuer, public := range theirs {
		key, err := jeton.NewKey(public)
		check(t, err)
		keys[issuer] = key
	}
	verifier, err := jetonIssuers(keys)
	check(t, err)
	for name, one := range map[string]struct {
		by       *ecdsa.PrivateKey
		accepted bool
	}{"its own key": {private, true}, "the key of another": {other, false}} {
		text, err := golangJWTIssue(one.by)
		check(t, err)
		_, err = golangJWTIssuers(text, theirs)
		_, ours := jeton.Verify[Custom](verifier, text)
		if (err == nil) != one.accepted || (ours == nil) != one.accepted {
			t.Errorf("%s: golang-jwt: %v, jeton: %v", name, err, ours)
		}
	}
}

func TestGolangJWT(t *testing.T) {
	private := newKey(t)
	for _, issue := range []func() (string, error){
		func() (string, error) { return golangJWTIssue(private) }, func() (string, error) { return jetonIssue(private) },
	} {
		text, err := issue()
		check(t, err)
		claims, err := golangJWTVerify(text, &private.PublicKey)
		check(t, err)
		verified, err := jetonVerify(text, &private.PublicKey)
		check(t, err)
		if !claims.Admin || claims.Subject != "user-7" || !verified.Claims.Admin || verified.Subject() != "user-7" {
			t.Errorf("found %+v and %+v", claims, verified.Claims)
		}
		_, err = golangJWTKeySet(text, map[string]*ecdsa.PublicKey{"2026-11": &private.PublicKey})
		check(t, err)
	}
	secret := []byte("a secret of the tests, 32 bytes or more")
	claims := map[string]any{"sub": "user-7", "exp": time.Now().Add(time.Hour).Unix()}
	_, err := golangJWTSecret(secret, claims)
	check(t, err)
	_, err = jetonSecret(secret, claims)
	check(t, err)
	_ = jetonRemote
}
