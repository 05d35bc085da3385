// The program plain issues and verifies a token. The tests link it without shared libraries.
package main

import (
	"log"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

type visit struct {
	Page string `json:"page"`
}

func main() {
	key, err := jeton.GenerateKey(jeton.ES256)
	check(err)
	issuer, err := jeton.NewIssuer(key, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"),
		jeton.WithLifetime(time.Minute))
	check(err)
	token, err := issuer.Issue(visit{Page: "/"})
	check(err)
	verifier, err := jeton.NewVerifier(key.Public(), jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"))
	check(err)
	verified, err := jeton.Verify[visit](verifier, token)
	check(err)
	if verified.Claims.Page != "/" {
		log.Fatal("the claims are wrong")
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
