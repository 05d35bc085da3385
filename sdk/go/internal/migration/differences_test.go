package migration

import (
	"crypto/ecdsa"
	"maps"
	"testing"
	"time"

	josejwt "github.com/go-jose/go-jose/v4/jwt"
	"github.com/golang-jwt/jwt/v5"
	jwxjwt "github.com/lestrrat-go/jwx/v3/jwt"

	"github.com/go-jose/go-jose/v4"
	"github.com/jeton/jeton/sdk/go"
	"github.com/lestrrat-go/jwx/v3/jwa"
)

// TestDefaultsDifferAsThePageSays checks which tokens each library accepts by default: the rows of "Differences".
func TestDefaultsDifferAsThePageSays(t *testing.T) {
	key := newKey(t)
	now := time.Now()
	at := func(ago time.Duration) int64 { return now.Add(-ago).Unix() }
	tokens := []struct {
		name   string
		typ    string
		claims jwt.MapClaims
		// golang-jwt, go-jose, jwx, jeton.
		accepted [4]bool
	}{
		{"ordinary", "JWT", nil, [4]bool{true, true, true, true}},
		{"access token", "at+jwt", nil, [4]bool{true, true, true, false}},
		{"expired 40 s ago", "JWT", jwt.MapClaims{"exp": at(40 * time.Second)}, [4]bool{false, true, false, false}},
		{"expired 90 s ago", "JWT", jwt.MapClaims{"exp": at(90 * time.Second)}, [4]bool{false, false, false, false}},
		{"issued in 40 s", "JWT", jwt.MapClaims{"iat": at(-40 * time.Second)}, [4]bool{true, true, false, true}},
		{"issued in 1 h", "JWT", jwt.MapClaims{"iat": at(-time.Hour)}, [4]bool{true, false, false, false}},
	}
	public, err := jeton.NewKey(key.Public(), jeton.WithAlgorithm(jeton.ES256))
	check(t, err)
	verifier, err := jeton.NewVerifier(public, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"))
	check(t, err)
	for _, token := range tokens {
		claims := jwt.MapClaims{"iss": "https://id.example", "aud": "api", "exp": at(-time.Hour * 2)}
		maps.Copy(claims, token.claims)
		signed := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
		signed.Header["typ"] = token.typ
		text, err := signed.SignedString(key)
		check(t, err)
		_, ofJeton := jeton.Verify[map[string]any](verifier, text)
		accepted := [4]bool{golangJWTAccepts(text, key), goJoseAccepts(text, key), jwxAccepts(text, key), ofJeton == nil}
		if accepted != token.accepted {
			t.Errorf("%s: accepted by golang-jwt, go-jose, jwx, jeton: %v", token.name, accepted)
		}
	}
}

func golangJWTAccepts(text string, key *ecdsa.PrivateKey) bool {
	_, err := jwt.Parse(text, func(*jwt.Token) (any, error) { return key.Public(), nil }, jwt.WithValidMethods([]string{"ES256"}))
	return err == nil
}

func goJoseAccepts(text string, key *ecdsa.PrivateKey) bool {
	token, err := josejwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return false
	}
	var claims josejwt.Claims
	if err := token.Claims(key.Public(), &claims); err != nil {
		return false
	}
	return claims.Validate(josejwt.Expected{Time: time.Now()}) == nil
}

func jwxAccepts(text string, key *ecdsa.PrivateKey) bool {
	_, err := jwxjwt.Parse([]byte(text), jwxjwt.WithKey(jwa.ES256(), key.Public()))
	return err == nil
}
