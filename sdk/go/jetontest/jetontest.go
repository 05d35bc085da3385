// Package jetontest issues tokens for tests of a service, without a network and with a clock that the test sets.
//
//	issuer := jetontest.NewIssuer(t)
//	handler := newService(issuer.Verifier())
//	token := issuer.Issue(Visit{Page: "/"})
//	issuer.Clock.Set(issuer.Clock.Now().Add(time.Hour)) // now it has expired
package jetontest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
	"github.com/jeton/jeton/sdk/go/internal/defaults"
)

const (
	// Name is the issuer of the tokens.
	Name = "https://issuer.test"
	// Audience is the audience of the tokens.
	Audience = "test"
	// Lifetime is the lifetime of the tokens.
	Lifetime = 15 * time.Minute
)

// Issuer issues tokens with one key. Its methods end the test with Fatal if they fail.
type Issuer struct {
	// Name and Audience are `iss` and `aud` of the tokens.
	Name, Audience string
	// Key signs the tokens.
	Key *jeton.Key
	// Clock is the clock of the issuer and its verifiers.
	Clock *Clock

	test   testing.TB
	issuer *jeton.Issuer
	// Default options of its verifiers.
	verifier []jeton.VerifierOption
}

// Clock is a clock for tests. Its time changes only in [Clock.Set] and [Clock.Add].
type Clock struct {
	lock sync.Mutex
	now  time.Time
}

// NewIssuer creates an issuer with a new ES256 key, whose key id is "test". The defaults are [Name], [Audience] and
// [Lifetime]. An option, such as [jeton.WithIssuer] or [jeton.WithoutExpiry], replaces a default. [Issuer.Verifier]
// accepts the tokens also with these options.
func NewIssuer(test testing.TB, options ...jeton.IssuerOption) *Issuer {
	test.Helper()
	clock := &Clock{now: time.Now().Truncate(time.Second)}
	key, err := jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("test"))
	check(test, err)
	options = append([]jeton.IssuerOption{
		standard(jeton.WithIssuer(Name)), standard(jeton.WithAudience(Audience)), standardOfIssuer(jeton.WithLifetime(Lifetime)),
		standard(jeton.WithClock(clock.Now)),
	}, options...)
	issuer, err := jeton.NewIssuer(key, options...)
	check(test, err)
	test.Cleanup(func() {
		_ = issuer.Close()
		_ = key.Close()
	})
	made := &Issuer{Key: key, Clock: clock, test: test, issuer: issuer}
	made.addVerifierDefaults(options)
	return made
}

func (i *Issuer) addVerifierDefaults(options []jeton.IssuerOption) {
	all := make([]any, len(options))
	for at, option := range options {
		all[at] = option
	}
	settings := defaults.Settings(all)
	i.Name, _ = settings["issuer"].(string)
	audiences := texts(settings["audience"])
	i.Audience = audiences[0]
	demanded := []jeton.Option{jeton.WithIssuer(i.Name), jeton.WithAudience(audiences...), jeton.WithClock(i.Clock.Now)}
	if types := texts(settings["typ"]); types[0] != "" {
		demanded = append(demanded, jeton.WithType(types...))
	}
	if settings["access_tokens"] == true {
		demanded = append(demanded, jeton.WithAccessTokens())
	}
	if settings["without_expiry"] == true {
		demanded = append(demanded, jeton.WithoutExpiry())
	}
	for _, option := range demanded {
		i.verifier = append(i.verifier, standard(option))
	}
}

// texts returns the texts of a setting, which is one text or a list.
func texts(setting any) []string {
	if list, ok := setting.([]string); ok && len(list) > 0 {
		return list
	}
	one, _ := setting.(string)
	return []string{one}
}

func standardOfIssuer(option jeton.IssuerOption) jeton.IssuerOption {
	return defaults.Option(option).(jeton.IssuerOption)
}

// standard makes an option a default that the options of a test replace.
func standard(option jeton.Option) jeton.Option { return defaults.Option(option).(jeton.Option) }

// Issue issues a token with these claims.
func (i *Issuer) Issue(claims any) string {
	i.test.Helper()
	token, err := i.issuer.Issue(claims)
	check(i.test, err)
	return token
}

// Verifier returns a verifier that accepts the tokens of the issuer. An option, such as [jeton.WithAnyAudience],
// replaces a default.
func (i *Issuer) Verifier(options ...jeton.VerifierOption) *jeton.Verifier {
	i.test.Helper()
	options = append(append([]jeton.VerifierOption{}, i.verifier...), options...)
	verifier, err := jeton.NewVerifier(i.KeySet(), options...)
	check(i.test, err)
	return verifier
}

// KeySet returns a key set with the public key of the issuer.
func (i *Issuer) KeySet() *jeton.KeySet {
	i.test.Helper()
	set, err := jeton.NewKeySet(i.Key)
	check(i.test, err)
	return set
}

// Serve starts an HTTP server for the key set and returns its URL, for [jeton.NewRemoteKeySet]. The server stops when
// the test ends.
func (i *Issuer) Serve() string {
	i.test.Helper()
	text, err := i.KeySet().JWKS()
	check(i.test, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/jwk-set+json")
		_, _ = w.Write(text)
	}))
	i.test.Cleanup(server.Close)
	return server.URL
}

// Now returns the time of the clock. It can be passed to [jeton.WithClock].
func (c *Clock) Now() time.Time {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.now
}

// Set sets the time of the clock.
func (c *Clock) Set(now time.Time) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.now = now
}

// Add moves the clock forward.
func (c *Clock) Add(by time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.now = c.now.Add(by)
}

func check(test testing.TB, err error) {
	test.Helper()
	if err != nil {
		test.Fatal(err)
	}
}
