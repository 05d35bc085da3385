package jeton

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// RemoteKeySet is a JWK Set that is fetched from a URL and cached. The native library decides when to fetch it, and
// this package sends the requests with net/http. Pass it to [NewVerifier]. It is safe for concurrent use.
type RemoteKeySet struct {
	handle *core.Handle
	client *http.Client
	// The time of the last request check, in nanoseconds.
	asked  atomic.Int64
	closed context.Context
	close  context.CancelFunc

	lock sync.Mutex
	// The running fetch, or nil. All callers that need keys wait for it.
	current *fetch
	// Why the last request had no response.
	lastError error
}

// fetch is one fetch: discovery, the set, or both. It belongs to the key set, not to the caller that started it: a
// canceled caller must not affect the others.
type fetch struct {
	done chan struct{}
	err  error
}

type remoteConfig struct{ client *http.Client }

// WithHTTPClient sets the HTTP client. Redirects are not followed, even if the client follows them. Its transport
// decides about a proxy: a client without a transport uses HTTPS_PROXY and NO_PROXY, like [http.DefaultTransport].
// Loopback hosts never need one. Without this option, no proxy is used.
//
// [DiscoverKeySet] allows a `jwks_uri` on another host than the issuer only at a public IP address:
//   - An [*http.Transport] checks the address when it dials.
//   - Another transport, such as one that wraps an [*http.Transport], must report its connections with
//     [net/http/httptrace]. The package closes a connection to a private address before the request is sent. Without a
//     report, the response is not used, unless you pass [WithPrivateAddresses].
//   - A proxy resolves the host name itself, and must refuse private addresses.
func WithHTTPClient(client *http.Client) RemoteOption {
	return remoteOption(func(c *config) {
		if c.once("WithHTTPClient") {
			c.remote.client = client
		}
	})
}

// NewRemoteKeySet creates a key set for the URL of a JWK Set. It sends no request: the first verification does, or
// [RemoteKeySet.Fetch].
func NewRemoteKeySet(address string, options ...RemoteOption) (*RemoteKeySet, error) {
	return newRemoteKeySet("address", address, options)
}

// DiscoverKeySet creates a key set for the `jwks_uri` of an issuer (OpenID Connect Discovery and RFC 8414). It sends no
// request: the first verification does, or [RemoteKeySet.Fetch].
func DiscoverKeySet(issuer string, options ...RemoteOption) (*RemoteKeySet, error) {
	return newRemoteKeySet("issuer", issuer, options)
}

func newRemoteKeySet(name, value string, options []RemoteOption) (*RemoteKeySet, error) {
	chosen := newConfig()
	chosen.set(name, value)
	for _, option := range options {
		if option != nil {
			option.forRemote(chosen)
		}
	}
	text, err := chosen.text()
	if err != nil {
		return nil, err
	}
	client, err := clientOf(chosen.remote.client)
	if err != nil {
		return nil, err
	}
	handle, why := core.NewRemoteKeys(text)
	if why.Code != 0 {
		return nil, failed(why)
	}
	keys := &RemoteKeySet{handle: handle, client: client}
	keys.closed, keys.close = context.WithCancel(context.Background())
	core.Own(keys, handle)
	return keys, nil
}

// Fetch fetches the keys if they are not fresh. It returns an error if no keys are available. Call it at program start,
// so that the first verification does not wait.
func (r *RemoteKeySet) Fetch(ctx context.Context) error {
	if r == nil || r.handle == nil {
		return unusable("key set")
	}
	defer runtime.KeepAlive(r)
	if err := r.wait(ctx); err != nil {
		return err
	}
	return r.failed(core.Ready(r.handle))
}

const (
	// The fetches of one verification: the keys, the keys again for an unknown `kid`, and one more if another goroutine
	// has just fetched.
	maxFetches = 3
	// The requests of one fetch: three discovery addresses, the set, and a call that finds no more.
	maxRequests = 5
)

// after completes a verification: it fetches the keys that the library needs, and verifies again.
func (r *RemoteKeySet) after(ctx context.Context, why core.Failure, verify func() core.Failure) error {
	defer runtime.KeepAlive(r)
	for range maxFetches {
		if Code(why.Code) != CodeKeySetToFetch {
			break
		}
		if err := r.wait(ctx); err != nil {
			return err
		}
		why = verify()
	}
	if Code(why.Code) == CodeKeySetToFetch && core.Ready(r.handle).Code == 0 {
		// Other goroutines verified the same token, and their fetches answered them.
		why = core.Failure{Code: int32(CodeTokenUnknownKey), Message: "no key matches the token's `kid` and `alg`"}
		r.start()
	}
	r.refresh()
	return r.failed(why)
}

// failed returns the error for a failed verification with these keys. Unless it is about the token, it matches
// [ErrNoKeys] and wraps the last error of the HTTP client.
func (r *RemoteKeySet) failed(why core.Failure) error {
	code := Code(why.Code)
	switch {
	case code == 0:
		return nil
	case code == CodeKeySetToFetch:
		why = core.Failure{Code: int32(CodeKeySetUnreachable), Message: "the key set is not available after several fetches"}
	case code.IsRejection(), code == CodeArgumentHandle, code == CodeClaimRange, code == CodeInternal:
		return failed(why)
	}
	err := &Error{Code: Code(why.Code), Message: why.Message, noKeys: true}
	if err.Code == CodeKeySetUnreachable {
		r.lock.Lock()
		err.cause = r.lastError
		r.lock.Unlock()
	}
	return err
}

// wait starts a fetch, or waits for the running one.
func (r *RemoteKeySet) wait(ctx context.Context) error {
	current := r.start()
	select {
	case <-current.done:
		return current.err
	case <-ctx.Done():
		err := &Error{Code: CodeKeySetUnreachable, Message: "the context ended before the key set was fetched", noKeys: true}
		err.cause = context.Cause(ctx)
		return err
	case <-r.closed.Done():
		return unusable("key set")
	}
}

// start returns the running fetch, or a new one.
func (r *RemoteKeySet) start() *fetch {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.current == nil {
		r.current = &fetch{done: make(chan struct{})}
		go r.run(r.current)
	}
	return r.current
}

// run sends the requests of the library, one after another.
func (r *RemoteKeySet) run(current *fetch) {
	defer func() {
		r.lock.Lock()
		r.current = nil
		r.lock.Unlock()
		close(current.done)
	}()
	r.asked.Store(time.Now().UnixNano())
	for range maxRequests {
		text, why := core.NextRequest(r.handle)
		if why.Code != 0 {
			current.err = failed(why)
			return
		}
		if len(text) == 0 {
			return
		}
		answered, err := r.send(text)
		current.err = err
		// After a failure, the next verification decides whether to send another request.
		if err != nil || !answered {
			return
		}
	}
}

// refresh checks at most every five seconds whether the library has a request, and fetches in the background.
func (r *RemoteKeySet) refresh() {
	const pause = int64(5 * time.Second)
	last, now := r.asked.Load(), time.Now().UnixNano()
	if now-last < pause || !r.asked.CompareAndSwap(last, now) {
		return
	}
	r.start()
}

type fetchRequest struct {
	ID         uint64  `json:"id"`
	URL        string  `json:"url"`
	ETag       *string `json:"etag"`
	NoCache    bool    `json:"no_cache"`
	MaxBytes   int64   `json:"max_bytes"`
	PublicOnly bool    `json:"public_only"`
	Timeout    int64   `json:"timeout_milliseconds"`
	// The version of the library, which is that of the module.
	Version string `json:"version"`
}

// send sends one request, and passes the response or its absence to the library. It returns whether there was one.
func (r *RemoteKeySet) send(text []byte) (answered bool, err error) {
	var request fetchRequest
	if err := json.Unmarshal(text, &request); err != nil {
		return false, failure(CodeInternal, "the request of the library cannot be read")
	}
	ctx, cancel := context.WithTimeout(r.closed, time.Duration(request.Timeout)*time.Millisecond)
	defer cancel()
	status, headers, body, err := r.get(ctx, &request)
	r.lock.Lock()
	r.lastError = err
	r.lock.Unlock()
	return status != 0, failed(core.Respond(r.handle, request.ID, status, headers, body))
}

// get returns the status 0 and an error if there is no response.
func (r *RemoteKeySet) get(
	ctx context.Context, request *fetchRequest,
) (status int, headers string, body []byte, err error) {
	if request.PublicOnly {
		ctx = context.WithValue(ctx, publicOnly{}, true)
	}
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, request.URL, nil)
	if err != nil {
		return 0, "", nil, err
	}
	get.Header.Set("Accept", "application/jwk-set+json, application/json")
	get.Header.Set("Accept-Encoding", "identity")
	get.Header.Set("User-Agent", "jeton-go/"+request.Version)
	if request.ETag != nil {
		get.Header.Set("If-None-Match", *request.ETag)
	}
	if request.NoCache {
		get.Header.Set("Cache-Control", "no-cache")
	}
	response, err := r.client.Do(get)
	if err != nil {
		return 0, "", nil, err
	}
	defer func() { _ = response.Body.Close() }()
	// One byte more, so that the library sees that the body is too long.
	body, err = io.ReadAll(io.LimitReader(response.Body, request.MaxBytes+1))
	if err != nil {
		return 0, "", nil, err
	}
	var lines strings.Builder
	for _, name := range []string{"ETag", "Cache-Control", "Age", "Retry-After"} {
		for _, value := range response.Header.Values(name) {
			lines.WriteString(name + ": " + value + "\n")
		}
	}
	return response.StatusCode, lines.String(), body, nil
}

// Close cancels running requests. Verifiers keep the keys that are already fetched.
func (r *RemoteKeySet) Close() error {
	if r != nil && r.handle != nil {
		r.close()
		r.handle.Close()
		r.client.CloseIdleConnections()
	}
	return nil
}

// String returns a fixed text without key material.
func (r *RemoteKeySet) String() string { return "jeton.RemoteKeySet" }

func (r *RemoteKeySet) verifying() (source, error) {
	if r == nil || r.handle == nil {
		return source{}, unusable("key set")
	}
	return source{remote: r.handle, fetcher: r, keepsAlive: r}, nil
}

// The reasons why a response is not used.
var (
	errPrivate = errors.New("the `jwks_uri` is on another host than the issuer and has a private IP address: " +
		"pass WithPrivateAddresses to allow it")
	errPrivateConnection = errors.New("the `jwks_uri` is on another host than the issuer, and the transport of " +
		"WithHTTPClient connects to a private IP address, of that host or of a proxy: pass WithPrivateAddresses to allow it")
	errUnchecked = errors.New("the `jwks_uri` is on another host than the issuer, and the transport of WithHTTPClient " +
		"does not report its connection (net/http/httptrace): pass WithPrivateAddresses if the transport refuses private " +
		"IP addresses")
)
