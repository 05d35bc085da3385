package jeton_test

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

func TestInvalidTokens(t *testing.T) {
	issuer, verifier := pair(secretKey())
	good := must(issuer.Issue(visit{Page: "/"}))
	tokens := map[string]string{
		"empty": "", "dots": "..", "zero": "\x00", "not UTF-8": good[:len(good)-1] + "\xff", "space": good + " ",
		"letter that ends in e": strings.Replace(good, "e", "\u0165", 1), "10 MB": strings.Repeat("a", 10<<20),
		"10 MB of dots": strings.Repeat(".", 10<<20), "10 MB after a token": good + strings.Repeat("A", 10<<20),
		"cut": good[:len(good)/2], "other key": must(must(jeton.NewIssuer(must(jeton.GenerateKey(jeton.HS256)),
			jeton.WithoutExpiry())).Issue(visit{})),
	}
	for name, token := range tokens {
		if _, err := jeton.Verify[visit](verifier, token); !errors.Is(err, jeton.ErrTokenRejected) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeysOfTheWrongKind(t *testing.T) {
	for name, err := range map[string]error{
		"signing key for encryption": second(jeton.NewEncrypter(must(jeton.GenerateKey(jeton.ES256)))),
		"encryption key for signing": second(jeton.NewSigner(must(jeton.GenerateKey(jeton.A256KW)))),
		"encryption key for tokens":  second(jeton.NewIssuer(must(jeton.GenerateKey(jeton.ECDHES)), jeton.WithoutExpiry())),
		"public of a secret":         second(secretKey().PublicKey()),
		"a mixed set":                second(jeton.NewKeySet(secretKey(), must(jeton.GenerateKey(jeton.V4Local)))),
		"an empty set":               second(jeton.NewKeySet()),
		"no key":                     second(jeton.ParseKey([]byte("no key"))),
		"nothing":                    second(jeton.ParseKey(nil)),
		"10 MB":                      second(jeton.ParseKey(make([]byte, 10<<20))),
		"a weak secret":              second(jeton.NewSecret(jeton.HS256, []byte("short"))),
		"an unknown algorithm":       second(jeton.GenerateKey("none")),
		"no algorithm":               second(jeton.GenerateKey("")),
		"a public key that signs":    second(must(jeton.NewIssuer(must(jeton.GenerateKey(jeton.ES256)).Public(), jeton.WithoutExpiry())).Issue(visit{})),
		"a nil signer":               second(jeton.NewKeyFromSigner(nil, jeton.ES256)),
	} {
		var failed *jeton.Error
		if !errors.As(err, &failed) || failed.Code == jeton.CodeInternal || failed.Code == jeton.CodeArgumentHandle {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorsNameTheValueAndTheOption(t *testing.T) {
	var none *jeton.Key
	rsa := []byte(`{"kty":"RSA","n":"` + strings.Repeat("uzE_", 86) + `","e":"AQAB"}`)
	for text, err := range map[string]error{
		"the key is nil":                                                       second(jeton.NewVerifier(secretKey().Public())),
		"the key is nil, zero":                                                 second(none.PublicKey()),
		"`alg`: pass the algorithm (WithAlgorithm)":                            second(jeton.ParseKey(rsa)),
		"import it as a key set (ParseKeySet)":                                 second(jeton.ParseKey([]byte(`{"keys":[]}`))),
		"ES256K is not supported with a crypto.Signer: RS256":                  second(jeton.NewKeyFromSigner(ed25519.PrivateKey(make([]byte, 64)), jeton.ES256K)),
		"a key for HS256 is symmetric: it has no public key":                   second(secretKey().PublicKey()),
		"a key for v4.public cannot be exported as PEM: export it as a PASERK": second(must(jeton.GenerateKey(jeton.V4Public)).PEM()),
	} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func second(_ any, err error) error { return err }

func TestContradictingOptions(t *testing.T) {
	key := secretKey()
	any := jeton.WithAnyAudience()
	for name, err := range map[string]error{
		"no issuer":       second(jeton.NewVerifier(key, any)),
		"no audience":     second(jeton.NewVerifier(key, jeton.WithIssuer("i"))),
		"both":            second(jeton.NewVerifier(key, any, jeton.WithIssuer("i"), jeton.WithAnyIssuer())),
		"half a second":   second(jeton.NewIssuer(key, jeton.WithLifetime(time.Second/2))),
		"a negative time": second(jeton.NewVerifier(key, any, jeton.WithAnyIssuer(), jeton.WithLeeway(-time.Second))),
		"expiry":          second(jeton.NewIssuer(key, jeton.WithoutExpiry(), jeton.WithLifetime(time.Second))),
		"footer":          second(jeton.NewIssuer(key, jeton.WithoutExpiry(), jeton.WithFooter("f"))),
		"decryption":      second(jeton.NewVerifier(key, any, jeton.WithAnyIssuer(), jeton.WithDecryption())),
		"no address":      second(jeton.NewRemoteKeySet("not an address")),
	} {
		var failed *jeton.Error
		if !errors.As(err, &failed) || failed.Code == jeton.CodeInternal {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := jeton.NewIssuer(key, jeton.WithIssuer(strings.Repeat("x", 100_000)), jeton.WithoutExpiry())
	if !errors.Is(err, jeton.ErrInvalidOption) {
		t.Error(err)
	}
	if _, err := must(jeton.NewIssuer(key)).Issue(visit{}); !errors.Is(err, jeton.ErrClaimsWithoutExpiry) {
		t.Error(err)
	}
	if _, err := must(jeton.NewIssuer(key, jeton.WithIssuer("i"), jeton.WithoutExpiry())).Issue(map[string]string{"iss": "j"}); !errors.Is(err, jeton.ErrClaimsSetForAll) {
		t.Error(err)
	}
}

func TestLargeClaims(t *testing.T) {
	issuer, verifier := pair(secretKey())
	for _, size := range []int{0, 1, 1500, 5000, 60_000, 100_000} {
		page := strings.Repeat("p", size)
		token, err := issuer.Issue(visit{Page: page})
		if err != nil {
			t.Fatal(err)
		}
		verified, err := jeton.Verify[visit](verifier, token)
		if err != nil || verified.Claims.Page != page {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	if _, err := issuer.IssueJSON([]byte(deep)); !errors.Is(err, jeton.ErrClaimsTooDeep) {
		t.Error(err)
	}
	if _, err := issuer.IssueJSON([]byte(`{"a":1,"a":2}`)); !errors.Is(err, jeton.ErrClaimsDuplicateMember) {
		t.Error(err)
	}
	if _, err := issuer.IssueJSON([]byte("{\"a\":\"\xff\"}")); err == nil {
		t.Error("claims that are not UTF-8 are issued")
	}
}
