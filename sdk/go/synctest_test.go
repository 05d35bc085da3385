//go:build go1.25

package jeton_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// In a bubble, time passes only while all its goroutines sleep.
func TestTimeOfABubbleCounts(t *testing.T) {
	issuer, verifier := pair(secretKey())
	synctest.Test(t, func(t *testing.T) {
		token := must(issuer.Issue(visit{Page: "/"}))
		verified := must(jeton.Verify[visit](verifier, token))
		if expiry := time.Until(verified.ExpiresAt()); expiry != time.Minute {
			t.Errorf("expires in %s", expiry)
		}
		time.Sleep(59 * time.Second)
		must(jeton.Verify[visit](verifier, token))
		time.Sleep(time.Second)
		if _, err := jeton.Verify[visit](verifier, token); !errors.Is(err, jeton.ErrTokenExpired) {
			t.Errorf("after its minute: %v", err)
		}
	})
	// Outside, the time is that of the machine.
	must(jeton.Verify[visit](verifier, must(issuer.Issue(visit{Page: "/"}))))
}
