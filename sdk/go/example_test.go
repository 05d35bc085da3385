package jeton_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

type Visit struct {
	Page string `json:"page"`
}

func Example() {
	key, err := jeton.GenerateKey(jeton.ES256)
	check(err)
	issuer, err := jeton.NewIssuer(key, jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"),
		jeton.WithLifetime(15*time.Minute))
	check(err)
	token, err := issuer.Issue(Visit{Page: "/"})
	check(err)

	verifier, err := jeton.NewVerifier(key.Public(), jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"))
	check(err)
	verified, err := jeton.Verify[Visit](verifier, token)
	check(err)
	fmt.Println(verified.Claims.Page, verified.Issuer(), verified.Audience())

	_, err = jeton.Verify[Visit](verifier, token+"x")
	fmt.Println(errors.Is(err, jeton.ErrTokenRejected), jeton.CodeOf(err))
	// Output:
	// / https://id.example [api]
	// true TOKEN_INVALID_SIGNATURE
}

func ExampleDiscoverKeySet() {
	key, server := identityProvider()
	defer server.Close()

	// WithPrivateAddresses is for issuers in your own network.
	keys, err := jeton.DiscoverKeySet(server.URL, jeton.WithPrivateAddresses())
	check(err)
	defer func() { _ = keys.Close() }()
	verifier, err := jeton.NewVerifier(keys, jeton.WithIssuer(server.URL), jeton.WithAudience("api"))
	check(err)

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	check(keys.Fetch(ctx)) // at program start, so that the first token does not wait
	verified, err := jeton.VerifyContext[Visit](ctx, verifier, issueFor(server.URL, key))
	check(err)
	fmt.Println(verified.Claims.Page, verified.KeyID())
	// Output: / 2026-11
}

func ExampleNewMultiIssuerVerifier() {
	keyOfA, err := jeton.GenerateKey(jeton.ES256)
	check(err)
	keyOfB, err := jeton.GenerateKey(jeton.ES256)
	check(err)
	a, err := jeton.NewVerifier(keyOfA.Public(), jeton.WithIssuer("https://a.example"), jeton.WithAudience("api"))
	check(err)
	b, err := jeton.NewVerifier(keyOfB.Public(), jeton.WithIssuer("https://b.example"), jeton.WithAudience("api"))
	check(err)
	verifier, err := jeton.NewMultiIssuerVerifier(a, b)
	check(err)

	verified, err := jeton.Verify[Visit](verifier, issueFor("https://b.example", keyOfB))
	check(err)
	fmt.Println(verified.Issuer())
	// The key of B cannot sign for A.
	_, err = jeton.Verify[Visit](verifier, issueFor("https://a.example", keyOfB))
	fmt.Println(jeton.CodeOf(err))
	// Output:
	// https://b.example
	// TOKEN_INVALID_SIGNATURE
}

func ExampleReadUnverified() {
	key, err := jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("2026-11"))
	check(err)
	read, err := jeton.ReadUnverified(issueFor("https://id.example", key))
	check(err)
	var header struct {
		KeyID string `json:"kid"`
	}
	check(json.Unmarshal(read.Header, &header))
	fmt.Println(read.Format, read.Issuer(), header.KeyID)
	// Output: jwt https://id.example 2026-11
}

func ExampleNewKey() {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	key, err := jeton.NewKey(private, jeton.WithAlgorithm(jeton.ES256))
	check(err)
	public, err := key.CryptoPublicKey()
	check(err)
	fmt.Println(key, private.PublicKey.Equal(public))
	// Output: jeton.Key(ES256, private) true
}

func ExampleNewKeyFromSigner() {
	// A key of the standard library replaces one in an HSM: only Sign is called.
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	key, err := jeton.NewKeyFromSigner(signer, jeton.ES256)
	check(err)
	issuer, err := jeton.NewIssuer(key, jeton.WithLifetime(time.Minute))
	check(err)
	token, err := issuer.Issue(Visit{Page: "/"})
	check(err)
	verifier, err := jeton.NewVerifier(key, jeton.WithAnyIssuer(), jeton.WithAnyAudience())
	check(err)
	verified, err := jeton.Verify[Visit](verifier, token)
	check(err)
	fmt.Println(verified.Claims.Page, verified.Algorithm())
	// Output: / ES256
}

func ExampleIssuer_IssueWith() {
	kms, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	// The program has the public key only.
	public, err := jeton.NewKeyFromSigner(kms, jeton.ES256)
	check(err)
	issuer, err := jeton.NewIssuer(public, jeton.WithLifetime(time.Minute))
	check(err)
	token, err := issuer.IssueWith(context.Background(), Visit{Page: "/"},
		func(_ context.Context, prepared *jeton.Prepared) ([]byte, jeton.SignatureForm, error) {
			digest, err := prepared.Digest()
			if err != nil {
				return nil, "", err
			}
			signature, err := kms.Sign(rand.Reader, digest, nil) // a call to the KMS
			return signature, jeton.SignatureDER, err
		})
	check(err)
	fmt.Println(len(token) > 0)
	// Output: true
}

func ExampleWithEncryption() {
	signing, err := jeton.GenerateKey(jeton.EdDSA)
	check(err)
	recipient, err := jeton.GenerateKey(jeton.ECDHES, jeton.WithCurve("X25519"))
	check(err)
	issuer, err := jeton.NewIssuer(signing, jeton.WithEncryption(recipient.Public()), jeton.WithIssuer("https://id.example"),
		jeton.WithAudience("api"), jeton.WithLifetime(time.Minute))
	check(err)
	token, err := issuer.Issue(Visit{Page: "/private"})
	check(err)
	verifier, err := jeton.NewVerifier(signing.Public(), jeton.WithDecryption(recipient),
		jeton.WithIssuer("https://id.example"), jeton.WithAudience("api"))
	check(err)
	verified, err := jeton.Verify[Visit](verifier, token)
	check(err)
	fmt.Println(verified.Claims.Page)
	// Output: /private
}

func ExampleNewKeySet() {
	current, err := jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("2026-11"))
	check(err)
	next, err := jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("2026-12"))
	check(err)
	set, err := jeton.NewKeySet(current, next)
	check(err)
	text, err := set.JWKS() // the public keys, to publish
	check(err)
	read, err := jeton.ParseKeySet(text, jeton.WithPublishedKeys())
	check(err)
	ids, err := read.IDs()
	check(err)
	fmt.Println(ids)
	// Output: [2026-11 2026-12]
}

func ExampleV4Local() {
	key, err := jeton.GenerateKey(jeton.V4Local)
	check(err)
	issuer, err := jeton.NewIssuer(key, jeton.WithLifetime(time.Minute), jeton.WithFooter("v1"))
	check(err)
	token, err := issuer.Issue(Visit{Page: "/"})
	check(err)
	verifier, err := jeton.NewVerifier(key, jeton.WithAnyIssuer(), jeton.WithAnyAudience(), jeton.WithFooter("v1"))
	check(err)
	verified, err := jeton.Verify[Visit](verifier, token)
	check(err)
	fmt.Println(token[:9], verified.Claims.Page, verified.Footer())
	// Output: v4.local. / v1
}

func ExampleNewSigner() {
	key, err := jeton.GenerateKey(jeton.EdDSA)
	check(err)
	signer, err := jeton.NewSigner(key, jeton.WithContentType("text/plain"))
	check(err)
	token, err := signer.Sign([]byte("any content"))
	check(err)
	verifier, err := jeton.NewSignatureVerifier(key.Public())
	check(err)
	content, err := verifier.Verify(token)
	check(err)
	fmt.Println(string(content))
	// Output: any content
}

// identityProvider publishes one key, as an OpenID provider does.
func identityProvider() (*jeton.Key, *httptest.Server) {
	key, err := jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("2026-11"))
	check(err)
	set, err := jeton.NewKeySet(key)
	check(err)
	text, err := set.JWKS()
	check(err)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, server.URL, server.URL+"/keys")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) })
	return key, server
}

func issueFor(name string, key *jeton.Key) string {
	issuer, err := jeton.NewIssuer(key, jeton.WithIssuer(name), jeton.WithAudience("api"), jeton.WithLifetime(time.Minute))
	check(err)
	token, err := issuer.Issue(Visit{Page: "/"})
	check(err)
	return token
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
