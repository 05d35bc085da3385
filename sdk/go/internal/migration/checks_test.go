package migration

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jeton/jeton/sdk/go"
)

type Visit struct {
	Page string `json:"page"`
	jwt.RegisteredClaims
}

func (v Visit) Validate() error {
	if v.Subject != "user-7" {
		return errors.New("another subject")
	}
	return nil
}

// TestChecksMove checks that both libraries accept and reject the same tokens with the options of the table "Checks".
func TestChecksMove(t *testing.T) {
	private := newKey(t)
	key, err := jeton.NewKey(private.Public(), jeton.WithAlgorithm(jeton.ES256))
	check(t, err)
	now := time.Now()
	at := func(ahead time.Duration) int64 { return now.Add(ahead).Unix() }
	theirs := []jwt.ParserOption{
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer("https://id.example"), jwt.WithAudience("api"),
		jwt.WithExpirationRequired(), jwt.WithNotBeforeRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(30 * time.Second),
		jwt.WithTimeFunc(func() time.Time { return now }), jwt.WithStrictDecoding(),
	}
	ours, err := jeton.NewVerifier(key, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"),
		jeton.WithRequired("nbf"), jeton.WithLeeway(30*time.Second), jeton.WithClock(func() time.Time { return now }))
	check(t, err)
	for name, one := range map[string]struct {
		claims jwt.MapClaims
		theirs error
		ours   error
	}{
		"ordinary":         {nil, nil, nil},
		"in the leeway":    {jwt.MapClaims{"exp": at(-20 * time.Second), "nbf": at(20 * time.Second)}, nil, nil},
		"another issuer":   {jwt.MapClaims{"iss": "https://other.example"}, jwt.ErrTokenInvalidIssuer, jeton.ErrTokenIssuerMismatch},
		"another audience": {jwt.MapClaims{"aud": "other"}, jwt.ErrTokenInvalidAudience, jeton.ErrTokenAudienceMismatch},
		"expired":          {jwt.MapClaims{"exp": at(-40 * time.Second)}, jwt.ErrTokenExpired, jeton.ErrTokenExpired},
		"no expiry":        {jwt.MapClaims{"exp": nil}, jwt.ErrTokenRequiredClaimMissing, jeton.ErrTokenInvalidClaims},
		"not yet valid":    {jwt.MapClaims{"nbf": at(40 * time.Second)}, jwt.ErrTokenNotValidYet, jeton.ErrTokenNotYetValid},
		"no nbf":           {jwt.MapClaims{"nbf": nil}, jwt.ErrTokenRequiredClaimMissing, jeton.ErrTokenInvalidClaims},
		"issued later":     {jwt.MapClaims{"iat": at(2 * time.Minute)}, jwt.ErrTokenUsedBeforeIssued, jeton.ErrTokenNotYetValid},
		"another subject":  {jwt.MapClaims{"sub": "user-8"}, jwt.ErrTokenInvalidClaims, jeton.ErrTokenClaimsShape},
	} {
		claims := jwt.MapClaims{
			"iss": "https://id.example", "aud": "api", "sub": "user-7", "page": "/", "exp": at(time.Minute), "nbf": at(0), "iat": at(0),
		}
		maps.Copy(claims, one.claims)
		maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
		text, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(private)
		check(t, err)
		_, err = jwt.ParseWithClaims(text, &Visit{}, func(*jwt.Token) (any, error) { return private.Public(), nil }, theirs...)
		if !errors.Is(err, one.theirs) {
			t.Errorf("%s: golang-jwt: %v", name, err)
		}
		verified, err := jeton.Verify[Visit](ours, text)
		if !errors.Is(err, one.ours) {
			t.Errorf("%s: jeton: %v", name, err)
		}
		if name == "another subject" && !strings.Contains(err.Error(), "another subject") {
			t.Errorf("%s: jeton: %v", name, err)
		}
		if one.ours == nil && (err != nil || verified.Claims.Page != "/" || verified.Claims.Subject != "user-7") {
			t.Errorf("%s: jeton: %v", name, err)
		}
	}
}
