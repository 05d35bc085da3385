// Package harness is the part of a Go driver that is the same for every library: it speaks the
// driver protocol (drivers/PROTOCOL.md), turns the keys and claims that arrive into Go values, and
// times the contract that a driver prepared.
//
// A driver is one file: it fills in a [Driver] and calls [Serve].
package harness

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The contracts that a Go driver can offer.
const (
	ContractSign            = "sign"
	ContractVerify          = "verify"
	ContractVerifySignature = "verify-signature"
)

// The two ways to handle keys.
const (
	Prepared      = "prepared"
	ParsedPerCall = "parsed-per-call"
)

// Driver describes one library and how it does each contract. A contract that no offer names may be
// left nil.
type Driver struct {
	Library string // the name in every table
	Module  string // the module path whose linked version `hello` reports
	Offers  []Offer

	Sign            func(*Prepare) (*Contract, error)
	Verify          func(*Prepare) (*Contract, error)
	VerifySignature func(*Prepare) (*Contract, error)
}

// Offer is one line of what a driver can do.
type Offer struct {
	Format      string   `json:"format"`
	Alg         *string  `json:"alg"`
	Enc         *string  `json:"enc"`
	Contracts   []string `json:"contracts"`
	KeyHandling []string `json:"key_handling"`
}

// JWTOffers offers the same contracts for each of the JOSE algorithms, with keys handled both ways.
func JWTOffers(contracts []string, algs ...string) []Offer {
	offers := make([]Offer, 0, len(algs))
	for _, alg := range algs {
		offers = append(offers, Offer{
			Format: "jwt", Alg: &alg, Contracts: contracts, KeyHandling: []string{Prepared, ParsedPerCall},
		})
	}
	return offers
}

// Prepare is what a `prepare` request asks for.
type Prepare struct {
	Contract    string  `json:"contract"`
	Format      string  `json:"format"`
	Alg         string  `json:"alg"` // empty for PASETO, where the format decides
	Enc         string  `json:"enc"`
	KeyHandling string  `json:"key_handling"`
	Keys        keyText `json:"keys"`
	Claims      struct {
		Name   string            `json:"name"`
		Values []json.RawMessage `json:"values"`
	} `json:"claims"`
	Policy struct {
		Issuer   string `json:"issuer"`   // empty: not checked
		Audience string `json:"audience"` // empty: not checked
	} `json:"policy"`
	Tokens []string `json:"tokens"`
}

type keyText struct {
	Private json.RawMessage   `json:"private"`
	Public  json.RawMessage   `json:"public"`
	Paserk  map[string]string `json:"paserk"`
}

// Contract is an operation that is ready to be run, made by [Signing], [Verifying] or
// [VerifyingSignature].
type Contract struct {
	run    func(iterations int) (checksum uint64, err error)
	token  func(index int) (string, error)
	verify func(token string) (claims json.RawMessage, err error)
}

// Text is a token as a library takes or gives it. Each library gets its own form, so that no
// conversion is timed which its user would not pay for.
type Text interface{ string | []byte }

// Signing makes the contract `sign`. The function signs the claims value of that index.
func Signing[T Text](p *Prepare, sign func(index int) (T, error)) (*Contract, error) {
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
				return 0, errors.New("the library made an empty token")
			}
			sum += uint64(len(token)) + uint64(token[len(token)-1])
			if index++; index == count {
				index = 0
			}
		}
		return sum, nil
	}
	token := func(index int) (string, error) {
		if index < 0 || index >= count {
			return "", invalid("there is no claims value %d; the pool has %d", index, count)
		}
		token, err := sign(index)
		return string(token), err
	}
	return &Contract{run: run, token: token}, nil
}

// Verifying makes the contract `verify`. The first function verifies one token, the second reads the
// claim `jti` ("" if there is none), and the third gives what stands for the claims in JSON.
func Verifying[T Text, C any](p *Prepare, verify func(T) (C, error), jti func(C) string, view func(C) any) (*Contract, error) {
	tokens := pool[T](p)
	run := func(iterations int) (sum uint64, err error) {
		if len(tokens) == 0 {
			return 0, errNoTokens
		}
		index := 0
		for range iterations {
			claims, err := verify(tokens[index])
			if err != nil {
				return 0, err
			}
			if id := jti(claims); id != "" {
				sum += uint64(id[len(id)-1])
			} else {
				sum++
			}
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
	return &Contract{run: run, verify: one}, nil
}

// VerifyingSignature makes the contract `verify-signature`.
func VerifyingSignature[T Text](p *Prepare, verify func(T) error) (*Contract, error) {
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
	return &Contract{run: run, verify: one}, nil
}

// Unsupported says that the library cannot do what was asked, which is a fact and no defect.
func Unsupported(format string, args ...any) error {
	return &refusal{kind: "unsupported", reason: fmt.Sprintf(format, args...)}
}

// refusal is an answer with `"ok": false`. Any other error is answered as `failed`.
type refusal struct{ kind, reason string }

func (r *refusal) Error() string { return r.reason }

func invalid(format string, args ...any) error {
	return &refusal{kind: "invalid", reason: fmt.Sprintf(format, args...)}
}

var errNoTokens = invalid("prepare brought no tokens to work through")

func pool[T Text](p *Prepare) []T {
	tokens := make([]T, len(p.Tokens))
	for i, token := range p.Tokens {
		tokens[i] = T(token)
	}
	return tokens
}
