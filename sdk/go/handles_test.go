package jeton_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jeton/jeton/sdk/go"
)

// everyCall calls each function with these values.
func everyCall(
	key *jeton.Key, set *jeton.KeySet, remote *jeton.RemoteKeySet, issuer *jeton.Issuer, verifier *jeton.Verifier,
	signer *jeton.Signer, reading *jeton.SignatureVerifier, encrypter *jeton.Encrypter, decrypter *jeton.Decrypter,
	prepared *jeton.Prepared,
) map[string]error {
	second := func(_ any, err error) error { return err }
	any := []jeton.VerifierOption{jeton.WithAnyIssuer(), jeton.WithAnyAudience()}
	return map[string]error{
		"PublicKey":            second(key.PublicKey()),
		"Thumbprint":           second(key.Thumbprint()),
		"ThumbprintURI":        second(key.ThumbprintURI()),
		"JWK":                  second(key.JWK()),
		"PEM":                  second(key.PEM()),
		"DER":                  second(key.DER()),
		"PASERK":               second(key.PASERK()),
		"InsecureJWK":          second(key.InsecureJWK()),
		"InsecurePEM":          second(key.InsecurePEM()),
		"InsecureDER":          second(key.InsecureDER()),
		"InsecurePASERK":       second(key.InsecurePASERK()),
		"WarmUp":               key.WarmUp(),
		"NewKeySet":            second(jeton.NewKeySet(key)),
		"NewIssuer":            second(jeton.NewIssuer(key, jeton.WithoutExpiry())),
		"NewIssuer encryption": second(jeton.NewIssuer(secretKey(), jeton.WithoutExpiry(), jeton.WithEncryption(key))),
		"NewVerifier key":      second(jeton.NewVerifier(key, any...)),
		"NewVerifier set":      second(jeton.NewVerifier(set, any...)),
		"NewVerifier remote":   second(jeton.NewVerifier(remote, any...)),
		"NewVerifier decrypt":  second(jeton.NewVerifier(secretKey(), append(any, jeton.WithDecryption(key))...)),
		"NewSigner":            second(jeton.NewSigner(key)),
		"NewSignatureVerifier": second(jeton.NewSignatureVerifier(key)),
		"NewEncrypter":         second(jeton.NewEncrypter(key)),
		"NewDecrypter":         second(jeton.NewDecrypter(key)),
		"NewDecrypter set":     second(jeton.NewDecrypter(set)),
		"JWKS":                 second(set.JWKS()),
		"IDs":                  second(set.IDs()),
		"Skipped":              second(set.Skipped()),
		"Fetch":                remote.Fetch(context.Background()),
		"Issue":                second(issuer.Issue(visit{})),
		"IssueJSON":            second(issuer.IssueJSON([]byte("{}"))),
		"Prepare":              second(issuer.Prepare(visit{})),
		"Verify":               second(jeton.Verify[visit](verifier, "token")),
		"Sign":                 second(signer.Sign(nil)),
		"Signer.Prepare":       second(signer.Prepare(nil)),
		"SignatureVerifier":    second(reading.Verify("token")),
		"VerifyDetached":       reading.VerifyDetached("token", nil),
		"Encrypt":              second(encrypter.Encrypt(nil)),
		"Decrypt":              second(decrypter.Decrypt("token")),
		"Prepared.Message":     second(prepared.Message()),
		"Prepared.Digest":      second(prepared.Digest()),
		"Prepared.Algorithm":   second(prepared.Algorithm()),
		"Prepared.Attach":      second(prepared.Attach(nil, jeton.SignatureDER)),
	}
}

func isHandleError(t *testing.T, errs map[string]error) {
	t.Helper()
	for name, err := range errs {
		if !errors.Is(err, jeton.ErrArgumentHandle) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNilAndZeroValues(t *testing.T) {
	isHandleError(t, everyCall(nil, nil, nil, nil, nil, nil, nil, nil, nil, nil))
	isHandleError(t, everyCall(&jeton.Key{}, &jeton.KeySet{}, &jeton.RemoteKeySet{}, &jeton.Issuer{}, &jeton.Verifier{},
		&jeton.Signer{}, &jeton.SignatureVerifier{}, &jeton.Encrypter{}, &jeton.Decrypter{}, &jeton.Prepared{}))
	var token *jeton.Token
	if token.Subject() != "" || token.Audience() != nil || !token.ExpiresAt().IsZero() || token.JSON() != "" || token.KeyID() != "" {
		t.Error("a nil token has values")
	}
	zero := new(jeton.Token)
	if zero.Subject() != "" || zero.Audience() != nil || zero.Footer() != "" || zero.String() == "" {
		t.Error("a zero token has values")
	}
	var key *jeton.Key
	if key.Public() != nil || key.Algorithm() != "" || key.ID() != "" || key.IsPrivate() || fmt.Sprint(key) != "jeton.Key(nil)" {
		t.Error("a nil key has values")
	}
	if err := key.Close(); err != nil {
		t.Error(err)
	}
	// Nil options.
	if _, err := jeton.NewIssuer(secretKey(), nil, jeton.WithoutExpiry()); err != nil {
		t.Error(err)
	}
	for _, err := range []error{(*jeton.Error)(nil), &jeton.Error{}, jeton.Code(0), jeton.Code(-7)} {
		if err.Error() == "" || errors.Is(err, jeton.ErrTokenExpired) || errors.Is(err, jeton.ErrTokenRejected) {
			t.Errorf("%#v", err)
		}
	}
}

// closable has a value of each type that can be closed.
type closable struct {
	key       *jeton.Key
	set       *jeton.KeySet
	remote    *jeton.RemoteKeySet
	issuer    *jeton.Issuer
	verifier  *jeton.Verifier
	signer    *jeton.Signer
	reading   *jeton.SignatureVerifier
	encrypter *jeton.Encrypter
	decrypter *jeton.Decrypter
	prepared  *jeton.Prepared
}

func newClosable() *closable {
	key := must(jeton.GenerateKey(jeton.ES256))
	issuer, verifier := pair(key)
	wrapping := must(jeton.GenerateKey(jeton.A256KW))
	return &closable{
		key, must(jeton.NewKeySet(key)), must(jeton.NewRemoteKeySet("https://id.example/keys")), issuer, verifier,
		must(jeton.NewSigner(key)), must(jeton.NewSignatureVerifier(key)), must(jeton.NewEncrypter(wrapping)),
		must(jeton.NewDecrypter(wrapping)),
		must(must(jeton.NewIssuer(key.Public(), jeton.WithoutExpiry())).Prepare(visit{})),
	}
}

func (c *closable) close() {
	for _, one := range []interface{ Close() error }{
		c.key, c.set, c.remote, c.issuer, c.verifier, c.signer, c.reading, c.encrypter, c.decrypter, c.prepared,
	} {
		_ = one.Close()
		_ = one.Close()
	}
}

func TestClosedHandles(t *testing.T) {
	c := newClosable()
	c.close()
	isHandleError(t, everyCall(c.key, c.set, c.remote, c.issuer, c.verifier, c.signer, c.reading, c.encrypter, c.decrypter, c.prepared))
}

func TestIssuerAndVerifierOutliveTheirKey(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256))
	issuer, verifier := pair(key)
	_ = key.Close()
	if _, err := jeton.Verify[visit](verifier, must(issuer.Issue(visit{}))); err != nil {
		t.Error(err)
	}
}

func TestConcurrentUseAndClose(t *testing.T) {
	for range 20 {
		key := secretKey()
		issuer, verifier := pair(key, jeton.WithAccessTokens())
		claims := json.RawMessage(`{"sub":"s","client_id":"c","jti":"j","page":"/"}`)
		token := must(issuer.Issue(claims))
		var all sync.WaitGroup
		for worker := range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				for range 200 {
					_, err := issuer.Issue(claims)
					_, other := jeton.Verify[visit](verifier, token)
					_, third := key.InsecureJWK()
					for _, err := range []error{err, other, third} {
						if err != nil && !errors.Is(err, jeton.ErrArgumentHandle) {
							t.Error(err)
						}
					}
				}
				if worker%2 == 0 {
					_ = issuer.Close()
					_ = verifier.Close()
					_ = key.Close()
				}
			}()
		}
		all.Wait()
		if _, err := issuer.Issue(claims); !errors.Is(err, jeton.ErrArgumentHandle) {
			t.Error(err)
		}
	}
}

func TestUnclosedValuesAreCollected(t *testing.T) {
	for range 200 {
		issuer, verifier := pair(secretKey())
		token := must(issuer.Issue(visit{Page: "/"}))
		if _, err := jeton.Verify[visit](verifier, token); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
	}
}

func TestOneHandleFromManyGoroutines(t *testing.T) {
	issuer, verifier := pair(must(jeton.GenerateKey(jeton.ES256)))
	var all sync.WaitGroup
	for worker := range 16 {
		all.Add(1)
		go func() {
			defer all.Done()
			for at := range 50 {
				page := fmt.Sprintf("/%d/%d/%s", worker, at, strings.Repeat("x", at*100))
				verified, err := jeton.Verify[visit](verifier, must(issuer.Issue(visit{Page: page})))
				if err != nil || verified.Claims.Page != page {
					t.Errorf("%v", err)
				}
			}
		}()
	}
	all.Wait()
}
