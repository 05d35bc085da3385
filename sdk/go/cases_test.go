package jeton_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// skippedCases maps the cases that Go cannot run to the reason. It is empty.
var skippedCases = map[string]string{}

type caseKey struct {
	Data    string         `json:"data"`
	Options map[string]any `json:"options"`
}

type testCase struct {
	ID         string         `json:"id"`
	Do         string         `json:"do"`
	Key        *caseKey       `json:"key"`
	Keys       *caseKey       `json:"keys"`
	Issuers    []*testCase    `json:"issuers"`
	Decryption []caseKey      `json:"decryption"`
	Options    map[string]any `json:"options"`
	Now        *int64         `json:"now"`
	Token      string         `json:"token"`
	Content    *string        `json:"content"`
	Claims     string         `json:"claims"`
	Expect     expected       `json:"expect"`
}

type expected struct {
	Code       string   `json:"code"`
	JSON       string   `json:"json"`
	Header     string   `json:"header"`
	Alg        string   `json:"alg"`
	KeyID      string   `json:"kid"`
	Type       string   `json:"typ"`
	Footer     string   `json:"footer"`
	Issuer     string   `json:"issuer"`
	Subject    string   `json:"subject"`
	Audiences  []string `json:"audiences"`
	ExpiresAt  *int64   `json:"expires_at"`
	NotBefore  *int64   `json:"not_before"`
	IssuedAt   *int64   `json:"issued_at"`
	TokenID    string   `json:"token_id"`
	Payload    string   `json:"payload"`
	Token      string   `json:"token"`
	Kind       string   `json:"kind"`
	Thumbprint string   `json:"thumbprint"`
}

func TestCases(t *testing.T) {
	file, err := os.Open("../testdata/cases.jsonl")
	if err != nil {
		// A released module does not contain the cases.
		t.Skip("the cases are in the repository only")
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	count := 0
	for lines.Scan() {
		var one testCase
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		count++
		if why, ok := skippedCases[one.ID]; ok {
			t.Logf("skipped: %s: %s", one.ID, why)
			continue
		}
		t.Run(one.ID, func(t *testing.T) {
			found, err := one.run(t)
			if err != nil {
				var failed *jeton.Error
				if !errors.As(err, &failed) {
					t.Fatalf("not an error of the package: %v", err)
				}
				found = expected{Code: failed.Code.String()}
			}
			if !reflect.DeepEqual(found, one.Expect) {
				t.Errorf("found    %+v\nexpected %+v", found, one.Expect)
			}
		})
	}
	if err := lines.Err(); err != nil || count < 1000 {
		t.Fatalf("%d cases: %v", count, err)
	}
}

func (c *testCase) run(t *testing.T) (expected, error) {
	switch c.Do {
	case "verify":
		return c.verify(t)
	case "verify-bytes":
		return c.verifyBytes(t)
	case "unverified":
		return c.unverified()
	case "issue":
		return c.issue(t)
	case "import":
		return c.imported(t)
	}
	t.Fatalf("unknown action %s", c.Do)
	return expected{}, nil
}

func (k *caseKey) load(t *testing.T) (*jeton.Key, error) {
	alg := jeton.Algorithm("")
	var options []jeton.KeyOption
	secret := false
	for name, value := range k.Options {
		text, _ := value.(string)
		switch name {
		case "format":
			secret = text == "secret"
		case "alg":
			alg = jeton.Algorithm(text)
			options = append(options, jeton.WithAlgorithm(alg))
		case "enc":
			options = append(options, jeton.WithContentEncryption(jeton.Encryption(text)))
		case "kid":
			options = append(options, jeton.WithKeyID(text))
		case "password":
			options = append(options, jeton.WithPassword(text))
		default:
			t.Fatalf("unknown option %s", name)
		}
	}
	if secret {
		return jeton.NewSecret(alg, []byte(k.Data), options...)
	}
	return jeton.ParseKey([]byte(k.Data), options...)
}

func (c *testCase) keys(t *testing.T) (jeton.Keys, error) {
	if c.Key != nil {
		key, err := c.Key.load(t)
		return key, err
	}
	if c.Keys != nil {
		var options []jeton.KeySetOption
		for name, value := range c.Keys.Options {
			if name != "default_alg" {
				t.Fatalf("unknown option %s", name)
			}
			options = append(options, jeton.WithDefaultAlgorithm(jeton.Algorithm(value.(string))))
		}
		set, err := jeton.ParseKeySet([]byte(c.Keys.Data), options...)
		return set, err
	}
	return nil, nil
}

func (c *testCase) decryptionKeys(t *testing.T) ([]*jeton.Key, error) {
	var keys []*jeton.Key
	for _, one := range c.Decryption {
		key, err := one.load(t)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func (c *testCase) clock() func() time.Time {
	return func() time.Time { return time.Unix(*c.Now, 0) }
}

func texts(value any) []string {
	if one, ok := value.(string); ok {
		return []string{one}
	}
	var all []string
	for _, one := range value.([]any) {
		all = append(all, one.(string))
	}
	return all
}

func seconds(value any) time.Duration { return time.Duration(value.(float64)) * time.Second }

func limits(value any) jeton.Limits {
	text, _ := json.Marshal(value)
	var limits jeton.Limits
	_ = json.Unmarshal(text, &limits)
	return limits
}

func (c *testCase) verifier(t *testing.T) (*jeton.Verifier, error) {
	keys, err := c.keys(t)
	if err != nil {
		return nil, err
	}
	decryption, err := c.decryptionKeys(t)
	if err != nil {
		return nil, err
	}
	options := []jeton.VerifierOption{jeton.WithClock(c.clock())}
	if len(decryption) > 0 {
		options = append(options, jeton.WithDecryption(decryption...))
	}
	for name, value := range c.Options {
		switch name {
		case "format":
			// The key determines the format.
		case "issuer":
			options = append(options, jeton.WithIssuers(texts(value)...))
		case "shared_keys":
			options = append(options, jeton.WithSharedKeys())
		case "any_issuer":
			options = append(options, jeton.WithAnyIssuer())
		case "audience":
			options = append(options, jeton.WithAudience(texts(value)...))
		case "any_audience":
			options = append(options, jeton.WithAnyAudience())
		case "without_expiry":
			options = append(options, jeton.WithoutExpiry())
		case "typ":
			options = append(options, jeton.WithType(texts(value)...))
		case "access_tokens":
			options = append(options, jeton.WithAccessTokens())
		case "required":
			options = append(options, jeton.WithRequired(texts(value)...))
		case "leeway":
			options = append(options, jeton.WithLeeway(seconds(value)))
		case "max_age":
			options = append(options, jeton.WithMaxAge(seconds(value)))
		case "footer":
			options = append(options, jeton.WithFooter(value.(string)))
		case "implicit_assertion":
			options = append(options, jeton.WithImplicitAssertion(value.(string)))
		case "limits":
			options = append(options, jeton.WithLimits(limits(value)))
		default:
			t.Fatalf("unknown option %s", name)
		}
	}
	return jeton.NewVerifier(keys, options...)
}

// tokenVerifier returns a verifier for one issuer or several.
func (c *testCase) tokenVerifier(t *testing.T) (jeton.TokenVerifier, error) {
	if c.Issuers == nil {
		return c.verifier(t)
	}
	var verifiers []*jeton.Verifier
	for _, one := range c.Issuers {
		one.Now = c.Now
		verifier, err := one.verifier(t)
		if err != nil {
			return nil, err
		}
		verifiers = append(verifiers, verifier)
	}
	return jeton.NewMultiIssuerVerifier(verifiers...)
}

func (c *testCase) verify(t *testing.T) (expected, error) {
	verifier, err := c.tokenVerifier(t)
	if err != nil {
		return expected{}, err
	}
	verified, err := jeton.Verify[json.RawMessage](verifier, c.Token)
	if err != nil {
		return expected{}, err
	}
	if string(verified.Claims) != strings.TrimSpace(verified.JSON()) {
		t.Errorf("claims %s, text %s", verified.Claims, verified.JSON())
	}
	header, err := verified.Header()
	if err != nil {
		return expected{}, err
	}
	return expected{
		JSON: verified.JSON(), Header: string(header), Alg: string(verified.Algorithm()), KeyID: verified.KeyID(), Type: verified.Type(),
		Footer: verified.Footer(), Issuer: verified.Issuer(), Subject: verified.Subject(),
		Audiences: verified.Audience(), ExpiresAt: unix(verified.ExpiresAt()), NotBefore: unix(verified.NotBefore()),
		IssuedAt: unix(verified.IssuedAt()), TokenID: verified.ID(),
	}, nil
}

// unverified compares without the spaces around header and claims.
func (c *testCase) unverified() (expected, error) {
	read, err := jeton.ReadUnverified(c.Token)
	if err != nil {
		return expected{}, err
	}
	var footer any
	if read.Footer != "" {
		footer = read.Footer
	}
	found := must(json.Marshal(struct {
		Format string          `json:"format"`
		Header json.RawMessage `json:"header"`
		Claims json.RawMessage `json:"claims"`
		Footer any             `json:"footer"`
	}{read.Format, read.Header, read.Claims, footer}))
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(c.Expect.JSON)); err == nil {
		c.Expect.JSON = compact.String()
	}
	return expected{JSON: string(found)}, nil
}

func unix(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	seconds := at.Unix()
	return &seconds
}

func (c *testCase) verifyBytes(t *testing.T) (expected, error) {
	var options []jeton.BytesOption
	for name, value := range c.Options {
		switch name {
		case "format":
		case "serialization":
			options = append(options, jeton.WithSerialization(jeton.Serialization(value.(string))))
		case "limits":
			options = append(options, jeton.WithLimits(limits(value)))
		default:
			t.Fatalf("unknown option %s", name)
		}
	}
	payload := func(content []byte, err error) (expected, error) {
		return expected{Payload: base64.RawURLEncoding.EncodeToString(content)}, err
	}
	if c.Options["format"] == "jwe" {
		keys, err := c.decryptionKeys(t)
		if err != nil {
			return expected{}, err
		}
		set, err := jeton.NewKeySet(keys...)
		if err != nil {
			return expected{}, err
		}
		decrypter, err := jeton.NewDecrypter(set, options...)
		if err != nil {
			return expected{}, err
		}
		return payload(decrypter.Decrypt(c.Token))
	}
	keys, err := c.keys(t)
	if err != nil {
		return expected{}, err
	}
	verifier, err := jeton.NewSignatureVerifier(keys, options...)
	if err != nil {
		return expected{}, err
	}
	if c.Content == nil {
		return payload(verifier.Verify(c.Token))
	}
	content, err := base64.RawURLEncoding.DecodeString(*c.Content)
	if err != nil {
		t.Fatal(err)
	}
	return payload(content, verifier.VerifyDetached(c.Token, content))
}

func (c *testCase) issue(t *testing.T) (expected, error) {
	key, err := c.Key.load(t)
	if err != nil {
		return expected{}, err
	}
	options := []jeton.IssuerOption{jeton.WithClock(c.clock())}
	for name, value := range c.Options {
		switch name {
		case "issuer":
			options = append(options, jeton.WithIssuer(value.(string)))
		case "audience":
			options = append(options, jeton.WithAudience(texts(value)...))
		case "lifetime":
			options = append(options, jeton.WithLifetime(seconds(value)))
		case "issued_ago":
			options = append(options, jeton.WithIssuedAgo(seconds(value)))
		case "without_expiry":
			options = append(options, jeton.WithoutExpiry())
		case "access_tokens":
			options = append(options, jeton.WithAccessTokens())
		case "typ":
			options = append(options, jeton.WithType(value.(string)))
		case "headers":
			options = append(options, jeton.WithHeaders(value.(map[string]any)))
		default:
			t.Fatalf("unknown option %s", name)
		}
	}
	issuer, err := jeton.NewIssuer(key, options...)
	if err != nil {
		return expected{}, err
	}
	token, err := issuer.IssueJSON([]byte(c.Claims))
	return expected{Token: token}, err
}

func (c *testCase) imported(t *testing.T) (expected, error) {
	key, err := c.Key.load(t)
	if err != nil {
		return expected{}, err
	}
	kind := "public"
	if key.IsPrivate() {
		kind = "symmetric"
		if key.Public() != nil {
			kind = "private"
		}
	}
	thumbprint, err := key.Thumbprint()
	if errors.Is(err, jeton.ErrInvalidOption) {
		thumbprint, err = "", nil // a PASETO key has no thumbprint
	}
	if kind != "symmetric" && thumbprint != "" {
		checkCryptoKey(t, key, thumbprint)
	}
	return expected{
		Kind: kind, Alg: string(key.Algorithm()), KeyID: key.ID(), Thumbprint: thumbprint,
	}, err
}

// checkCryptoKey checks that the public key of the standard library is the same key.
func checkCryptoKey(t *testing.T, key *jeton.Key, thumbprint string) {
	public, err := key.CryptoPublicKey()
	if jeton.CodeOf(err) == jeton.CodeKeyUnsupported {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	again := must(jeton.NewKey(public, jeton.WithAlgorithm(key.Algorithm())))
	if found := must(again.Thumbprint()); found != thumbprint {
		t.Errorf("%T: %s, %s expected", public, found, thumbprint)
	}
}
