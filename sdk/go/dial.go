package jeton

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"
)

// publicOnly marks the context of a request that may connect to public addresses only.
type publicOnly struct{}

// clientOf returns a client that follows no redirects. Requests marked publicOnly connect to public addresses only.
func clientOf(given *http.Client) (*http.Client, error) {
	client := &http.Client{}
	if given != nil {
		*client = *given
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	switch transport := client.Transport.(type) {
	case nil:
		made := &http.Transport{
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           4,
			IdleConnTimeout:        30 * time.Second,
			TLSHandshakeTimeout:    5 * time.Second,
			MaxResponseHeaderBytes: 64 * 1024,
		}
		if given != nil {
			// As http.DefaultTransport, which a client without a transport uses.
			made.Proxy = exceptLoopback(http.ProxyFromEnvironment)
		}
		made.DialContext = guarded(&net.Dialer{Timeout: 5 * time.Second})
		client.Transport = guardedTransport{made}
	case *http.Transport:
		copied := transport.Clone()
		if copied.Proxy != nil {
			copied.Proxy = exceptLoopback(copied.Proxy)
		}
		copied.DialContext = guarded(&net.Dialer{Timeout: 5 * time.Second})
		if transport.DialContext != nil {
			copied.DialContext = checked(transport.DialContext)
		}
		if transport.DialTLSContext != nil {
			copied.DialTLSContext = checked(transport.DialTLSContext)
		}
		client.Transport = guardedTransport{copied}
		//lint:ignore SA1019 a caller may still set it, but it takes no context
		if transport.DialTLS != nil && transport.DialTLSContext == nil {
			client.Transport = traced{copied}
		}
	default:
		client.Transport = traced{transport}
	}
	return client, nil
}

type proxyOf = func(*http.Request) (*url.URL, error)

// exceptLoopback returns no proxy for loopback hosts.
func exceptLoopback(proxy proxyOf) proxyOf {
	return func(request *http.Request) (*url.URL, error) {
		host := request.URL.Hostname()
		if address, err := netip.ParseAddr(host); host == "localhost" || err == nil && address.IsLoopback() {
			return nil, nil
		}
		return proxy(request)
	}
}

// throughProxy marks the context of a request that goes through a proxy.
type throughProxy struct{}

// guardedTransport checks the host of a request that goes through a proxy. The dialer sees only the address of the
// proxy.
type guardedTransport struct{ *http.Transport }

func (g guardedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if g.Proxy == nil || request.Context().Value(publicOnly{}) == nil {
		return g.Transport.RoundTrip(request)
	}
	proxy, err := g.Proxy(request)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		// The proxy resolves names and must refuse private addresses.
		if address, err := netip.ParseAddr(request.URL.Hostname()); err == nil && !isPublic(address.Unmap()) {
			return nil, errPrivate
		}
		request = request.WithContext(context.WithValue(request.Context(), throughProxy{}, true))
	}
	return g.Transport.RoundTrip(request)
}

// mustBePublic reports whether the server of a connection must have a public address.
func mustBePublic(ctx context.Context) bool {
	return ctx.Value(publicOnly{}) != nil && ctx.Value(throughProxy{}) == nil
}

type dialer = func(context.Context, string, string) (net.Conn, error)

// guarded checks the resolved address that it connects to, so that a later DNS change has no effect.
func guarded(by *net.Dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		one := *by
		if mustBePublic(ctx) {
			one.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
				return checkPublic(address)
			}
		}
		return one.DialContext(ctx, network, address)
	}
}

// checked refuses private addresses for the caller's dialer. It checks the host before the dialer connects, and the
// chosen address afterwards.
func checked(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if !mustBePublic(ctx) {
			return dial(ctx, network, address)
		}
		if err := checkHost(ctx, address); err != nil {
			return nil, err
		}
		connection, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if err := checkPublic(connection.RemoteAddr().String()); err != nil {
			_ = connection.Close()
			return nil, err
		}
		return connection, nil
	}
}

// checkHost returns an error if a host has a private address or no address.
func checkHost(ctx context.Context, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return err
	}
	for _, one := range found {
		if !isPublic(one.Unmap()) {
			return errPrivate
		}
	}
	return nil
}

// traced checks the connection that another transport, such as a wrapped one, reports with net/http/httptrace. For a
// private address, it closes the connection, so that nothing is sent.
type traced struct{ transport http.RoundTripper }

func (t traced) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Context().Value(publicOnly{}) == nil {
		return t.transport.RoundTrip(request)
	}
	// A proxy would connect to this address.
	if address, err := netip.ParseAddr(request.URL.Hostname()); err == nil && !isPublic(address.Unmap()) {
		return nil, errPrivate
	}
	var isReported, isPrivate atomic.Bool
	ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) {
			isReported.Store(true)
			if checkPublic(got.Conn.RemoteAddr().String()) != nil {
				isPrivate.Store(true)
				_ = got.Conn.Close()
			}
		},
	})
	response, err := t.transport.RoundTrip(request.WithContext(ctx))
	switch {
	case isPrivate.Load():
		err = errPrivateConnection
	case err == nil && !isReported.Load():
		err = errUnchecked
	}
	if err != nil && response != nil {
		_ = response.Body.Close()
		response = nil
	}
	return response, err
}

// checkPublic returns an error for an address that is not on the public internet.
func checkPublic(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return errPrivate
	}
	if !isPublic(at.Addr().Unmap()) {
		return errPrivate
	}
	return nil
}

// notPublic lists the special blocks (RFC 6890 and its successors) for which netip has no method.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("3fff::/20"),
}

var (
	// Only this block is assigned for global unicast.
	globalUnicast = netip.MustParsePrefix("2000::/3")
	// NAT64 (RFC 6052) and 6to4 (RFC 3056) embed an IPv4 address, to which a connection leads.
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

func isPublic(address netip.Addr) bool {
	address = address.Unmap()
	if !address.IsGlobalUnicast() || address.IsPrivate() {
		return false
	}
	if address.Is6() {
		bytes := address.As16()
		switch {
		case nat64.Contains(address):
			return isPublic(netip.AddrFrom4([4]byte(bytes[12:16])))
		case sixTo4.Contains(address):
			return isPublic(netip.AddrFrom4([4]byte(bytes[2:6])))
		case !globalUnicast.Contains(address):
			return false
		}
	}
	for _, block := range notPublic {
		if block.Contains(address) {
			return false
		}
	}
	return true
}
