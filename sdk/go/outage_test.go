package jeton_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

func TestCanceledCallerDoesNotAffectOthers(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	set := must(must(jeton.NewKeySet(key)).JWKS())
	var asked atomic.Int32
	respond := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-respond
		_, _ = w.Write(set)
	}))
	defer server.Close()
	verifier := remoteVerifier(must(jeton.NewRemoteKeySet(server.URL)))
	token := issuedBy(key)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		if _, err := jeton.Verify[visit](verifier, token); err != nil {
			t.Errorf("a caller that waits: %v", err)
		}
	}()
	for asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		cancel()
		_, err := jeton.VerifyContext[visit](ctx, verifier, token)
		if !errors.Is(err, jeton.ErrNoKeys) || !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that gives up: %v", err)
		}
	}
	close(respond)
	all.Wait()
	must(jeton.Verify[visit](verifier, token))
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// A server that accepts connections and never responds delays a verification by one timeout.
func TestSilentServerIsAskedOnce(t *testing.T) {
	var asked atomic.Int32
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		<-over
	}))
	defer server.Close()
	defer close(over)
	verifier := remoteVerifier(must(jeton.NewRemoteKeySet(server.URL)))
	token := issuedBy(must(jeton.GenerateKey(jeton.ES256)))
	_, err := jeton.Verify[visit](verifier, token)
	if !errors.Is(err, jeton.ErrKeySetUnreachable) || !errors.Is(err, jeton.ErrNoKeys) {
		t.Error(err)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the cause is lost: %v", errors.Unwrap(err))
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// A program ends although its fetch is still running.
func TestProgramEndsWhileAServerIsSilent(t *testing.T) {
	const variable = "JETON_TEST_SILENT_SERVER"
	if address := os.Getenv(variable); address != "" {
		verifier := remoteVerifier(must(jeton.NewRemoteKeySet(address)))
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_, err := jeton.VerifyContext[visit](ctx, verifier, issuedBy(must(jeton.GenerateKey(jeton.ES256))))
		fmt.Println("the code is", jeton.CodeOf(err))
		return
	}
	silent := must(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = silent.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	program := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	program.Env = append(os.Environ(), variable+"=http://"+silent.Addr().String())
	output, err := program.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "the code is KEY_SET_UNREACHABLE") {
		t.Errorf("%v: %s", err, output)
	}
}

func TestFailureWithoutACooldownIsReportedAfterOneRequest(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	token := issuedBy(must(jeton.GenerateKey(jeton.ES256)))
	for range 2 {
		keys := must(jeton.NewRemoteKeySet(server.URL, jeton.WithCooldown(0)))
		verifier := remoteVerifier(keys)
		for range 3 {
			asked.Store(0)
			if _, err := jeton.Verify[visit](verifier, token); !errors.Is(err, jeton.ErrKeySetUnreachable) {
				t.Error(err)
			}
			if asked.Load() > 1 {
				t.Errorf("asked %d times", asked.Load())
			}
			asked.Store(0)
			if err := keys.Fetch(context.Background()); !errors.Is(err, jeton.ErrKeySetUnreachable) {
				t.Error(err)
			}
			if asked.Load() > 1 {
				t.Errorf("asked %d times", asked.Load())
			}
		}
		// The second time, no server listens.
		server.Close()
	}
}

func TestCallersWithOneUnknownKeyShareTheirFetches(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	server := newIdentityServer(t, key)
	verifier := remoteVerifier(must(jeton.NewRemoteKeySet(server.URL+"/keys", jeton.WithCooldown(0))))
	must(jeton.Verify[visit](verifier, issuedBy(key)))
	sets := server.sets.Load()
	token := issuedBy(must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k2"))))
	var all sync.WaitGroup
	for range 20 {
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := jeton.Verify[visit](verifier, token); !errors.Is(err, jeton.ErrTokenUnknownKey) {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	if asked := server.sets.Load() - sets; asked > 40 {
		t.Errorf("asked %d times", asked)
	}
}

func TestFetchReturnsTheReasonForMissingKeys(t *testing.T) {
	var body atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(body.Load().(string)))
	}))
	defer server.Close()
	token := issuedBy(must(jeton.GenerateKey(jeton.ES256)))
	for text, code := range map[string]jeton.Code{
		"<html>":                         jeton.CodeKeyMalformed,
		"{}":                             jeton.CodeKeyMemberMissing,
		`{"keys":[]}`:                    jeton.CodeKeySetEmpty,
		strings.Repeat("a", 2*1024*1024): jeton.CodeKeyTooLarge,
	} {
		body.Store(text)
		keys := must(jeton.NewRemoteKeySet(server.URL))
		fetched := keys.Fetch(context.Background())
		_, verified := jeton.Verify[visit](remoteVerifier(keys), token)
		for _, err := range []error{fetched, verified} {
			if jeton.CodeOf(err) != code || !errors.Is(err, jeton.ErrNoKeys) || errors.Is(err, jeton.ErrTokenRejected) {
				t.Errorf("%.20s: %v", text, err)
			}
		}
	}
	err := must(jeton.NewRemoteKeySet("http://127.0.0.1:1/keys")).Fetch(context.Background())
	var refused *net.OpError
	if !errors.Is(err, jeton.ErrKeySetUnreachable) || !errors.As(err, &refused) {
		t.Errorf("no server: %v, because of %v", err, errors.Unwrap(err))
	}
	if !strings.Contains(err.Error(), refused.Error()) {
		t.Errorf("the text has no cause: %v", err)
	}
}

func TestCloseClosesConnections(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256))
	set := must(must(jeton.NewKeySet(key)).JWKS())
	var open atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(set) }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	server.Start()
	defer server.Close()
	keys := must(jeton.NewRemoteKeySet(server.URL, jeton.WithHTTPClient(&http.Client{Transport: &http.Transport{}})))
	if err := keys.Fetch(context.Background()); err != nil {
		t.Fatal(err)
	}
	if open.Load() != 1 {
		t.Fatalf("%d connections", open.Load())
	}
	_ = keys.Close()
	for deadline := time.Now().Add(time.Minute); open.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the connection remains open")
		}
	}
}

func TestPublicAddressesOnlyThroughAProxyOrADialer(t *testing.T) {
	var proxied []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { proxied = append(proxied, r.Host) }))
	defer proxy.Close()
	at := must(url.Parse(proxy.URL))
	get := func(transport *http.Transport, address string) error {
		ctx := jeton.PublicOnly(context.Background())
		request := must(http.NewRequestWithContext(ctx, http.MethodGet, address, nil))
		response, err := must(jeton.ClientOf(&http.Client{Transport: transport})).Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	through := &http.Transport{Proxy: http.ProxyURL(at)}
	for _, address := range []string{"http://169.254.169.254/keys", "http://127.0.0.1/keys", "http://[::ffff:10.0.0.1]/keys"} {
		if err := get(through, address); err == nil || !strings.Contains(err.Error(), "private") {
			t.Errorf("%s: %v", address, err)
		}
	}
	// The proxy itself may be private. It resolves names.
	if err := get(through, "http://keys.example/keys"); err != nil || len(proxied) != 1 || proxied[0] != "keys.example" {
		t.Errorf("%v, %v", proxied, err)
	}
	var dialed atomic.Int32
	own := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	for _, address := range []string{proxy.URL, "http://localhost:" + at.Port()} {
		if err := get(own, address); err == nil || !strings.Contains(err.Error(), "private") || dialed.Load() != 0 {
			t.Errorf("%s: %v, %d connections", address, err, dialed.Load())
		}
	}
}
