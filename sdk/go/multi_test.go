package jeton_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// namedIssuer issues tokens with this name.
func namedIssuer(key *jeton.Key, name string) *jeton.Issuer {
	return must(jeton.NewIssuer(key, jeton.WithIssuer(name), jeton.WithAudience("a"), jeton.WithLifetime(time.Minute)))
}

func namedVerifier(keys jeton.Keys, name string, options ...jeton.VerifierOption) *jeton.Verifier {
	return must(jeton.NewVerifier(keys, append(options, jeton.WithIssuer(name), jeton.WithAudience("a"))...))
}

func TestMultiIssuerVerifierUsesTheKeysAndThePolicyOfTheIssuer(t *testing.T) {
	a, b := must(jeton.GenerateKey(jeton.ES256)), must(jeton.GenerateKey(jeton.ES256))
	verifier := must(jeton.NewMultiIssuerVerifier(
		namedVerifier(a.Public(), "https://a.example"),
		namedVerifier(must(jeton.NewKeySet(b)), "https://b.example", jeton.WithRequired("page")),
	))
	for _, row := range []struct {
		issuer *jeton.Issuer
		claims string
		code   jeton.Code
	}{
		{namedIssuer(a, "https://a.example"), `{}`, 0},
		{namedIssuer(b, "https://b.example"), `{"page":"/"}`, 0},
		{namedIssuer(b, "https://b.example"), `{}`, jeton.CodeTokenInvalidClaims},
		{namedIssuer(a, "https://b.example"), `{"page":"/"}`, jeton.CodeTokenInvalidSignature},
		{namedIssuer(b, "https://a.example"), `{}`, jeton.CodeTokenInvalidSignature},
		{namedIssuer(a, "https://a.example/"), `{}`, jeton.CodeTokenIssuerMismatch},
		{namedIssuer(a, "https://A.example"), `{}`, jeton.CodeTokenIssuerMismatch},
		{namedIssuer(a, ""), `{}`, jeton.CodeTokenIssuerMismatch},
		// The claim ISS selects nothing.
		{namedIssuer(a, "https://a.example"), `{"ISS":"https://b.example","Iss":7}`, 0},
		{must(jeton.NewIssuer(a, jeton.WithLifetime(time.Minute))), `{"ISS":"https://a.example"}`, jeton.CodeTokenInvalidClaims},
	} {
		verified, err := jeton.Verify[map[string]any](verifier, must(row.issuer.IssueJSON([]byte(row.claims))))
		if jeton.CodeOf(err) != row.code || err == nil && verified.Issuer() == "" {
			t.Errorf("%s: %v", row.claims, err)
		}
		if err != nil && !errors.Is(err, jeton.ErrTokenRejected) {
			t.Errorf("%s: not a rejection: %v", row.claims, err)
		}
	}
	direct := must(jeton.GenerateKey(jeton.Direct, jeton.WithContentEncryption(jeton.A256GCM)))
	paseto := must(jeton.GenerateKey(jeton.V4Public))
	for name, token := range map[string]string{
		"empty": "", "text": "no token", "JWE": must(namedIssuer(direct, "https://a.example").Issue(visit{})),
		"PASETO": must(namedIssuer(paseto, "https://a.example").Issue(visit{})),
	} {
		if _, err := jeton.Verify[visit](verifier, token); !errors.Is(err, jeton.ErrTokenMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnknownIssuerCausesNoRequest(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	server := newIdentityServer(t, key)
	keys := must(jeton.DiscoverKeySet(server.URL, jeton.WithPrivateAddresses()))
	localKey := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	local := namedVerifier(localKey, "https://local.example")
	verifier := must(jeton.NewMultiIssuerVerifier(namedVerifier(keys, server.URL), local))
	for range 3 {
		_, err := jeton.Verify[visit](verifier, must(namedIssuer(key, "https://unknown.example").Issue(visit{})))
		if !errors.Is(err, jeton.ErrTokenIssuerMismatch) {
			t.Error(err)
		}
	}
	if _, err := jeton.Verify[visit](verifier, must(namedIssuer(key, "https://local.example").Issue(visit{}))); err == nil {
		t.Error("a key signs for another issuer")
	}
	if server.discoveries.Load() != 0 || server.sets.Load() != 0 {
		t.Errorf("%d discoveries, %d sets", server.discoveries.Load(), server.sets.Load())
	}
	must(jeton.Verify[visit](verifier, must(namedIssuer(key, server.URL).Issue(visit{Page: "/"}))))
	for issuer, key := range map[string]*jeton.Key{server.URL: localKey, "https://local.example": key} {
		if _, err := jeton.Verify[visit](verifier, must(namedIssuer(key, issuer).Issue(visit{}))); !errors.Is(err, jeton.ErrTokenInvalidSignature) {
			t.Errorf("%s: %v", issuer, err)
		}
	}
	if server.sets.Load() != 1 {
		t.Errorf("%d sets", server.sets.Load())
	}
}

func TestMultiIssuerVerifierRefusesOtherVerifiers(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256))
	direct := must(jeton.GenerateKey(jeton.Direct, jeton.WithContentEncryption(jeton.A256GCM)))
	a, any := namedVerifier(key, "a"), jeton.WithAnyAudience()
	for name, one := range map[string]struct {
		verifiers []*jeton.Verifier
		code      jeton.Code
		text      string
	}{
		"none":       {nil, jeton.CodeInvalidOption, "at least one verifier"},
		"nil":        {[]*jeton.Verifier{a, nil}, jeton.CodeArgumentHandle, "verifier 2 of 2: nil"},
		"zero":       {[]*jeton.Verifier{{}}, jeton.CodeArgumentHandle, "verifier 1 of 1: nil or zero"},
		"twice":      {[]*jeton.Verifier{a, namedVerifier(key, "b"), namedVerifier(key, "a")}, jeton.CodeIssuerTwice, "verifier 3 of 3"},
		"the same":   {[]*jeton.Verifier{a, a}, jeton.CodeIssuerTwice, "verifier 2 of 2"},
		"any issuer": {[]*jeton.Verifier{must(jeton.NewVerifier(key, any, jeton.WithAnyIssuer()))}, jeton.CodeIssuerNotChosen, "WithIssuer"},
		"two": {[]*jeton.Verifier{must(jeton.NewVerifier(key, any, jeton.WithIssuers("a", "b"), jeton.WithSharedKeys()))},
			jeton.CodeInvalidOption, "2 issuers, one expected"},
		"PASETO":    {[]*jeton.Verifier{namedVerifier(must(jeton.GenerateKey(jeton.V4Public)), "a")}, jeton.CodeInvalidOption, "signed JWTs expected"},
		"encrypted": {[]*jeton.Verifier{namedVerifier(direct, "a")}, jeton.CodeInvalidOption, "signed JWTs expected"},
		"nested": {[]*jeton.Verifier{namedVerifier(key, "a", jeton.WithDecryption(must(jeton.GenerateKey(jeton.ECDHES))))},
			jeton.CodeInvalidOption, "signed JWTs expected"},
	} {
		_, err := jeton.NewMultiIssuerVerifier(one.verifiers...)
		if jeton.CodeOf(err) != one.code || !strings.Contains(err.Error(), one.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	token := must(namedIssuer(key, "a").Issue(visit{}))
	closed := must(jeton.NewMultiIssuerVerifier(a))
	_ = a.Close()
	for name, verifier := range map[string]jeton.TokenVerifier{
		"interface": nil, "nil": (*jeton.MultiIssuerVerifier)(nil), "zero": &jeton.MultiIssuerVerifier{}, "closed": closed,
	} {
		if _, err := jeton.Verify[visit](verifier, token); !errors.Is(err, jeton.ErrArgumentHandle) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadUnverified(t *testing.T) {
	issuer := namedIssuer(must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1"))), "https://a.example")
	token := must(issuer.IssueJSON([]byte(`{"page":"/private","n":9007199254740993,"ISS":"https://b.example"}`)))
	token = token[:strings.LastIndex(token, ".")+1] + "AAAA" // the signature does not count
	read := must(jeton.ReadUnverified(token))
	if read.Format != "jwt" || read.Issuer() != "https://a.example" || !strings.Contains(string(read.Header), `"kid":"k1"`) ||
		!strings.Contains(string(read.Claims), `"n":9007199254740993`) || read.Footer != "" {
		t.Errorf("%s %s %s", read.Format, read.Header, read.Claims)
	}
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "pointer", read, "value", *read)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		logged.WriteString(fmt.Sprintf(verb+verb, read, *read))
	}
	if strings.Contains(logged.String(), "private") || strings.Contains(logged.String(), "70726976617465") {
		t.Error(logged.String())
	}
	direct := must(jeton.GenerateKey(jeton.Direct, jeton.WithContentEncryption(jeton.A256GCM)))
	read = must(jeton.ReadUnverified(must(namedIssuer(direct, "https://a.example").Issue(visit{}))))
	if read.Format != "jwe" || read.Claims != nil || read.Issuer() != "" || !strings.Contains(string(read.Header), "A256GCM") {
		t.Errorf("%s %s %s", read.Format, read.Header, read.Claims)
	}
	paseto := must(jeton.NewIssuer(must(jeton.GenerateKey(jeton.V4Public)), jeton.WithLifetime(time.Minute), jeton.WithFooter("f"), jeton.WithIssuer("i")))
	read = must(jeton.ReadUnverified(must(paseto.Issue(visit{}))))
	if read.Format != "paseto" || read.Header != nil || read.Issuer() != "i" || read.Footer != "f" {
		t.Errorf("%s %s %s", read.Format, read.Header, read.Claims)
	}
	if (*jeton.UnverifiedToken)(nil).Issuer() != "" {
		t.Error("nil has an issuer")
	}
	for _, text := range []string{"", "a.b.c", base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256"}`)) + "..", strings.Repeat("a", 10<<20)} {
		if _, err := jeton.ReadUnverified(text); !errors.Is(err, jeton.ErrTokenRejected) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}
