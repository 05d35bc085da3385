// A benchmark of golang-jwt as a Go programmer would write it: testing.B, without code of the lab.
// `cargo xtask agreement` compares its figures with the lab's.
package agreement

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	issuer   = "https://issuer.example"
	audience = "api"
	// Consecutive operations use different tokens, so that CPU caches are as cold as in the lab.
	pool = 8
)

type visit struct {
	jwt.RegisteredClaims
	Name  string `json:"name,omitempty"`
	Admin bool   `json:"admin"`
}

type side struct {
	method          jwt.SigningMethod
	private, public any
}

func sides(b *testing.B) map[string]side {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	return map[string]side{
		"HS256": {jwt.SigningMethodHS256, secret, secret},
		"ES256": {jwt.SigningMethodES256, key, &key.PublicKey},
	}
}

func visits() []visit {
	now := time.Now()
	all := make([]visit, pool)
	for i := range all {
		all[i] = visit{
			RegisteredClaims: jwt.RegisteredClaims{
				Issuer:    issuer,
				Subject:   "user-1234567890",
				Audience:  jwt.ClaimStrings{audience},
				ExpiresAt: jwt.NewNumericDate(now.Add(24 * time.Hour)),
				IssuedAt:  jwt.NewNumericDate(now),
				ID:        fmt.Sprintf("7f3a91c04be2%04x", 0xd651+0x11*i),
			},
			Name:  "John Doe",
			Admin: true,
		}
	}
	return all
}

func (s side) sign(claims *visit) (string, error) {
	return jwt.NewWithClaims(s.method, claims).SignedString(s.private)
}

func BenchmarkSign(b *testing.B) {
	for name, side := range sides(b) {
		b.Run(name, func(b *testing.B) {
			all := visits()
			for i := 0; b.Loop(); i++ {
				if _, err := side.sign(&all[i%pool]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for name, side := range sides(b) {
		b.Run(name, func(b *testing.B) {
			all := visits()
			tokens := make([]string, pool)
			for i := range tokens {
				var err error
				if tokens[i], err = side.sign(&all[i]); err != nil {
					b.Fatal(err)
				}
			}
			key := func(*jwt.Token) (any, error) { return side.public, nil }
			parser := jwt.NewParser(
				jwt.WithValidMethods([]string{name}),
				jwt.WithIssuer(issuer),
				jwt.WithAudience(audience),
				jwt.WithExpirationRequired(),
			)
			for i := 0; b.Loop(); i++ {
				if _, err := parser.ParseWithClaims(tokens[i%pool], new(visit), key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
