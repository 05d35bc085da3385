package jeton_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

func TestMembersOfTheHeader(t *testing.T) {
	headers := jeton.WithHeaders(map[string]any{
		"x5t": "dGhlIHRodW1icHJpbnQh", "nonce": "n", "own": map[string]any{"a": []any{1, true, nil}}, "big": json.Number("9007199254740993"),
	})
	const members = `"big":9007199254740993,"nonce":"n","own":{"a":[1,true,null]},"x5t":"dGhlIHRodW1icHJpbnQh"`
	signing := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	remote := must(jeton.NewKeyFromSigner(must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), jeton.ES256))
	direct := must(jeton.GenerateKey(jeton.Direct, jeton.WithContentEncryption(jeton.A256GCM)))
	reader := must(jeton.GenerateKey(jeton.ECDHES))
	for name, row := range map[string]struct {
		key       *jeton.Key
		issuing   []jeton.IssuerOption
		verifying []jeton.VerifierOption
	}{
		"signed": {key: signing}, "secret": {key: secretKey()}, "crypto.Signer": {key: remote}, "encrypted": {key: direct},
		"nested": {signing, []jeton.IssuerOption{jeton.WithEncryption(reader)}, []jeton.VerifierOption{jeton.WithDecryption(reader)}},
	} {
		issuing := append(row.issuing, headers, jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithLifetime(time.Minute))
		token := must(must(jeton.NewIssuer(row.key, issuing...)).Issue(visit{}))
		verifier := namedVerifier(row.key, "i", row.verifying...)
		verified := must(jeton.Verify[visit](verifier, token))
		text := must(verified.Header())
		var header struct{ Alg, Kid, Typ string }
		if err := json.Unmarshal(text, &header); err != nil || !strings.Contains(string(text), members) ||
			header.Alg != string(verified.Algorithm()) || header.Kid != verified.KeyID() || header.Typ != verified.Type() {
			t.Errorf("%s: %s", name, text)
		}
		_ = verifier.Close()
		if _, err := verified.Header(); !errors.Is(err, jeton.ErrArgumentHandle) {
			t.Errorf("%s: closed: %v", name, err)
		}
	}
	signed := must(must(jeton.NewSigner(signing, headers)).Sign([]byte("{}")))
	if read := must(jeton.ReadUnverified(signed)); !strings.Contains(string(read.Header), members) {
		t.Errorf("bytes: %s", read.Header)
	}
	paseto, verifier := pair(must(jeton.GenerateKey(jeton.V4Public)))
	if header, err := must(jeton.Verify[visit](verifier, must(paseto.Issue(visit{})))).Header(); header != nil || err != nil {
		t.Errorf("PASETO: %s %v", header, err)
	}
	for name, token := range map[string]*jeton.Token{"nil": nil, "zero": {}} {
		if _, err := token.Header(); !errors.Is(err, jeton.ErrArgumentHandle) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMembersThatAreDecidedElsewhereAreRefused(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256))
	for _, name := range []string{"alg", "kid", "typ", "crit", "b64", "zip"} {
		_, err := jeton.NewIssuer(key, jeton.WithoutExpiry(), jeton.WithHeaders(map[string]any{name: "x"}))
		if !errors.Is(err, jeton.ErrInvalidOption) || !strings.Contains(err.Error(), "`WithHeaders`") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"not JSON": second(jeton.NewIssuer(key, jeton.WithoutExpiry(), jeton.WithHeaders(map[string]any{"a": func() {}}))),
		"PASETO":   second(jeton.NewIssuer(must(jeton.GenerateKey(jeton.V4Public)), jeton.WithoutExpiry(), jeton.WithHeaders(map[string]any{"a": 1}))),
		"twice":    second(jeton.NewIssuer(key, jeton.WithoutExpiry(), jeton.WithHeaders(map[string]any{"a": 1}), jeton.WithHeaders(map[string]any{"a": 2}))),
		"verifier": second(jeton.NewSignatureVerifier(key, jeton.WithHeaders(map[string]any{"a": 1}))),
	} {
		if !errors.Is(err, jeton.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A key of one issuer must not sign for another.
func TestSeveralIssuersShareKeysOnlyByName(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256))
	_, err := jeton.NewVerifier(key, jeton.WithIssuers("a", "b"), jeton.WithAudience("a"))
	if !errors.Is(err, jeton.ErrInvalidOption) || !strings.Contains(err.Error(), "`WithSharedKeys`") || !strings.Contains(err.Error(), "NewMultiIssuerVerifier") {
		t.Error(err)
	}
	verifier := must(jeton.NewVerifier(key, jeton.WithIssuers("a", "b"), jeton.WithSharedKeys(), jeton.WithAudience("a")))
	for _, name := range []string{"a", "b"} {
		must(jeton.Verify[visit](verifier, must(namedIssuer(key, name).Issue(visit{}))))
	}
	if _, err := jeton.NewVerifier(key, jeton.WithIssuer("a"), jeton.WithSharedKeys(), jeton.WithAudience("a")); !errors.Is(err, jeton.ErrInvalidOption) {
		t.Error(err)
	}
}
