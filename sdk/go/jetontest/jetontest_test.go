package jetontest_test

import (
	"errors"
	"testing"

	"github.com/jeton/jeton/sdk/go"
	"github.com/jeton/jeton/sdk/go/jetontest"
)

func TestIssuerVerifierAndClock(t *testing.T) {
	issuer := jetontest.NewIssuer(t, jeton.WithType("visit+jwt"))
	token := issuer.Issue(map[string]any{"sub": "user-7"})
	verifier := issuer.Verifier(jeton.WithType("visit+jwt"))
	verified, err := jeton.Verify[struct{}](verifier, token)
	if err != nil || verified.Subject() != "user-7" || verified.KeyID() != "test" || verified.Issuer() != issuer.Name {
		t.Fatalf("%v", err)
	}
	if !verified.ExpiresAt().Equal(issuer.Clock.Now().Add(jetontest.Lifetime)) {
		t.Errorf("expires at %s", verified.ExpiresAt())
	}
	keys, err := jeton.NewRemoteKeySet(issuer.Serve())
	if err != nil {
		t.Fatal(err)
	}
	remote, err := jeton.NewVerifier(keys, jeton.WithIssuer(issuer.Name), jeton.WithAudience(issuer.Audience),
		jeton.WithType("visit+jwt"), jeton.WithClock(issuer.Clock.Clock))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jeton.Verify[struct{}](remote, token); err != nil {
		t.Error(err)
	}
	issuer.Clock.Add(jetontest.Lifetime)
	for _, verifier := range []*jeton.Verifier{verifier, remote} {
		if _, err := jeton.Verify[struct{}](verifier, token); !errors.Is(err, jeton.ErrTokenExpired) {
			t.Error(err)
		}
	}
}
