package jeton_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

const secretText = "a secret of the tests, 32 bytes or more"

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func secretKey() *jeton.Key { return must(jeton.NewSecret(jeton.HS256, []byte(secretText))) }

// pair returns a matching issuer and verifier.
func pair(key *jeton.Key, both ...jeton.Option) (*jeton.Issuer, *jeton.Verifier) {
	issuing := []jeton.IssuerOption{jeton.WithLifetime(time.Minute)}
	verifying := []jeton.VerifierOption{}
	for _, option := range append([]jeton.Option{jeton.WithIssuer("i"), jeton.WithAudience("a")}, both...) {
		issuing, verifying = append(issuing, option), append(verifying, option)
	}
	return must(jeton.NewIssuer(key, issuing...)), must(jeton.NewVerifier(key, verifying...))
}

type visit struct {
	Page  string `json:"page"`
	Count int    `json:"count,omitempty"`
}

func TestEveryAlgorithmIssuesAndVerifies(t *testing.T) {
	for _, alg := range []jeton.Algorithm{
		jeton.HS256, jeton.HS384, jeton.HS512, jeton.RS256, jeton.PS256, jeton.ES256, jeton.ES384, jeton.ES512,
		jeton.ES256K, jeton.EdDSA, jeton.Ed25519, jeton.MLDSA44,
		jeton.V3Local, jeton.V3Public, jeton.V4Local, jeton.V4Public,
	} {
		t.Run(string(alg), func(t *testing.T) {
			key := must(jeton.GenerateKey(alg))
			issuer, verifier := pair(key)
			verified := must(jeton.Verify[visit](verifier, must(issuer.Issue(visit{Page: "/", Count: 3}))))
			if verified.Claims != (visit{"/", 3}) || verified.Issuer() != "i" || verified.Algorithm() != key.Algorithm() {
				t.Errorf("found %+v of %s", verified.Claims, verified.Issuer())
			}
			if until := time.Until(verified.ExpiresAt()); until <= 0 || until > time.Minute {
				t.Errorf("expires in %s", until)
			}
		})
	}
}

func TestEncryptedAndNestedTokens(t *testing.T) {
	direct := must(jeton.GenerateKey(jeton.Direct, jeton.WithContentEncryption(jeton.A256GCM)))
	issuer, verifier := pair(direct)
	token := must(issuer.Issue(visit{Page: "/"}))
	if verified := must(jeton.Verify[visit](verifier, token)); verified.Claims.Page != "/" || strings.Count(token, ".") != 4 {
		t.Error("the encrypted token is wrong")
	}
	signing := must(jeton.GenerateKey(jeton.ES256))
	recipient := must(jeton.GenerateKey(jeton.ECDHES, jeton.WithCurve("X25519")))
	nested := must(jeton.NewIssuer(signing, jeton.WithEncryption(recipient.Public()), jeton.WithIssuer("i"),
		jeton.WithAudience("a"), jeton.WithLifetime(time.Minute), jeton.WithContentEncryption(jeton.A128CBCHS256)))
	token = must(nested.Issue(map[string]any{"page": strings.Repeat("long ", 5000)}))
	reading := must(jeton.NewVerifier(signing.Public(), jeton.WithDecryption(recipient), jeton.WithIssuer("i"),
		jeton.WithAudience("a"), jeton.WithContentEncryption(jeton.A128CBCHS256)))
	if verified := must(jeton.Verify[visit](reading, token)); len(verified.Claims.Page) != 25000 {
		t.Error("the nested token is wrong")
	}
	// A token that is only signed is rejected.
	signed, signedVerifier := pair(signing)
	if _, err := jeton.Verify[visit](reading, must(signed.Issue(visit{}))); !errors.Is(err, jeton.ErrTokenRejected) {
		t.Errorf("a signed token: %v", err)
	}
	if _, err := jeton.Verify[visit](signedVerifier, token); !errors.Is(err, jeton.ErrTokenRejected) {
		t.Errorf("a nested token: %v", err)
	}
	other := must(jeton.NewVerifier(signing.Public(), jeton.WithDecryption(recipient), jeton.WithIssuer("i"),
		jeton.WithAudience("a"), jeton.WithContentEncryption(jeton.A256GCM)))
	if _, err := jeton.Verify[visit](other, token); !errors.Is(err, jeton.ErrTokenEncryptionMismatch) {
		t.Errorf("another enc: %v", err)
	}
}

func TestBytes(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256))
	content := []byte("any\x00content")
	signer := must(jeton.NewSigner(key, jeton.WithType("T"), jeton.WithContentType("text/plain")))
	verifier := must(jeton.NewSignatureVerifier(key.Public()))
	if found := must(verifier.Verify(must(signer.Sign(content)))); string(found) != string(content) {
		t.Errorf("found %q", found)
	}
	detached := must(jeton.NewSigner(key, jeton.WithDetached(), jeton.WithSerialization(jeton.Flattened)))
	reading := must(jeton.NewSignatureVerifier(key, jeton.WithSerialization(jeton.Flattened)))
	token := must(detached.Sign(content))
	if err := reading.VerifyDetached(token, content); err != nil {
		t.Error(err)
	}
	if err := reading.VerifyDetached(token, []byte("other")); !errors.Is(err, jeton.ErrTokenInvalidSignature) {
		t.Error(err)
	}
	empty := must(must(jeton.NewSigner(key, jeton.WithDetached())).Sign(nil))
	if err := verifier.VerifyDetached(empty, nil); err != nil {
		t.Error(err)
	}
	wrapping := must(jeton.GenerateKey(jeton.A256KW))
	encrypter := must(jeton.NewEncrypter(wrapping, jeton.WithContentEncryption(jeton.A256GCM)))
	decrypter := must(jeton.NewDecrypter(wrapping))
	if found := must(decrypter.Decrypt(must(encrypter.Encrypt(content)))); string(found) != string(content) {
		t.Errorf("found %q", found)
	}
}

func TestKeys(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	again := must(jeton.ParseKey(must(key.InsecurePEM()), jeton.WithAlgorithm(jeton.ES256), jeton.WithKeyID("k1")))
	if must(again.Thumbprint()) != must(key.Thumbprint()) || again.ID() != "k1" || !again.IsPrivate() {
		t.Error("the key changed")
	}
	public := must(jeton.ParseKey(must(key.JWK())))
	if public.IsPrivate() || public.ID() != "k1" || public.Algorithm() != jeton.ES256 {
		t.Errorf("found %s", public)
	}
	set := must(jeton.NewKeySet(key, must(jeton.GenerateKey(jeton.RS256, jeton.WithKeyID("k2"), jeton.WithRSABits(2048)))))
	text := must(set.JWKS())
	if strings.Contains(string(text), `"d"`) {
		t.Error("the set has a private key")
	}
	read := must(jeton.ParseKeySet(text, jeton.WithPublishedKeys()))
	if ids := must(read.IDs()); fmt.Sprint(ids) != "[k1 k2]" {
		t.Errorf("ids %v", ids)
	}
	issuer, _ := pair(key)
	verifier := must(jeton.NewVerifier(read, jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithCache(16)))
	token := must(issuer.Issue(visit{Page: "/"}))
	for range 3 {
		if verified := must(jeton.Verify[visit](verifier, token)); verified.KeyID() != "k1" {
			t.Errorf("kid %s", verified.KeyID())
		}
	}
	local := must(jeton.ParseKey(must(must(jeton.GenerateKey(jeton.V4Local)).InsecurePASERK())))
	if !strings.HasPrefix(local.ID(), "k4.lid.") || local.Algorithm() != jeton.V4Local {
		t.Errorf("found %s", local)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	key := secretKey()
	issuer, verifier := pair(key)
	verified := must(jeton.Verify[visit](verifier, must(issuer.Issue(visit{Page: "/private"}))))
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("values", "key", key, "issuer", issuer, "verified", verified, "claims", &verified.Token)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		log.WriteString(fmt.Sprintf(verb, key))
		log.WriteString(fmt.Sprintf(verb, verified))
		log.WriteString(fmt.Sprintf(verb, *key))
	}
	text := log.String() + string(must(json.Marshal(map[string]any{"key": key})))
	for _, hidden := range []string{secretText, "private", "612073656372"} {
		if strings.Contains(text, hidden) {
			t.Errorf("%q is printed: %s", hidden, text)
		}
	}
	if !strings.Contains(text, "jeton.Key(HS256, symmetric)") {
		t.Error(text)
	}
}

func TestExactCase(t *testing.T) {
	type inner struct {
		Role string `json:"role,omitempty"`
	}
	type claims struct {
		Admin bool             `json:"admin,omitempty"`
		User  inner            `json:"user,omitzero"`
		List  []inner          `json:"list,omitempty"`
		Map   map[string]inner `json:"map,omitempty"`
		Kilo  string           `json:"kilo,omitempty"`
		Plain string           `json:",omitempty"`
	}
	issuer, verifier := pair(secretKey())
	for _, text := range []string{
		`{"ADMIN":true}`, `{"Admin":true,"x":1}`, `{"x":1,"aDmin":true}`, `{"\u0041dmin":true}`,
		`{"user":{"ROLE":"root"}}`, `{"list":[{"Role":"root"},{"ROLE":"root"}]}`, `{"map":{"a":{"Role":"root"}}}`,
		`{"USER":{"role":"root"}}`, `{"plain":"x","PLAIN":"y"}`, "{\"\u212Ailo\":\"x\"}", `{"ADMIN":true , "Admin" : true , "aDMIN":true}`,
	} {
		verified, err := jeton.Verify[claims](verifier, must(issuer.IssueJSON([]byte(text))))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		found := verified.Claims
		found.List, found.Map = nil, nil
		if found.Admin || found.User.Role != "" || found.Plain != "" || found.Kilo != "" {
			t.Errorf("%s: found %+v", text, found)
		}
		for _, one := range verified.Claims.List {
			if one.Role != "" {
				t.Errorf("%s: found %+v", text, one)
			}
		}
		if verified.Claims.Map["a"].Role != "" {
			t.Errorf("%s: found %+v", text, verified.Claims.Map)
		}
	}
	text := `{"ADMIN":true,"admin":false,"user":{"Role":"x","role":"reader"},"Plain":"p","User":{"role":"root"}}`
	found := must(jeton.Verify[claims](verifier, must(issuer.IssueJSON([]byte(text))))).Claims
	if found.Admin || found.User.Role != "reader" || found.Plain != "p" {
		t.Errorf("found %+v", found)
	}
}

func TestClaimsOfAnotherType(t *testing.T) {
	issuer, verifier := pair(secretKey())
	partial := must(jeton.NewVerifier(secretKey(), jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithMissingFields()))
	for _, claims := range []string{`{}`, `{"other":1}`, `{"page":null}`, `{"PAGE":"/"}`} {
		token := must(issuer.IssueJSON([]byte(claims)))
		if _, err := jeton.Verify[visit](verifier, token); !errors.Is(err, jeton.ErrTokenClaimsShape) || !strings.Contains(err.Error(), "`page`") {
			t.Errorf("%s: %v", claims, err)
		}
		if verified := must(jeton.Verify[visit](partial, token)); verified.Claims.Page != "" {
			t.Errorf("%s: found %+v", claims, verified.Claims)
		}
	}
}

func TestNumbersAreNotRounded(t *testing.T) {
	issuer, verifier := pair(secretKey())
	exact := must(jeton.NewVerifier(secretKey(), jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithNumbers()))
	type typed struct{ N int64 }
	type float struct{ N float64 }
	token := must(issuer.IssueJSON([]byte(`{"N":9007199254740993}`)))
	if found := must(jeton.Verify[typed](verifier, token)); found.Claims.N != 9007199254740993 {
		t.Errorf("found %d", found.Claims.N)
	}
	if found := must(jeton.Verify[map[string]any](exact, token)); found.Claims["N"] != json.Number("9007199254740993") {
		t.Errorf("found %v", found.Claims)
	}
	_, err := jeton.Verify[map[string]any](verifier, token)
	if !errors.Is(err, jeton.ErrTokenClaimsShape) || !strings.Contains(err.Error(), "the claims have an integer") {
		t.Errorf("a map: %v", err)
	}
	if _, err := jeton.Verify[float](verifier, token); !errors.Is(err, jeton.ErrTokenClaimsShape) {
		t.Errorf("a float: %v", err)
	}
	token = must(issuer.IssueJSON([]byte(`{"N":9007199254740992}`)))
	if found := must(jeton.Verify[map[string]any](verifier, token)); found.Claims["N"] != 9007199254740992.0 {
		t.Errorf("found %v", found.Claims)
	}
}

func TestRegisteredClaimsInTheType(t *testing.T) {
	issuer, verifier := pair(secretKey())
	type claims struct {
		jeton.Registered
		Page string `json:"page"`
	}
	token := must(issuer.Issue(claims{jeton.Registered{Subject: "user-7", ID: "t1"}, "/"}))
	found := must(jeton.Verify[claims](verifier, token))
	if found.Claims.Subject != "user-7" || found.Subject() != "user-7" || found.Claims.Issuer != "i" ||
		len(found.Claims.Audience) != 1 || found.Claims.ExpiresAt.Time() != found.ExpiresAt() || found.Claims.Page != "/" {
		t.Errorf("found %+v", found.Claims)
	}
	// Custom claims, with registered claims at any position and spaces.
	for _, text := range []string{
		` { "sub" : "s" , "page" : "/" , "jti" : "x" } `, `{"page":"/","sub":"s"}`, `{"sub":"s","jti":"\u0041","page":"/"}`,
	} {
		found := must(jeton.Verify[visit](verifier, must(issuer.IssueJSON([]byte(text)))))
		if found.Claims.Page != "/" || found.Subject() != "s" {
			t.Errorf("%s: found %+v", text, found.Claims)
		}
	}
}

func TestClaimsThatDoNotMarshal(t *testing.T) {
	issuer, verifier := pair(secretKey())
	type cycle struct{ Next *cycle }
	round := &cycle{}
	round.Next = round
	for _, claims := range []any{make(chan int), math.NaN(), func() {}, round, map[bool]int{true: 1}, failing{}} {
		if _, err := issuer.Issue(claims); !errors.Is(err, jeton.ErrClaimsNotSerializable) {
			t.Errorf("%T: %v", claims, err)
		}
	}
	for _, claims := range []any{nil, 1, "text", []int{1}, (*visit)(nil)} {
		if _, err := issuer.Issue(claims); !errors.Is(err, jeton.ErrClaimsNotAnObject) {
			t.Errorf("%T: %v", claims, err)
		}
	}
	// The issuer still works.
	if _, err := jeton.Verify[visit](verifier, must(issuer.Issue(visit{}))); err != nil {
		t.Error(err)
	}
	_, err := jeton.Verify[struct {
		Page int `json:"page"`
	}](verifier, must(issuer.Issue(visit{Page: "a-private-page"})))
	if !errors.Is(err, jeton.ErrTokenClaimsShape) || !strings.Contains(err.Error(), "`page`") || strings.Contains(err.Error(), "private") {
		t.Errorf("wrong type: %v", err)
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

func TestOtherEncoderAndDecoder(t *testing.T) {
	key := secretKey()
	issuer := must(jeton.NewIssuer(key, jeton.WithoutExpiry(), jeton.WithEncoder(func(claims any) ([]byte, error) {
		return []byte(`{"by":"encoder"}`), nil
	})))
	var read string
	verifier := must(jeton.NewVerifier(key, jeton.WithAnyIssuer(), jeton.WithAnyAudience(), jeton.WithoutExpiry(),
		jeton.WithDecoder(func(text []byte, into any) error {
			read = string(text)
			return json.Unmarshal(text, into)
		})))
	found := must(jeton.Verify[map[string]any](verifier, must(issuer.Issue(nil))))
	if found.Claims["by"] != "encoder" || !strings.Contains(read, "encoder") {
		t.Errorf("found %v, read %s", found.Claims, read)
	}
}

func TestClockAndExpiry(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	issuer, verifier := pair(secretKey(), jeton.WithClock(func() time.Time { return now }))
	token := must(issuer.Issue(visit{}))
	if _, err := jeton.Verify[visit](verifier, token); err != nil {
		t.Error(err)
	}
	now = now.Add(time.Minute)
	_, err := jeton.Verify[visit](verifier, token)
	var failed *jeton.Error
	if !errors.Is(err, jeton.ErrTokenExpired) || !errors.As(err, &failed) || failed.Code != jeton.CodeTokenExpired ||
		!errors.Is(err, jeton.ErrTokenRejected) || errors.Is(err, jeton.ErrTokenInvalidSignature) {
		t.Errorf("expired: %v", err)
	}
	if jeton.CodeOf(err).String() != "TOKEN_EXPIRED" {
		t.Error(jeton.CodeOf(err))
	}
}
