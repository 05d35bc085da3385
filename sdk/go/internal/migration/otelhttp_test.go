package migration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
)

func jetonTraced(issuer string, base http.RoundTripper) (*jeton.RemoteKeySet, error) {
	client := &http.Client{Transport: otelhttp.NewTransport(base)}
	return jeton.DiscoverKeySet(issuer, jeton.WithHTTPClient(client))
}

// addressed is a connection that claims to lead to this address.
type addressed struct {
	net.Conn
	address string
}

func (a addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a.address))
}

// The keys are on another host, as at Google and Microsoft.
func TestTracedTransportFetchesKeysOfAnotherHost(t *testing.T) {
	key, err := jeton.GenerateKey(jeton.ES256, jeton.WithKeyID("2026-11"))
	check(t, err)
	keys, err := jeton.NewKeySet(key)
	check(t, err)
	set, err := keys.JWKS()
	check(t, err)
	keyServer := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(set)
	}))
	defer keyServer.Close()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"issuer":"http://%s","jwks_uri":"https://example.com/keys"}`, r.Host)
	}))
	defer provider.Close()
	issuer, err := jeton.NewIssuer(key, jeton.WithIssuer(provider.URL), jeton.WithAudience("api"), jeton.WithLifetime(time.Minute))
	check(t, err)
	token, err := issuer.Issue(Custom{})
	check(t, err)
	for address, reason := range map[string]string{"192.0.3.1:443": "", "10.0.0.1:443": "connects to a private IP address"} {
		base := keyServer.Client().Transport.(*http.Transport).Clone()
		base.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
			if to != "example.com:443" {
				return new(net.Dialer).DialContext(ctx, network, to)
			}
			connection, err := new(net.Dialer).DialContext(ctx, network, keyServer.Listener.Addr().String())
			return addressed{connection, address}, err
		}
		remote, err := jetonTraced(provider.URL, base)
		check(t, err)
		verifier, err := jeton.NewVerifier(remote, jeton.WithIssuer(provider.URL), jeton.WithAudience("api"))
		check(t, err)
		_, err = jeton.Verify[Custom](verifier, token)
		if reason == "" && err != nil || reason != "" && (err == nil || !strings.Contains(err.Error(), reason)) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
