package jeton_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// Other libraries write the time with a fraction: the system clock has reached it.
func TestFractionalTimesVerifyAtOnce(t *testing.T) {
	issuer, verifier := pair(secretKey())
	accepted := 0
	for range 300 {
		now := float64(time.Now().UnixNano()) / 1e9
		token := must(issuer.Issue(map[string]any{"iat": now, "nbf": now}))
		if _, err := jeton.Verify[map[string]any](verifier, token); err != nil {
			t.Errorf("%f: %v", now, err)
			continue
		}
		accepted++
	}
	if accepted != 300 {
		t.Errorf("%d of 300 accepted", accepted)
	}
}

// The time of a function has microseconds.
func TestClockHasMicroseconds(t *testing.T) {
	now := time.Unix(1_800_000_000, 500_000_000)
	issuer, verifier := pair(secretKey(), jeton.WithClock(func() time.Time { return now }))
	for _, row := range []struct {
		nbf   float64
		early bool
	}{{1_800_000_000.5, false}, {1_800_000_000.75, true}} {
		_, err := jeton.Verify[map[string]any](verifier, must(issuer.Issue(map[string]any{"nbf": row.nbf})))
		if errors.Is(err, jeton.ErrTokenNotYetValid) != row.early {
			t.Errorf("nbf %f: %v", row.nbf, err)
		}
	}
	token := must(issuer.Issue(map[string]any{"nbf": 1_800_000_000.75}))
	now = now.Add(250 * time.Millisecond)
	if _, err := jeton.Verify[map[string]any](verifier, token); err != nil {
		t.Error(err)
	}
	remote := must(jeton.NewVerifier(must(jeton.NewRemoteKeySet("https://id.example/keys")), jeton.WithIssuer("i"),
		jeton.WithAudience("a"), jeton.WithClock(func() time.Time { return now })))
	for _, now = range []time.Time{{}, time.Unix(-1, 0), time.Unix(253_402_300_800, 0), time.Unix(1<<62, 0)} {
		for name, err := range map[string]error{
			"Issue": second(issuer.Issue(visit{})), "Prepare": second(issuer.Prepare(visit{})),
			"Verify": second(jeton.Verify[visit](verifier, token)), "remote": second(jeton.Verify[visit](remote, token)),
		} {
			if !errors.Is(err, jeton.ErrClaimRange) || errors.Is(err, jeton.ErrTokenRejected) || errors.Is(err, jeton.ErrNoKeys) {
				t.Errorf("%s at %d: %v", name, now.Unix(), err)
			}
		}
	}
}

// `iat` may be a minute ahead of the clock. With a maximum age, only the leeway counts.
func TestIssuedAheadOfTheClock(t *testing.T) {
	clock := jeton.WithClock(func() time.Time { return time.Unix(1_800_000_000, 0) })
	issuer, verifier := pair(secretKey(), clock)
	strict := must(jeton.NewVerifier(secretKey(), jeton.WithIssuer("i"), jeton.WithAudience("a"), clock,
		jeton.WithMaxAge(time.Hour)))
	for _, row := range []struct {
		ahead           int64
		accepted, young bool
	}{{0, true, true}, {1, true, false}, {60, true, false}, {61, false, false}, {3600, false, false}} {
		token := must(issuer.Issue(map[string]any{"iat": 1_800_000_000 + row.ahead}))
		_, err := jeton.Verify[map[string]any](verifier, token)
		_, age := jeton.Verify[map[string]any](strict, token)
		if (err == nil) != row.accepted || (age == nil) != row.young {
			t.Errorf("%d s ahead: %v, %v", row.ahead, err, age)
		}
	}
}
