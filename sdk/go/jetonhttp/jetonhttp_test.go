package jetonhttp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
	"github.com/jeton/jeton/sdk/go/jetonhttp"
	"github.com/jeton/jeton/sdk/go/jetontest"
)

type visit struct {
	Page string `json:"page"`
}

func ask(handler http.Handler, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, header := range headers {
		request.Header.Add("Authorization", header)
	}
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	return response
}

func greet(w http.ResponseWriter, r *http.Request) {
	verified, ok := jetonhttp.FromContext[visit](r.Context())
	if !ok {
		_, _ = fmt.Fprint(w, "no token")
		return
	}
	_, _ = fmt.Fprint(w, verified.Issuer(), " ", verified.Claims.Page)
}

func TestMiddleware(t *testing.T) {
	issuer := jetontest.NewIssuer(t)
	verifier := issuer.Verifier()
	token := issuer.Issue(visit{Page: "/"})
	expired := issuer.Issue(visit{Page: "/"})
	handler := jetonhttp.Middleware[visit](verifier)(http.HandlerFunc(greet))
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER  "} {
		if got := ask(handler, scheme+token); got.Code != 200 || got.Body.String() != issuer.Name+" /" {
			t.Errorf("%s: %d %s", scheme, got.Code, got.Body)
		}
	}
	for name, one := range map[string]struct {
		headers   []string
		status    int
		challenge string
	}{
		"no header":      {nil, 401, "Bearer"},
		"another scheme": {[]string{"Basic abc"}, 401, "Bearer"},
		"no token":       {[]string{"Bearer"}, 401, "Bearer"},
		"two headers":    {[]string{"Bearer " + token, "Bearer " + token}, 400, `Bearer error="invalid_request"`},
		"a bad token":    {[]string{"Bearer " + token[:len(token)-4]}, 401, `Bearer error="invalid_token"`},
		"10 MB":          {[]string{"Bearer " + strings.Repeat("a", 10<<20)}, 401, `Bearer error="invalid_token"`},
	} {
		got := ask(handler, one.headers...)
		if got.Code != one.status || got.Header().Get("WWW-Authenticate") != one.challenge {
			t.Errorf("%s: %d %s", name, got.Code, got.Header())
		}
	}
	issuer.Clock.Set(issuer.Clock.Now().Add(time.Hour))
	if got := ask(handler, "Bearer "+expired); got.Code != 401 {
		t.Errorf("expired: %d", got.Code)
	}
	optional := jetonhttp.Middleware[visit](verifier, jetonhttp.WithOptionalToken())(http.HandlerFunc(greet))
	if got := ask(optional); got.Body.String() != "no token" {
		t.Errorf("optional: %d %s", got.Code, got.Body)
	}
	for _, wrong := range [][]string{{"Bearer x"}, {"Bearer"}, {"Bearer  "}, {"Bearer a b"}, {"Basic YTpi"}, {""}} {
		if got := ask(optional, wrong...); got.Code != 401 {
			t.Errorf("optional, %s: %d", wrong, got.Code)
		}
	}
	if got := ask(optional, "Bearer "+token, "Basic YTpi"); got.Code != 400 {
		t.Errorf("optional, two headers: %d", got.Code)
	}
	closed := issuer.Verifier()
	_ = closed.Close()
	for name, verifier := range map[string]*jeton.Verifier{"nil": nil, "closed": closed} {
		if got := ask(jetonhttp.Middleware[visit](verifier)(http.HandlerFunc(greet)), "Bearer "+token); got.Code != 500 {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
}

func TestKeysThatCannotBeFetched(t *testing.T) {
	keys, err := jeton.NewRemoteKeySet("http://127.0.0.1:1/keys")
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := jeton.NewVerifier(keys, jeton.WithAnyIssuer(), jeton.WithAnyAudience())
	if err != nil {
		t.Fatal(err)
	}
	token := jetontest.NewIssuer(t).Issue(visit{})
	if got := ask(jetonhttp.Middleware[visit](verifier)(http.HandlerFunc(greet)), "Bearer "+token); got.Code != 503 {
		t.Errorf("%d", got.Code)
	}
}

// must returns the value. An error ends the test program.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestStatusesBeforeAndAfterARotation(t *testing.T) {
	old := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("old")))
	next := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("next")))
	var set atomic.Value
	set.Store([]byte("<html></html>"))
	publish := func(keys ...*jeton.Key) { set.Store(must(must(jeton.NewKeySet(keys...)).JWKS())) }
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(set.Load().([]byte))
	}))
	defer provider.Close()
	keys := must(jeton.NewRemoteKeySet(provider.URL, jeton.WithCooldown(0)))
	verifier := must(jeton.NewVerifier(keys, jeton.WithIssuer("i"), jeton.WithAudience("a")))
	handler := jetonhttp.Middleware[visit](verifier, jetonhttp.WithScopes("read"))(http.HandlerFunc(greet))
	service := httptest.NewServer(handler)
	defer service.Close()
	check := func(status int, key *jeton.Key, claims any) {
		t.Helper()
		issuer := must(jeton.NewIssuer(key, jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithLifetime(time.Minute)))
		request := must(http.NewRequest(http.MethodGet, service.URL, nil))
		request.Header.Set("Authorization", "Bearer "+must(issuer.Issue(claims)))
		response := must(http.DefaultClient.Do(request))
		_ = response.Body.Close()
		if response.StatusCode != status {
			t.Errorf("%d, %d expected", response.StatusCode, status)
		}
	}
	reads := map[string]any{"page": "/", "scope": "read"}
	check(503, old, reads)
	publish(old)
	check(200, old, reads)
	check(403, old, visit{Page: "/"})
	check(401, next, reads)
	publish(old, next)
	check(200, next, reads)
	check(200, old, reads)
	publish(next)
	check(401, must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("unknown"))), reads)
	check(401, old, reads)
	check(200, next, reads)
}

func TestTokenFromACookieAndErrorHandler(t *testing.T) {
	issuer := jetontest.NewIssuer(t)
	token := issuer.Issue(visit{Page: "/"})
	var seen error
	handler := jetonhttp.Middleware[visit](issuer.Verifier(),
		jetonhttp.WithTokenFrom(func(r *http.Request) (string, error) {
			cookie, err := r.Cookie("token")
			if err != nil {
				return "", nil
			}
			return cookie.Value, nil
		}),
		jetonhttp.WithErrorHandler(func(w http.ResponseWriter, _ *http.Request, err error) {
			seen = err
			w.WriteHeader(http.StatusTeapot)
		}))(http.HandlerFunc(greet))
	if got := ask(handler); got.Code != http.StatusTeapot || !errors.Is(seen, jetonhttp.ErrNoToken) {
		t.Errorf("%d %v", got.Code, seen)
	}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.AddCookie(&http.Cookie{Name: "token", Value: token})
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	if response.Code != 200 {
		t.Errorf("%d %v", response.Code, seen)
	}
}

func TestScopes(t *testing.T) {
	issuer := jetontest.NewIssuer(t)
	handler := jetonhttp.Middleware[map[string]any](issuer.Verifier(), jetonhttp.WithScopes("visits:read", "visits:write"))(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for scope, status := range map[any]int{
		"visits:read visits:write":               200,
		"a visits:write b visits:read c":         200,
		[2]string{"visits:read", "visits:write"}: 200,
		"visits:read":                            403,
		"visits:readvisits:write":                403,
		"Visits:read visits:write":               403,
		"":                                       403,
		7:                                        403,
		[1]int{7}:                                403,
	} {
		got := ask(handler, "Bearer "+issuer.Issue(map[string]any{"scope": scope}))
		if got.Code != status {
			t.Errorf("%v: %d", scope, got.Code)
		}
		const challenge = `Bearer error="insufficient_scope", scope="visits:read visits:write"`
		if found := got.Header().Get("WWW-Authenticate"); status == 403 && found != challenge {
			t.Errorf("%v: %s", scope, found)
		}
	}
	for claims, status := range map[string]int{
		`{}`: 403, `{"SCOPE":"visits:read visits:write"}`: 403, `{"scope":"a","Scope":"visits:read visits:write"}`: 403,
	} {
		if got := ask(handler, "Bearer "+issuer.Issue(json.RawMessage(claims))); got.Code != status {
			t.Errorf("%s: %d", claims, got.Code)
		}
	}
	if got := ask(handler); got.Code != 401 {
		t.Errorf("no token: %d", got.Code)
	}
	var seen error
	handler = jetonhttp.Middleware[visit](issuer.Verifier(), jetonhttp.WithScopes(`a"\`), jetonhttp.WithErrorHandler(
		func(w http.ResponseWriter, r *http.Request, err error) {
			seen = err
			jetonhttp.WriteError(w, r, err)
		}))(http.HandlerFunc(greet))
	got := ask(handler, "Bearer "+issuer.Issue(visit{}))
	var missing *jetonhttp.ScopeError
	if !errors.As(seen, &missing) || missing.Required[0] != `a"\` || errors.Is(seen, jeton.ErrTokenRejected) {
		t.Error(seen)
	}
	if found := got.Header().Get("WWW-Authenticate"); found != `Bearer error="insufficient_scope", scope="a\"\\"` {
		t.Error(found)
	}
}

func TestSeveralIssuers(t *testing.T) {
	a := jetontest.NewIssuer(t, jeton.WithIssuer("https://a.example"))
	b := jetontest.NewIssuer(t, jeton.WithIssuer("https://b.example"))
	other := jetontest.NewIssuer(t)
	verifier, err := jeton.NewMultiIssuerVerifier(a.Verifier(), b.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	handler := jetonhttp.Middleware[visit](verifier)(http.HandlerFunc(greet))
	for _, issuer := range []*jetontest.Issuer{a, b} {
		if got := ask(handler, "Bearer "+issuer.Issue(visit{Page: "/"})); got.Body.String() != issuer.Name+" /" {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
	if got := ask(handler, "Bearer "+other.Issue(visit{Page: "/"})); got.Code != 401 {
		t.Errorf("another issuer: %d", got.Code)
	}
}
