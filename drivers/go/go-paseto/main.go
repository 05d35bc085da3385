// The driver of aidanwoods.dev/go-paseto, which has versions 2 to 4. The parser is created once with
// the library's rules for expiry, issuer and audience. Its rule for `nbf` requires the claim, so it
// is applied only to tokens that have one.
package main

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"aidanwoods.dev/go-paseto"

	"jeton/harness"
)

func main() { harness.Serve(driver()) }

func driver() *harness.Driver {
	offer := func(format string, operations ...string) harness.Offer {
		both := []string{
			harness.OperationSign, harness.OperationVerify, harness.OperationRoundTrip, harness.OperationGenerateKey,
		}
		return harness.Offer{
			Format:      format,
			Operations:  append(both, operations...),
			KeyHandling: []string{harness.Prepared, harness.ParsedPerCall},
		}
	}
	var offers []harness.Offer
	for _, version := range []string{"v2", "v3", "v4"} {
		offers = append(offers, offer(version+".public"),
			offer(version+".local", harness.OperationEncrypt, harness.OperationDecrypt))
	}
	// The library reads keys as bytes and as hexadecimal, not as PASERK.
	offers = harness.LoadingKeys(offers, harness.FormHex)
	return &harness.Driver{
		Library:       "go-paseto",
		KnowsDefaults: true,
		Module:        "aidanwoods.dev/go-paseto",
		Offers:        offers,
		Sign:          sign,
		Verify:        verify,
		GenerateKey:   generateKey,
		LoadKey:       loadKey,
	}
}

// issuedClaims are the claims to sign. The times arrive as text and go into the token unchanged.
// The audience is a string in PASETO; an array is accepted too.
type issuedClaims struct {
	Issuer    string `json:"iss,omitempty"`
	Subject   string `json:"sub,omitempty"`
	Audience  any    `json:"aud,omitempty"`
	ExpiresAt string `json:"exp,omitempty"`
	NotBefore string `json:"nbf,omitempty"`
	IssuedAt  string `json:"iat,omitempty"`
	ID        string `json:"jti,omitempty"`
	Name      string `json:"name,omitempty"`
	Admin     bool   `json:"admin"`
}

func (c *issuedClaims) token() (*paseto.Token, error) {
	token := paseto.NewToken()
	for _, claim := range []struct{ name, value string }{
		{"iss", c.Issuer}, {"sub", c.Subject}, {"exp", c.ExpiresAt}, {"nbf", c.NotBefore},
		{"iat", c.IssuedAt}, {"jti", c.ID}, {"name", c.Name},
	} {
		if claim.value != "" {
			token.SetString(claim.name, claim.value)
		}
	}
	if c.Audience != nil {
		if err := token.Set("aud", c.Audience); err != nil {
			return nil, err
		}
	}
	return &token, token.Set("admin", c.Admin)
}

func sign(p *harness.Prepare) (*harness.Operation, error) {
	seal, err := harness.Key(p, func() (func(*paseto.Token) string, error) { return sealer(p) })
	if err != nil {
		return nil, err
	}
	token, err := tokens(p)
	if err != nil {
		return nil, err
	}
	return harness.Signing(p, func(index int) (string, error) {
		seal, err := seal()
		if err != nil {
			return "", err
		}
		token, err := token(index)
		if err != nil {
			return "", err
		}
		return seal(token), nil
	})
}

func sealer(p *harness.Prepare) (func(*paseto.Token) string, error) {
	kind := "secret"
	if strings.HasSuffix(p.Format, ".local") {
		kind = "local"
	}
	raw, err := p.PaserkBytes(kind)
	if err != nil {
		return nil, err
	}
	switch p.Format {
	case "v2.local":
		key, err := paseto.V2SymmetricKeyFromBytes(raw)
		return func(token *paseto.Token) string { return token.V2Encrypt(key) }, err
	case "v2.public":
		key, err := paseto.NewV2AsymmetricSecretKeyFromBytes(raw)
		return func(token *paseto.Token) string { return token.V2Sign(key) }, err
	case "v3.local":
		key, err := paseto.V3SymmetricKeyFromBytes(raw)
		return func(token *paseto.Token) string { return token.V3Encrypt(key, nil) }, err
	case "v3.public":
		key, err := paseto.NewV3AsymmetricSecretKeyFromBytes(raw)
		return func(token *paseto.Token) string { return token.V3Sign(key, nil) }, err
	case "v4.local":
		key, err := paseto.V4SymmetricKeyFromBytes(raw)
		return func(token *paseto.Token) string { return token.V4Encrypt(key, nil) }, err
	}
	key, err := paseto.NewV4AsymmetricSecretKeyFromBytes(raw)
	return func(token *paseto.Token) string { return token.V4Sign(key, nil) }, err
}

func generateKey(p *harness.Prepare) (*harness.Operation, error) {
	switch p.Format {
	case "v2.local":
		return making(paseto.NewV2SymmetricKey)
	case "v2.public":
		return making(paseto.NewV2AsymmetricSecretKey)
	case "v3.local":
		return making(paseto.NewV3SymmetricKey)
	case "v3.public":
		return making(paseto.NewV3AsymmetricSecretKey)
	case "v4.local":
		return making(paseto.NewV4SymmetricKey)
	}
	return making(paseto.NewV4AsymmetricSecretKey)
}

func loadKey(p *harness.Prepare) (*harness.Operation, error) {
	switch p.Format {
	case "v2.local":
		return loading(p, paseto.V2SymmetricKeyFromHex)
	case "v2.public":
		return loadingPair(p, paseto.NewV2AsymmetricSecretKeyFromHex, paseto.NewV2AsymmetricPublicKeyFromHex)
	case "v3.local":
		return loading(p, paseto.V3SymmetricKeyFromHex)
	case "v3.public":
		return loadingPair(p, paseto.NewV3AsymmetricSecretKeyFromHex, paseto.NewV3AsymmetricPublicKeyFromHex)
	case "v4.local":
		return loading(p, paseto.V4SymmetricKeyFromHex)
	}
	return loadingPair(p, paseto.NewV4AsymmetricSecretKeyFromHex, paseto.NewV4AsymmetricPublicKeyFromHex)
}

func loading[K any](p *harness.Prepare, load func(string) (K, error)) (*harness.Operation, error) {
	text := p.KeyText.Private
	return harness.MakingKeys(func() (K, error) { return load(text) })
}

type pair struct{ secret, public any }

func loadingPair[S, P any](p *harness.Prepare, secret func(string) (S, error), public func(string) (P, error)) (*harness.Operation, error) {
	text := p.KeyText
	return harness.MakingKeys(func() (pair, error) {
		key, err := secret(text.Private)
		if err != nil {
			return pair{}, err
		}
		open, err := public(text.Public)
		return pair{key, open}, err
	})
}

func making[K any](generate func() K) (*harness.Operation, error) {
	return harness.MakingKeys(func() (K, error) { return generate(), nil })
}

// tokens returns the function that makes the library's token from the claims at an index.
func tokens(p *harness.Prepare) (func(int) (*paseto.Token, error), error) {
	if p.TypedClaims() {
		values, err := harness.Issued[issuedClaims](p)
		return func(index int) (*paseto.Token, error) { return values[index].token() }, err
	}
	values, err := harness.IssuedMaps(p)
	return func(index int) (*paseto.Token, error) { return paseto.MakeToken(values[index], nil) }, err
}

// verifiedClaims are the claims of a verified token.
type verifiedClaims struct {
	Issuer, Subject                string
	Audience                       harness.Audience
	ExpiresAt, NotBefore, IssuedAt time.Time
	ID, Name                       string
	Admin                          bool

	token *paseto.Token
}

func verify(p *harness.Prepare) (*harness.Operation, error) {
	open, err := harness.Key(p, func() (func(paseto.Parser, string) (*paseto.Token, error), error) {
		return opener(p)
	})
	if err != nil {
		return nil, err
	}
	parser := parserOf(p)
	parse := func(text string) (*paseto.Token, error) {
		open, err := open()
		if err != nil {
			return nil, err
		}
		return open(parser, text)
	}

	if p.TypedClaims() {
		return harness.Verifying(p, func(text string) (*verifiedClaims, error) {
			token, err := parse(text)
			if err != nil {
				return nil, err
			}
			return read(token)
		}, func(claims *verifiedClaims) string {
			return claims.ID
		}, func(claims *verifiedClaims) any {
			return json.RawMessage(claims.token.ClaimsJSON())
		})
	}
	return harness.Verifying(p, func(text string) (map[string]any, error) {
		token, err := parse(text)
		if err != nil {
			return nil, err
		}
		return token.Claims(), nil
	}, harness.JTI, func(claims map[string]any) any { return claims })
}

func opener(p *harness.Prepare) (func(paseto.Parser, string) (*paseto.Token, error), error) {
	_, kind, _ := strings.Cut(p.Format, ".")
	raw, err := p.PaserkBytes(kind)
	if err != nil {
		return nil, err
	}
	switch p.Format {
	case "v2.local":
		key, err := paseto.V2SymmetricKeyFromBytes(raw)
		return func(parser paseto.Parser, text string) (*paseto.Token, error) {
			return parser.ParseV2Local(key, text)
		}, err
	case "v2.public":
		key, err := paseto.NewV2AsymmetricPublicKeyFromBytes(raw)
		return func(parser paseto.Parser, text string) (*paseto.Token, error) {
			return parser.ParseV2Public(key, text)
		}, err
	case "v3.local":
		key, err := paseto.V3SymmetricKeyFromBytes(raw)
		return func(parser paseto.Parser, text string) (*paseto.Token, error) {
			return parser.ParseV3Local(key, text, nil)
		}, err
	case "v3.public":
		key, err := paseto.NewV3AsymmetricPublicKeyFromBytes(raw)
		return func(parser paseto.Parser, text string) (*paseto.Token, error) {
			return parser.ParseV3Public(key, text, nil)
		}, err
	case "v4.local":
		key, err := paseto.V4SymmetricKeyFromBytes(raw)
		return func(parser paseto.Parser, text string) (*paseto.Token, error) {
			return parser.ParseV4Local(key, text, nil)
		}, err
	}
	key, err := paseto.NewV4AsymmetricPublicKeyFromBytes(raw)
	return func(parser paseto.Parser, text string) (*paseto.Token, error) {
		return parser.ParseV4Public(key, text, nil)
	}, err
}

func parserOf(p *harness.Prepare) paseto.Parser {
	parser := paseto.NewParser() // with the rule NotExpired, which requires `exp`
	if p.Defaults() {
		return parser
	}
	if !p.ExpiryRequired() {
		parser = paseto.MakeParser([]paseto.Rule{ifPresent("exp", paseto.NotExpired())})
	}
	parser.AddRule(ifPresent("nbf", paseto.NotBeforeNbf()))
	if p.Policy.Issuer != "" {
		parser.AddRule(paseto.IssuedBy(p.Policy.Issuer))
	}
	if p.Policy.Audience != "" {
		parser.AddRule(forAudience(p.Policy.Audience))
	}
	return parser
}

func ifPresent(claim string, rule paseto.Rule) paseto.Rule {
	return func(token paseto.Token) error {
		if absent(&token, claim) {
			return nil
		}
		return rule(token)
	}
}

// forAudience applies the library's rule. The rule rejects an `aud` that is an array, so an array
// is searched here.
func forAudience(audience string) paseto.Rule {
	rule := paseto.ForAudience(audience)
	return func(token paseto.Token) error {
		err := rule(token)
		var many []string
		if err != nil && token.Get("aud", &many) == nil && slices.Contains(many, audience) {
			return nil
		}
		return err
	}
}

func read(token *paseto.Token) (*verifiedClaims, error) {
	claims := &verifiedClaims{token: token}
	for _, claim := range []struct {
		name string
		into any
	}{
		{"iss", &claims.Issuer}, {"sub", &claims.Subject}, {"aud", &claims.Audience},
		{"exp", &claims.ExpiresAt}, {"nbf", &claims.NotBefore}, {"iat", &claims.IssuedAt},
		{"jti", &claims.ID}, {"name", &claims.Name}, {"admin", &claims.Admin},
	} {
		if err := token.Get(claim.name, claim.into); err != nil && !absent(token, claim.name) {
			return nil, err
		}
	}
	return claims, nil
}

func absent(token *paseto.Token, claim string) bool {
	var value json.RawMessage
	return token.Get(claim, &value) != nil
}
