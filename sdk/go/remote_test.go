package jeton_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
)

// identityServer publishes keys and counts requests.
type identityServer struct {
	*httptest.Server
	lock        sync.Mutex
	set         []byte
	status      int
	discoveries atomic.Int32
	sets        atomic.Int32
}

func newIdentityServer(t *testing.T, keys ...*jeton.Key) *identityServer {
	server := &identityServer{status: http.StatusOK}
	server.publish(keys...)
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		server.discoveries.Add(1)
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, server.URL, server.URL+"/keys")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		server.sets.Add(1)
		server.lock.Lock()
		defer server.lock.Unlock()
		w.WriteHeader(server.status)
		_, _ = w.Write(server.set)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/keys", http.StatusFound)
	})
	server.Server = httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func (s *identityServer) publish(keys ...*jeton.Key) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.set = must(must(jeton.NewKeySet(keys...)).JWKS())
}

func issuedBy(key *jeton.Key) string {
	issuer, _ := pair(key)
	return must(issuer.Issue(visit{Page: "/"}))
}

func remoteVerifier(keys *jeton.RemoteKeySet) *jeton.Verifier {
	return must(jeton.NewVerifier(keys, jeton.WithIssuer("i"), jeton.WithAudience("a")))
}

func TestRemoteKeysAreDiscoveredAndFetchedAgainForANewKey(t *testing.T) {
	first := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	second := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k2")))
	server := newIdentityServer(t, first)
	keys := must(jeton.DiscoverKeySet(server.URL, jeton.WithPrivateAddresses(), jeton.WithCooldown(0)))
	defer func() { _ = keys.Close() }()
	verifier := remoteVerifier(keys)
	// One verification: discovery and the set, which already has the second key.
	token := issuedBy(second)
	server.publish(first, second)
	if verified := must(jeton.Verify[visit](verifier, token)); verified.KeyID() != "k2" {
		t.Errorf("kid %s", verified.KeyID())
	}
	if server.discoveries.Load() != 1 || server.sets.Load() != 1 {
		t.Errorf("%d discoveries, %d sets", server.discoveries.Load(), server.sets.Load())
	}
	third := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k3")))
	server.publish(first, second, third)
	if verified := must(jeton.Verify[visit](verifier, issuedBy(third))); verified.KeyID() != "k3" {
		t.Errorf("kid %s", verified.KeyID())
	}
	// Known keys cause no request.
	sets := server.sets.Load()
	for range 10 {
		must(jeton.Verify[visit](verifier, token))
	}
	if server.sets.Load() != sets {
		t.Errorf("%d sets", server.sets.Load())
	}
	// Without a cooldown, each verification causes one request for an unknown key, and the set decides.
	invented := issuedBy(must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("invented"))))
	for call := range int32(3) {
		if _, err := jeton.Verify[visit](verifier, invented); !errors.Is(err, jeton.ErrTokenUnknownKey) {
			t.Error(err)
		}
		if server.sets.Load() != sets+call+1 {
			t.Errorf("%d sets for an unknown key", server.sets.Load()-sets)
		}
	}
	// Unknown keys do not cause repeated requests.
	unknown := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k4")))
	sets = server.sets.Load()
	slow := remoteVerifier(must(jeton.NewRemoteKeySet(server.URL + "/keys")))
	if _, err := jeton.Verify[visit](slow, issuedBy(unknown)); !errors.Is(err, jeton.ErrTokenUnknownKey) {
		t.Error(err)
	}
	if _, err := jeton.Verify[visit](slow, issuedBy(unknown)); !errors.Is(err, jeton.ErrTokenUnknownKey) {
		t.Error(err)
	}
	if asked := server.sets.Load() - sets; asked > 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestRemoteKeysAreFetchedOnceByManyGoroutines(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	server := newIdentityServer(t, key)
	verifier := remoteVerifier(must(jeton.NewRemoteKeySet(server.URL + "/keys")))
	token := issuedBy(key)
	var all sync.WaitGroup
	for range 16 {
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := jeton.Verify[visit](verifier, token); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	if server.sets.Load() != 1 {
		t.Errorf("%d sets", server.sets.Load())
	}
}

func TestRemoteKeysThatCannotBeFetched(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	server := newIdentityServer(t, key)
	token := issuedBy(key)
	for name, address := range map[string]string{
		"not found": server.URL + "/nothing", "redirect": server.URL + "/moved", "no server": "http://127.0.0.1:1/keys",
	} {
		keys := must(jeton.NewRemoteKeySet(address))
		_, err := jeton.Verify[visit](remoteVerifier(keys), token)
		if !errors.Is(err, jeton.ErrKeySetUnreachable) || errors.Is(err, jeton.ErrTokenRejected) {
			t.Errorf("%s: %v", name, err)
		}
		_ = keys.Close()
	}
	// The address of another machine must be https.
	if _, err := jeton.NewRemoteKeySet("http://id.example/keys"); !errors.Is(err, jeton.ErrKeySetAddress) {
		t.Errorf("http: %v", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	keys := must(jeton.NewRemoteKeySet(server.URL + "/keys"))
	if _, err := jeton.VerifyContext[visit](stopped, remoteVerifier(keys), token); !errors.Is(err, jeton.ErrKeySetUnreachable) {
		t.Errorf("stopped: %v", err)
	}
	verifier := remoteVerifier(keys)
	_ = keys.Close()
	if _, err := jeton.Verify[visit](verifier, token); err == nil {
		t.Error("a closed key set without keys verifies")
	}
}

func TestRemoteKeysWithACustomClient(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	server := newIdentityServer(t, key)
	var asked atomic.Int32
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		asked.Add(1)
		return http.DefaultTransport.RoundTrip(r)
	})}
	keys := must(jeton.NewRemoteKeySet(server.URL+"/keys", jeton.WithHTTPClient(client), jeton.WithFreshFor(time.Hour)))
	if err := keys.Fetch(context.Background()); err != nil {
		t.Fatal(err)
	}
	must(jeton.Verify[visit](remoteVerifier(keys), issuedBy(key)))
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestPublicAddressesOnly(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(string(must(os.ReadFile("../testdata/addresses.txt")))), "\n")
	for _, row := range rows {
		kind, address, found := strings.Cut(row, " ")
		if !found || kind == "#" {
			continue
		}
		if err := jeton.CheckPublic(net.JoinHostPort(address, "80")); (err == nil) != (kind == "public") {
			t.Errorf("%s: %v", row, err)
		}
	}
	if err := jeton.CheckPublic("no address"); err == nil {
		t.Error("no address")
	}
	server := newIdentityServer(t, must(jeton.GenerateKey(jeton.ES256)))
	// A name, so that the connection has to be checked.
	address := strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/keys"
	dial := func(network, address string) (net.Conn, error) { return net.Dial(network, address) }
	for name, client := range map[string]*http.Client{
		"none": nil, "plain": {}, "a transport": {Transport: &http.Transport{}},
		"wrapped": {Transport: roundTripper(http.DefaultTransport.RoundTrip)},
		//lint:ignore SA1019 a caller may still set it
		"DialTLS":  {Transport: &http.Transport{DialTLS: dial}},
		"pooled":   {Transport: roundTripper(http.DefaultTransport.RoundTrip)},
		"no trace": {Transport: roundTripper(withoutContext)},
	} {
		if name == "pooled" {
			_, _ = io.Copy(io.Discard, must(client.Get(address)).Body)
		}
		sets := server.sets.Load()
		request := must(http.NewRequestWithContext(jeton.PublicOnly(context.Background()), http.MethodGet, address, nil))
		reason, asked := "has a private IP address: pass WithPrivateAddresses", int32(0)
		switch name {
		case "wrapped", "pooled":
			reason = "the transport of WithHTTPClient connects to a private IP address"
		case "no trace":
			reason, asked = "does not report its connection", 1
		}
		if response, err := must(jeton.ClientOf(client)).Do(request); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: connects: %v", name, err)
			_ = response
		}
		if found := server.sets.Load() - sets; found != asked {
			t.Errorf("%s: %d requests", name, found)
		}
	}
}

// withoutContext loses the context of the request, and with it what it must report.
func withoutContext(r *http.Request) (*http.Response, error) {
	return http.DefaultTransport.RoundTrip(r.WithContext(context.Background()))
}

// addressed is a connection that claims to lead to this address.
type addressed struct {
	net.Conn
	address string
}

func (a addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a.address))
}

func TestWrappedTransportFetchesKeysAtAnotherPublicHost(t *testing.T) {
	key := must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("k1")))
	set := must(must(jeton.NewKeySet(key)).JWKS())
	requests := 0
	keyServer := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_, _ = w.Write(set)
	}))
	defer keyServer.Close()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"issuer":"http://%s","jwks_uri":"https://example.com/keys"}`, r.Host)
	}))
	defer provider.Close()
	for address, reason := range map[string]string{
		"192.0.3.1:443": "", "[2606:4700::1]:443": "", "10.0.0.1:443": "connects to a private IP address", "127.0.0.1:443": "connects to a private IP address",
	} {
		inner := keyServer.Client().Transport.(*http.Transport).Clone()
		inner.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
			if to != "example.com:443" {
				return new(net.Dialer).DialContext(ctx, network, to)
			}
			connection, err := new(net.Dialer).DialContext(ctx, network, keyServer.Listener.Addr().String())
			return addressed{connection, address}, err
		}
		requests = 0
		keys := must(jeton.DiscoverKeySet(provider.URL, jeton.WithHTTPClient(&http.Client{Transport: roundTripper(inner.RoundTrip)})))
		_, err := jeton.Verify[visit](remoteVerifier(keys), issuedBy(key))
		if reason == "" && err != nil || reason != "" && (err == nil || !strings.Contains(err.Error(), reason)) {
			t.Errorf("%s: %v", address, err)
		}
		if (requests == 1) != (reason == "") {
			t.Errorf("%s: %d requests", address, requests)
		}
		_ = keys.Close()
	}
}
