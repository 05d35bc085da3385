package jeton_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// A second value must not replace the first requirement.
func TestOptionSetTwiceIsAnError(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256))
	other := must(jeton.GenerateKey(jeton.ECDHES))
	for name, options := range map[string][]jeton.VerifierOption{
		"issuer":       {jeton.WithIssuer("a"), jeton.WithIssuer("b"), jeton.WithAnyAudience()},
		"issuers":      {jeton.WithIssuer("a"), jeton.WithIssuers("b", "c"), jeton.WithAnyAudience()},
		"any issuer":   {jeton.WithIssuer("a"), jeton.WithAnyIssuer(), jeton.WithAnyAudience()},
		"audience":     {jeton.WithAnyIssuer(), jeton.WithAudience("a"), jeton.WithAudience("b")},
		"any audience": {jeton.WithAnyIssuer(), jeton.WithAudience("a"), jeton.WithAnyAudience()},
		"typ":          {jeton.WithAnyIssuer(), jeton.WithAnyAudience(), jeton.WithType("a"), jeton.WithType("b")},
		"leeway":       {jeton.WithAnyIssuer(), jeton.WithAnyAudience(), jeton.WithLeeway(0), jeton.WithLeeway(time.Hour)},
		"decryption":   {jeton.WithAnyIssuer(), jeton.WithAnyAudience(), jeton.WithDecryption(other), jeton.WithDecryption(other)},
		"clock":        {jeton.WithAnyIssuer(), jeton.WithAnyAudience(), jeton.WithClock(time.Now), jeton.WithClock(time.Now)},
	} {
		if _, err := jeton.NewVerifier(key, options...); !errors.Is(err, jeton.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := jeton.NewIssuer(key, jeton.WithLifetime(time.Minute), jeton.WithLifetime(time.Hour))
	if !errors.Is(err, jeton.ErrInvalidOption) {
		t.Error(err)
	}
}

func TestRequiredClaimsAddUp(t *testing.T) {
	issuer, _ := pair(secretKey())
	token := must(issuer.Issue(visit{Page: "/"}))
	options := []jeton.VerifierOption{jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithRequired("nope"), jeton.WithRequired("page")}
	verifier := must(jeton.NewVerifier(secretKey(), options...))
	if _, err := jeton.Verify[visit](verifier, token); !errors.Is(err, jeton.ErrTokenInvalidClaims) {
		t.Error(err)
	}
}

func TestUnusedOptionIsAnError(t *testing.T) {
	public := must(jeton.GenerateKey(jeton.ES256)).Public()
	for name, options := range map[string][]jeton.BytesOption{
		"WithDetached": {jeton.WithDetached()}, "WithUnencoded": {jeton.WithUnencoded()},
		"WithContentType":   {jeton.WithContentType("text/plain")},
		"WithSerialization": {jeton.WithSerialization(jeton.Flattened)},
	} {
		if _, err := jeton.NewSigner(public, options...); !errors.Is(err, jeton.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "WithSerialization" {
			continue
		}
		if _, err := jeton.NewSignatureVerifier(public, options...); !errors.Is(err, jeton.ErrInvalidOption) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s of a verifier: %v", name, err)
		}
	}
	paseto := must(jeton.GenerateKey(jeton.V4Public))
	_, err := jeton.NewVerifier(paseto, jeton.WithAnyIssuer(), jeton.WithAnyAudience(), jeton.WithType("at+jwt"))
	if !errors.Is(err, jeton.ErrInvalidOption) {
		t.Errorf("typ of a PASETO: %v", err)
	}
}

func TestCryptoSignerSignsBytes(t *testing.T) {
	private := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	key := must(jeton.NewKeyFromSigner(private, jeton.ES256))
	token := must(must(jeton.NewSigner(key)).Sign([]byte("hello")))
	if content := must(must(jeton.NewSignatureVerifier(key)).Verify(token)); string(content) != "hello" {
		t.Errorf("%s", content)
	}
	reader := must(jeton.GenerateKey(jeton.ECDHES))
	_, err := jeton.NewIssuer(key, jeton.WithLifetime(time.Minute), jeton.WithEncryption(reader))
	if !errors.Is(err, jeton.ErrInvalidOption) || !strings.Contains(err.Error(), "NewEncrypter") {
		t.Error(err)
	}
	// A nested JWT in two steps, as in the message.
	issuer := must(jeton.NewIssuer(key, jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithLifetime(time.Minute)))
	encrypter := must(jeton.NewEncrypter(reader, jeton.WithContentType("JWT")))
	nested := must(encrypter.Encrypt([]byte(must(issuer.Issue(visit{Page: "/"})))))
	verifier := must(jeton.NewVerifier(key, jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithDecryption(reader)))
	must(jeton.Verify[visit](verifier, nested))
	// The rules for access tokens also hold for keys of a crypto.Signer.
	access := must(jeton.NewIssuer(key, jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithLifetime(time.Minute), jeton.WithAccessTokens()))
	if _, err := access.Issue(visit{}); !errors.Is(err, jeton.ErrAccessTokenClaimMissing) {
		t.Error(err)
	}
}

func TestTokenDoesNotRevealItsClaims(t *testing.T) {
	issuer, verifier := pair(secretKey())
	verified := must(jeton.Verify[visit](verifier, must(issuer.Issue(visit{Page: "secret-page"}))))
	var logged strings.Builder
	logger := slog.New(slog.NewJSONHandler(&logged, nil))
	logger.Info("x", "pointer", verified, "value", *verified, "token", verified.Token)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		logged.WriteString(fmt.Sprintf(verb+verb+verb, verified, *verified, verified.Token))
	}
	if strings.Contains(logged.String(), "secret-page") {
		t.Error(logged.String())
	}
}

func TestFloat32IsNotRounded(t *testing.T) {
	issuer, verifier := pair(secretKey())
	type small struct {
		N float32 `json:"n"`
	}
	token := must(issuer.IssueJSON([]byte(`{"n":16777217}`)))
	_, err := jeton.Verify[small](verifier, token)
	if !errors.Is(err, jeton.ErrTokenClaimsShape) || !strings.Contains(err.Error(), "the claim `n` is an integer") {
		t.Error(err)
	}
	must(jeton.Verify[small](verifier, must(issuer.IssueJSON([]byte(`{"n":16777218}`)))))
}

// A caller knows options, and not the settings of the native library.
func TestMessagesNameOptions(t *testing.T) {
	secret := must(jeton.GenerateKey(jeton.HS256))
	paseto := must(jeton.GenerateKey(jeton.V4Public))
	remote := must(jeton.NewRemoteKeySet("https://id.example/jwks.json"))
	policy := []jeton.VerifierOption{jeton.WithAnyIssuer(), jeton.WithAnyAudience()}
	for expected, create := range map[string]func() error{
		"option `WithIssuer`: required unless `WithAnyIssuer` is set": func() error {
			_, err := jeton.NewVerifier(secret, jeton.WithAnyAudience())
			return err
		},
		"option `WithAccessTokens`: does not apply to a PASETO": func() error {
			_, err := jeton.NewVerifier(paseto, append(policy, jeton.WithAccessTokens())...)
			return err
		},
		"option `WithDecryption`: not used with a remote key set": func() error {
			_, err := jeton.NewVerifier(remote, append(policy, jeton.WithDecryption(secret))...)
			return err
		},
		"option `WithType`: must be one text": func() error {
			_, err := jeton.NewIssuer(secret, jeton.WithLifetime(time.Minute), jeton.WithType("a", "b"))
			return err
		},
		"option `WithClock`: already set": func() error {
			clock := jeton.WithClock(time.Now)
			_, err := jeton.NewVerifier(secret, append(policy, clock, clock)...)
			return err
		},
		"option `WithClock`: the function is nil": func() error {
			_, err := jeton.NewIssuer(secret, jeton.WithoutExpiry(), jeton.WithClock(nil))
			return err
		},
		"a PASETO key cannot sign a JWS": func() error {
			_, err := jeton.NewSigner(paseto)
			return err
		},
		"a remote key set verifies JWTs only": func() error {
			_, err := jeton.NewSignatureVerifier(remote)
			return err
		},
	} {
		if err := create(); err == nil || !strings.HasSuffix(err.Error(), expected) {
			t.Errorf("%v, expected %s", err, expected)
		}
	}
}
