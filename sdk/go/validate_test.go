package jeton_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jeton/jeton/sdk/go"
)

var errNotHome = errors.New("only the page / is allowed")

type home struct {
	Page string `json:"page,omitempty"`
}

func (h home) Validate() error {
	if h.Page != "/" {
		return errNotHome
	}
	return nil
}

type homeByPointer struct {
	Page string `json:"page,omitempty"`
}

func (h *homeByPointer) Validate() error { return home{h.Page}.Validate() }

// claimsByDecoder are read by a decoder.
type claimsByDecoder map[string]any

func (c claimsByDecoder) Validate() error { return home{c["page"].(string)}.Validate() }

func TestClaimsWithValidateAreValidated(t *testing.T) {
	issuer, verifier := pair(secretKey())
	decoding := must(jeton.NewVerifier(secretKey(), jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithDecoder(json.Unmarshal)))
	for name, verify := range map[string]func(string) error{
		"value":               func(token string) error { return second(jeton.Verify[home](verifier, token)) },
		"pointer":             func(token string) error { return second(jeton.Verify[*home](verifier, token)) },
		"method of a pointer": func(token string) error { return second(jeton.Verify[homeByPointer](verifier, token)) },
		"embedded": func(token string) error {
			return second(jeton.Verify[struct {
				home
				jeton.Registered
			}](verifier, token))
		},
		"map":     func(token string) error { return second(jeton.Verify[claimsByDecoder](verifier, token)) },
		"decoder": func(token string) error { return second(jeton.Verify[claimsByDecoder](decoding, token)) },
	} {
		if err := verify(must(issuer.Issue(visit{Page: "/"}))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		err := verify(must(issuer.Issue(visit{Page: "/private"})))
		if !errors.Is(err, jeton.ErrTokenClaimsShape) || !errors.Is(err, jeton.ErrTokenRejected) || !errors.Is(err, errNotHome) ||
			!strings.HasSuffix(err.Error(), ": "+errNotHome.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without custom claims, too.
	for name, verify := range map[string]func(string) error{
		"value":               func(token string) error { return second(jeton.Verify[home](verifier, token)) },
		"pointer":             func(token string) error { return second(jeton.Verify[*home](verifier, token)) },
		"pointer, by pointer": func(token string) error { return second(jeton.Verify[*homeByPointer](verifier, token)) },
	} {
		if err := verify(must(issuer.IssueJSON([]byte("{}")))); !errors.Is(err, errNotHome) {
			t.Errorf("%s, no claims: %v", name, err)
		}
	}
}

// A token with an invalid signature is never validated.
func TestOnlyVerifiedClaimsAreValidated(t *testing.T) {
	_, verifier := pair(secretKey())
	issuer, _ := pair(must(jeton.GenerateKey(jeton.HS256)))
	_, err := jeton.Verify[home](verifier, must(issuer.Issue(visit{Page: "/private"})))
	if !errors.Is(err, jeton.ErrTokenInvalidSignature) || errors.Is(err, errNotHome) {
		t.Error(err)
	}
}
