// Package harness is the part of a Go driver that all libraries share. It speaks the driver
// protocol (drivers/PROTOCOL.md), turns keys and claims into Go values, and times the operation
// that a driver prepared.
//
// A driver is one file: it fills in a [Driver] and calls [Serve].
package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The operations that a Go driver can offer.
const (
	OperationSign            = "sign"
	OperationVerify          = "verify"
	OperationVerifySignature = "verify-signature"
	OperationVerifyParsed    = "verify-parsed"
	OperationEncrypt         = "encrypt"
	OperationDecrypt         = "decrypt"
	OperationRoundTrip       = "round-trip"
	OperationGenerateKey     = "generate-key"
	OperationLoadKey         = "load-key"
)

// The forms of a key's text.
const (
	FormJWK    = "jwk"
	FormPEM    = "pem"
	FormPaserk = "paserk"
	FormHex    = "hex"
)

// The two ways to handle keys.
const (
	Prepared      = "prepared"
	ParsedPerCall = "parsed-per-call"
)

// StandardLibrary is the Module of a driver whose library comes with Go.
const StandardLibrary = "std"

// Driver describes one library and how it does each operation. The functions of operations that it
// does not offer may be nil.
type Driver struct {
	Library string // the name in every table
	Module  string // the module path whose linked version `hello` reports
	Offers  []Offer
	// Whether [Prepare.Defaults] makes a difference: the library has a simpler call than the one this
	// driver uses.
	KnowsDefaults bool
	// What the driver checks by hand because the library does not, such as `jwt:exp`.
	ByDriver []string
	// What Verify supports besides keys and a policy: `cached`, `issuers`.
	Extras []string

	Sign            func(*Prepare) (*Operation, error) // also for `encrypt`, and half of `round-trip`
	Verify          func(*Prepare) (*Operation, error) // also for `decrypt`, and the other half
	VerifySignature func(*Prepare) (*Operation, error)
	VerifyParsed    func(*Prepare) (*Operation, error)
	GenerateKey     func(*Prepare) (*Operation, error)
	LoadKey         func(*Prepare) (*Operation, error) // from [Prepare.KeyText]
}

// Offer is one line of what a driver can do.
type Offer struct {
	Format      string   `json:"format"`
	Alg         *string  `json:"alg"`
	Enc         *string  `json:"enc"`
	Operations  []string `json:"contracts"`
	KeyHandling []string `json:"key_handling"`
	KeyText     []string `json:"key_text,omitempty"` // the forms that the library reads itself
}

// JWTOffers offers the same operations for each JOSE algorithm, with both ways of key handling.
func JWTOffers(operations []string, algs ...string) []Offer {
	offers := make([]Offer, 0, len(algs))
	for _, alg := range algs {
		offers = append(offers, Offer{
			Format: "jwt", Alg: &alg, Operations: operations, KeyHandling: []string{Prepared, ParsedPerCall},
		})
	}
	return offers
}

// JWEOffers offers the same operations for every pair of key management and content encryption.
func JWEOffers(operations, algs, encs []string) []Offer {
	var offers []Offer
	for _, alg := range algs {
		for _, enc := range encs {
			offers = append(offers, Offer{
				Format: "jwe", Alg: &alg, Enc: &enc, Operations: operations,
				KeyHandling: []string{Prepared, ParsedPerCall},
			})
		}
	}
	return offers
}

// LoadingKeys adds `load-key` to the offers, from text in these forms.
func LoadingKeys(offers []Offer, forms ...string) []Offer {
	offers = slices.Clone(offers)
	for i := range offers {
		offers[i].Operations = append(slices.Clone(offers[i].Operations), OperationLoadKey)
		offers[i].KeyText = forms
	}
	return offers
}

// Prepare is what a `prepare` request asks for.
type Prepare struct {
	Operation   string  `json:"contract"`
	Format      string  `json:"format"`
	Alg         string  `json:"alg"` // empty for PASETO, where the format decides
	Enc         string  `json:"enc"`
	KeyHandling string  `json:"key_handling"`
	Keys        keyPair `json:"keys"`
	KeyText     KeyText `json:"key_text"`
	Claims      struct {
		Name   string            `json:"name"`
		Values []json.RawMessage `json:"values"`
	} `json:"claims"`
	Policy   Policy   `json:"policy"`
	Tokens   []string `json:"tokens"`
	Practice string   `json:"practice"`
	// Only for `lab attack`: several verifiers with a cache each, and several issuers of one verifier.
	Cached  []trusted `json:"cached"`
	Issuers []trusted `json:"issuers"`
}

// Policy is what a verifier checks besides the signature and the times.
type Policy struct {
	Issuer   string `json:"issuer"`   // empty: not checked
	Audience string `json:"audience"` // empty: not checked
}

type trusted struct {
	Keys   keyPair `json:"keys"`
	Policy Policy  `json:"policy"`
}

// Caches reports whether the verifier caches verified tokens.
func (p *Prepare) Caches() bool { return p.Cached != nil }

// EachIssuer returns a request for each of the issuers.
func (p *Prepare) EachIssuer() []*Prepare { return p.each(p.Issuers) }

func (p *Prepare) each(all []trusted) []*Prepare {
	requests := make([]*Prepare, len(all))
	for i, one := range all {
		request := *p
		request.Keys, request.Policy, request.Issuers = one.Keys, one.Policy, nil
		requests[i] = &request
	}
	return requests
}

// Defaults reports whether to call the library as the first example of its documentation does,
// without additional checks. Only `lab attack` uses it; it never affects timings.
func (p *Prepare) Defaults() bool { return p.Practice == "defaults" }

type keyPair struct {
	Private json.RawMessage   `json:"private"`
	Public  json.RawMessage   `json:"public"`
	Paserk  map[string]string `json:"paserk"`
}

// KeyText is a key as text in one form. A half that is not needed is empty; a symmetric key is
// Private.
type KeyText struct {
	Form    string `json:"form"`
	Private string `json:"private"`
	Public  string `json:"public"`
}

// Operation is a prepared operation, made by [Signing], [Verifying], [VerifyingSignature],
// [VerifyingParsed] or [MakingKeys].
type Operation struct {
	run    func(iterations int) (checksum uint64, err error)
	token  func(index int) (string, error)
	verify func(token string) (claims json.RawMessage, err error)

	// The halves of a round trip. ok is false if they use different token types.
	opens func(check any) (run func(iterations int) (uint64, error), ok bool)
	check any
}

// Text is a token in the type that a library takes or returns. Each library gets its own type, so
// that no conversion is timed that its user would not pay for.
type Text interface{ string | []byte }

// Signing makes the operation `sign`. The function signs the claims value of that index.
func Signing[T Text](p *Prepare, sign func(index int) (T, error)) (*Operation, error) {
	count := len(p.Claims.Values)
	if count == 0 {
		return nil, invalid("sign needs at least one claims value")
	}
	run := func(iterations int) (sum uint64, err error) {
		index := 0
		for range iterations {
			token, err := sign(index)
			if err != nil {
				return 0, err
			}
			if len(token) == 0 {
				return 0, errEmptyToken
			}
			sum += uint64(len(token)) + uint64(token[len(token)-1])
			if index++; index == count {
				index = 0
			}
		}
		return sum, nil
	}
	opens := func(check any) (func(int) (uint64, error), bool) {
		open, ok := check.(func(T) (uint64, error))
		return roundTrip(count, sign, open), ok
	}
	token := func(index int) (string, error) {
		if index < 0 || index >= count {
			return "", invalid("there is no claims value %d; the pool has %d", index, count)
		}
		token, err := sign(index)
		return string(token), err
	}
	return &Operation{run: run, token: token, opens: opens}, nil
}

func roundTrip[T Text](count int, sign func(int) (T, error), open func(T) (uint64, error)) func(int) (uint64, error) {
	return func(iterations int) (sum uint64, err error) {
		index := 0
		for range iterations {
			token, err := sign(index)
			if err != nil {
				return 0, err
			}
			if len(token) == 0 {
				return 0, errEmptyToken
			}
			last := token[len(token)-1] // before a library can write into it
			opened, err := open(token)
			if err != nil {
				return 0, err
			}
			sum += uint64(len(token)) + uint64(last) + opened
			if index++; index == count {
				index = 0
			}
		}
		return sum, nil
	}
}

// Verifying makes the operation `verify`. The first function verifies one token. The second returns
// the claim `jti`, or "" if there is none. The third returns the claims for JSON.
func Verifying[T Text, C any](p *Prepare, verify func(T) (C, error), jti func(C) string, view func(C) any) (*Operation, error) {
	tokens := pool[T](p)
	check := func(token T) (uint64, error) {
		claims, err := verify(token)
		if err != nil {
			return 0, err
		}
		if id := jti(claims); id != "" {
			return uint64(id[len(id)-1]), nil
		}
		return 1, nil
	}
	run := func(iterations int) (sum uint64, err error) {
		if len(tokens) == 0 {
			return 0, errNoTokens
		}
		index := 0
		for range iterations {
			one, err := check(tokens[index])
			if err != nil {
				return 0, err
			}
			sum += one
			if index++; index == len(tokens) {
				index = 0
			}
		}
		return sum, nil
	}
	one := func(token string) (json.RawMessage, error) {
		claims, err := verify(T(token))
		if err != nil {
			return nil, err
		}
		return json.Marshal(view(claims))
	}
	return &Operation{run: run, verify: one, check: check}, nil
}

// VerifyingSignature makes the operation `verify-signature`.
func VerifyingSignature[T Text](p *Prepare, verify func(T) error) (*Operation, error) {
	tokens := pool[T](p)
	run := func(iterations int) (sum uint64, err error) {
		if len(tokens) == 0 {
			return 0, errNoTokens
		}
		index := 0
		for range iterations {
			if err := verify(tokens[index]); err != nil {
				return 0, err
			}
			sum++
			if index++; index == len(tokens) {
				index = 0
			}
		}
		return sum, nil
	}
	one := func(token string) (json.RawMessage, error) {
		return json.RawMessage("null"), verify(T(token))
	}
	return &Operation{run: run, verify: one}, nil
}

// VerifyingParsed makes the operation `verify-parsed`. The first function parses a token outside
// the timed loop. The second verifies the result.
func VerifyingParsed[T Text, P any](p *Prepare, parse func(T) (P, error), verify func(P) error) (*Operation, error) {
	parsed := make([]P, 0, len(p.Tokens))
	for _, token := range pool[T](p) {
		one, err := parse(token)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, one)
	}
	run := func(iterations int) (sum uint64, err error) {
		if len(parsed) == 0 {
			return 0, errNoTokens
		}
		index := 0
		for range iterations {
			if err := verify(parsed[index]); err != nil {
				return 0, err
			}
			sum++
			if index++; index == len(parsed) {
				index = 0
			}
		}
		return sum, nil
	}
	one := func(token string) (json.RawMessage, error) {
		parsed, err := parse(T(token))
		if err != nil {
			return nil, err
		}
		return json.RawMessage("null"), verify(parsed)
	}
	return &Operation{run: run, verify: one}, nil
}

// MakingKeys makes the operations `generate-key` and `load-key`. The function makes one key, or
// both halves of a pair.
func MakingKeys[K any](make func() (K, error)) (*Operation, error) {
	// Report what the library cannot do now, not in the middle of a run.
	if _, err := make(); err != nil {
		return nil, err
	}
	run := func(iterations int) (sum uint64, err error) {
		for range iterations {
			if _, err := make(); err != nil {
				return 0, err
			}
			sum++
		}
		return sum, nil
	}
	return &Operation{run: run}, nil
}

// Unsupported reports that the library cannot do what was requested: a fact, not a defect.
func Unsupported(format string, args ...any) error {
	return &driverError{kind: "unsupported", reason: fmt.Sprintf(format, args...)}
}

// driverError is an answer with `"ok": false`. Any other error is answered as `failed`.
type driverError struct{ kind, reason string }

func (r *driverError) Error() string { return r.reason }

func invalid(format string, args ...any) error {
	return &driverError{kind: "invalid", reason: fmt.Sprintf(format, args...)}
}

var errEmptyToken = errors.New("the library made an empty token")

var errNoTokens = invalid("prepare has no tokens")

func pool[T Text](p *Prepare) []T {
	tokens := make([]T, len(p.Tokens))
	for i, token := range p.Tokens {
		tokens[i] = T(token)
	}
	return tokens
}
