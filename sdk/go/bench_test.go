package jeton_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// standard is the claims set `standard` of the lab.
type standard struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  []string `json:"aud"`
	ExpiresAt int64    `json:"exp"`
	IssuedAt  int64    `json:"iat"`
	ID        string   `json:"jti"`
	Name      string   `json:"name"`
	Admin     bool     `json:"admin"`
}

type customOfStandard struct {
	Name  string `json:"name"`
	Admin bool   `json:"admin"`
}

func standardClaims() *standard {
	now := time.Now().Unix()
	return &standard{"https://issuer.example", "user-1234567890", []string{"api"}, now + 3600, now, "0123456789abcdef", "John Doe", true}
}

var measured = []jeton.Algorithm{
	jeton.HS256, jeton.ES256, jeton.EdDSA, jeton.RS256, jeton.V4Local, jeton.V4Public,
}

// claimsFor returns claims for an algorithm. PASETO has times as text.
func claimsFor(alg jeton.Algorithm) any {
	claims := standardClaims()
	if alg == jeton.V4Local || alg == jeton.V4Public {
		return map[string]any{
			"iss": claims.Issuer, "sub": claims.Subject, "aud": "api", "jti": claims.ID, "name": claims.Name, "admin": true,
			"exp": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		}
	}
	return claims
}

func BenchmarkIssue(b *testing.B) {
	for _, alg := range measured {
		b.Run(string(alg), func(b *testing.B) {
			issuer := must(jeton.NewIssuer(must(jeton.GenerateKey(alg))))
			claims := claimsFor(alg)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := issuer.Issue(claims); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, alg := range measured {
		b.Run(string(alg), func(b *testing.B) {
			key := must(jeton.GenerateKey(alg))
			token := must(must(jeton.NewIssuer(key)).Issue(claimsFor(alg)))
			verifier := must(jeton.NewVerifier(key, jeton.WithIssuer("https://issuer.example"), jeton.WithAudience("api")))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jeton.Verify[customOfStandard](verifier, token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMarshalAlone measures the part of BenchmarkIssue that encoding/json takes.
func BenchmarkMarshalAlone(b *testing.B) {
	claims := standardClaims()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(claims); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyParallel(b *testing.B) {
	for _, alg := range []jeton.Algorithm{jeton.HS256, jeton.ES256} {
		b.Run(string(alg), func(b *testing.B) {
			issuer, verifier := pair(must(jeton.GenerateKey(alg)))
			token := must(issuer.Issue(visit{Page: "/"}))
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if _, err := jeton.Verify[visit](verifier, token); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
