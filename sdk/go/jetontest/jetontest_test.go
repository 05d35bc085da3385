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
		jeton.WithType("visit+jwt"), jeton.WithClock(issuer.Clock.Now))
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

func TestOptionsReplaceDefaults(t *testing.T) {
	issuer := jetontest.NewIssuer(t, jeton.WithIssuer("x"), jeton.WithoutExpiry(), jeton.WithAccessTokens())
	if issuer.Name != "x" || issuer.Audience != jetontest.Audience {
		t.Errorf("%s, %s", issuer.Name, issuer.Audience)
	}
	relaxed := jetontest.NewIssuer(t)
	for verifier, token := range map[*jeton.Verifier]string{
		relaxed.Verifier(jeton.WithAnyAudience()): relaxed.Issue(map[string]any{}),
		relaxed.Verifier(jeton.WithAnyIssuer()):   relaxed.Issue(map[string]any{}),
	} {
		if _, err := jeton.Verify[struct{}](verifier, token); err != nil {
			t.Error(err)
		}
	}
	forever := jetontest.NewIssuer(t, jeton.WithIssuer("x"), jeton.WithAudience("y", "z"), jeton.WithoutExpiry())
	if _, err := jeton.Verify[struct{}](forever.Verifier(), forever.Issue(map[string]any{})); err != nil {
		t.Error(err)
	}
	if _, err := jeton.Verify[struct{}](forever.Verifier(jeton.WithIssuer("other")), forever.Issue(map[string]any{})); !errors.Is(err, jeton.ErrTokenIssuerMismatch) {
		t.Error(err)
	}
}
