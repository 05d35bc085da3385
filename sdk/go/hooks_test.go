//go:build jeton_test_hooks

package jeton_test

import (
	"errors"
	"testing"

	"github.com/jeton/jeton/sdk/go"
	"github.com/jeton/jeton/sdk/go/internal/core"
)

func TestPanicInsideTheLibraryIsAnError(t *testing.T) {
	issuer, verifier := pair(secretKey())
	token := must(issuer.Issue(visit{}))
	for name, call := range map[string]func() error{
		"issue":    func() error { return second(issuer.Issue(visit{})) },
		"verify":   func() error { return second(jeton.Verify[visit](verifier, token)) },
		"generate": func() error { return second(jeton.GenerateKey(jeton.ES256)) },
	} {
		core.PanicNext()
		if err := call(); !errors.Is(err, jeton.ErrInternal) || errors.Is(err, jeton.ErrTokenRejected) {
			t.Errorf("%s: %v", name, err)
		}
		if err := call(); err != nil {
			t.Errorf("%s, again: %v", name, err)
		}
	}
}
