package main_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

type Session struct {
	Admin bool `json:"admin"`
	jwt.RegisteredClaims
}

func verify(text string, keys map[string]*ecdsa.PublicKey) (*Session, error) {
	keyFunc := func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		key, ok := keys[kid]
		if !ok {
			return nil, errors.New("unknown key")
		}
		return key, nil
	}
	claims := &Session{}
	_, err := jwt.ParseWithClaims(text, claims, keyFunc,
		jwt.WithValidMethods([]string{"ES256"}),
		jwt.WithIssuer("https://id.example"),
		jwt.WithAudience("api"),
		jwt.WithExpirationRequired())
	return claims, err
}

func TestMigrationPageExampleRuns(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, Session{true, jwt.RegisteredClaims{
		Issuer:    "https://id.example",
		Audience:  jwt.ClaimStrings{"api"},
		ExpiresAt: jwt.NewNumericDate(time.Now().Add(15 * time.Minute)),
	}})
	token.Header["kid"] = "2026-11"
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	session, err := verify(text, map[string]*ecdsa.PublicKey{"2026-11": &key.PublicKey})
	if err != nil || !session.Admin {
		t.Fatal(session, err)
	}
}

// The left sides of the tables. It is only compiled.
var _ = func(pem []byte, secret, text string, claims jwt.Claims, keyFunc jwt.Keyfunc, now func() time.Time, err error) {
	_, _ = jwt.ParseECPrivateKeyFromPEM(pem)
	_, _ = jwt.ParseRSAPrivateKeyFromPEM(pem)
	_, _ = jwt.ParseECPublicKeyFromPEM(pem)
	_ = []byte(secret)
	_ = func(t *jwt.Token) (any, error) { return t.Header["kid"], nil }
	_ = jwt.VerificationKeySet{}
	_ = jwt.RegisteredClaims{}
	_ = jwt.MapClaims{}
	options := []jwt.ParserOption{
		jwt.WithValidMethods([]string{"ES256"}),
		jwt.WithIssuer("https://id.example"),
		jwt.WithAudience("api"),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(30 * time.Second),
		jwt.WithSubject("user-7"),
		jwt.WithTimeFunc(now),
		jwt.WithJSONNumber(),
	}
	_, _ = jwt.ParseWithClaims(text, claims, keyFunc, options...)
	_ = jwt.NewParser(options...)
	var _ interface{ Validate() error }
	_ = errors.Is(err, jwt.ErrTokenExpired)
	_ = errors.Is(err, jwt.ErrTokenSignatureInvalid)
	_, _, _ = jwt.NewParser().ParseUnverified(text, claims)
	_ = jwt.UnsafeAllowNoneSignatureType
	_ = jwt.MarshalSingleStringAsArray
	_, _ = jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(pem)
}

func TestMigrationPageShowsOnlyCodeOfThisTest(t *testing.T) {
	page, err := os.ReadFile("../../../crates/jeton/src/guide/from_golang_jwt.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("migration_page_test.go")
	if err != nil {
		t.Fatal(err)
	}
	compiled := withoutSpace(string(source))
	shown := shownCode(string(page))
	if len(shown) < 10 {
		t.Fatalf("the page shows %d pieces of code", len(shown))
	}
	for _, code := range shown {
		if !strings.Contains(compiled, withoutSpace(code)) {
			t.Errorf("no test compiles this code:\n%s", code)
		}
	}
}

// shownCode returns the Go blocks of a page, and the code in the first columns of the tables "what you write today".
func shownCode(page string) []string {
	var shown []string
	for _, rest := range strings.Split(page, "```go\n")[1:] {
		block, _, _ := strings.Cut(rest, "```")
		shown = append(shown, block)
	}
	inside := false
	for _, line := range strings.Split(page, "\n") {
		inside = strings.HasPrefix(line, "| what you write today") || inside && strings.HasPrefix(line, "|")
		if !inside {
			continue
		}
		for i, span := range strings.Split(strings.Split(line, "|")[1], "`") {
			if i%2 == 1 {
				shown = append(shown, span)
			}
		}
	}
	return shown
}

func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }

func TestMigrationPageDifferencesHold(t *testing.T) {
	secret := []byte("short")
	accepted := func(header, payload string, claims jwt.Claims) bool {
		part := base64.RawURLEncoding.EncodeToString
		text := part([]byte(header)) + "." + part([]byte(payload))
		signature, err := jwt.SigningMethodHS256.Sign(text, secret)
		if err != nil {
			t.Fatal(err)
		}
		_, err = jwt.ParseWithClaims(text+"."+part(signature), claims,
			func(*jwt.Token) (any, error) { return secret, nil })
		return err == nil
	}
	header := `{"alg":"HS256"}`
	if !accepted(header, `{"exp":0}`, jwt.MapClaims{}) {
		t.Error("exp: 0 in MapClaims expires")
	}
	if accepted(header, `{"EXP":1}`, &Session{}) {
		t.Error("EXP does not match the field exp")
	}
	duplicate := &Session{}
	if !accepted(header, `{"sub":"a","sub":"b"}`, duplicate) || duplicate.Subject != "b" {
		t.Error("not the last of duplicate members counts")
	}
	if !accepted(`{"alg":"HS256","crit":["unknown"]}`, `{}`, jwt.MapClaims{}) {
		t.Error("an unknown crit extension is rejected")
	}

	// Signing checks the curve, so this signature is made by hand.
	key, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte("text"))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	if err := jwt.SigningMethodES256.Verify("text", signature, &key.PublicKey); err != nil {
		t.Error("ES256 checks the curve of the key:", err)
	}
}
