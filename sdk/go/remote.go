package jeton

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// RemoteKeySet is a key set that is published at an address. The library decides when it is fetched; this package
// fetches it with net/http. Pass it to [NewVerifier].
type RemoteKeySet struct {
	handle *core.Handle
	client *http.Client
	// One goroutine fetches at a time. The others wait for it.
	fetching chan struct{}
	// When the library was last asked whether keys are due, in nanoseconds.
	asked  atomic.Int64
	closed context.Context
	close  context.CancelFunc
}

type remoteConfig struct{ client *http.Client }

// WithHTTPClient fetches with this client. Its redirects are not followed. If its transport is not an [*http.Transport], it
// must itself refuse private addresses for discovered key sets, and [WithPrivateAddresses] must say that it may connect.
func WithHTTPClient(client *http.Client) RemoteOption {
	return remoteOption(func(c *config) { c.remote.client = client })
}

// WithPrivateAddresses allows an issuer to publish a private address for its keys.
func WithPrivateAddresses() RemoteOption {
	return remoteOption(func(c *config) { c.set("allow_private_addresses", true) })
}

// WithFreshFor sets how long keys are used before they are fetched again, if the response does not say it.
func WithFreshFor(fresh time.Duration) RemoteOption {
	return remoteOption(func(c *config) { c.seconds("fresh_for", fresh) })
}

// WithCooldown sets the shortest time between two requests.
func WithCooldown(cooldown time.Duration) RemoteOption {
	return remoteOption(func(c *config) { c.seconds("cooldown", cooldown) })
}

// WithUsableFor sets how long keys are used while their server does not respond.
func WithUsableFor(usable time.Duration) RemoteOption {
	return remoteOption(func(c *config) { c.seconds("usable_for", usable) })
}

// NewRemoteKeySet creates a key set that is at this address. It sends no request: see [RemoteKeySet.Fetch].
func NewRemoteKeySet(address string, options ...RemoteOption) (*RemoteKeySet, error) {
	return newRemoteKeySet("address", address, options)
}

// DiscoverKeySet creates a key set at the address that an issuer publishes (OpenID Connect Discovery and RFC 8414).
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
	keys := &RemoteKeySet{handle: handle, client: client, fetching: make(chan struct{}, 1)}
	keys.closed, keys.close = context.WithCancel(context.Background())
	core.Own(keys, handle)
	return keys, nil
}

// Fetch fetches the keys if they are not fresh. Call it when the program starts, so that the first token need not wait.
func (r *RemoteKeySet) Fetch(ctx context.Context) error {
	if r == nil || r.handle == nil {
		return errClosed()
	}
	defer runtime.KeepAlive(r)
	return r.fetch(ctx)
}

const (
	// How often one verification fetches: the keys, and the keys again for an unknown `kid`, also while another goroutine
	// has just fetched.
	maxFetches = 3
	// The requests of one fetch: discovery and the set, and both again.
	maxRequests = 4
)

// after completes a verification: it fetches what the library asks for, and verifies again.
func (r *RemoteKeySet) after(ctx context.Context, why core.Failure, verify func() core.Failure) error {
	defer runtime.KeepAlive(r)
	for range maxFetches {
		if Code(why.Code) != CodeKeySetToFetch {
			break
		}
		if err := r.fetch(ctx); err != nil {
			return err
		}
		why = verify()
	}
	r.refresh()
	return failed(why)
}

// fetch sends the requests that the library has, one after another.
func (r *RemoteKeySet) fetch(ctx context.Context) error {
	select {
	case r.fetching <- struct{}{}:
		defer func() { <-r.fetching }()
	case <-ctx.Done():
		return caused(CodeKeySetUnreachable, "the context ended before the key set was fetched", ctx.Err())
	case <-r.closed.Done():
		return errClosed()
	}
	r.asked.Store(time.Now().UnixNano())
	for range maxRequests {
		text, why := core.NextRequest(r.handle)
		if why.Code != 0 {
			return failed(why)
		}
		if len(text) == 0 {
			return nil
		}
		if err := r.send(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// refresh asks the library from time to time whether keys are due, and fetches them in the background.
func (r *RemoteKeySet) refresh() {
	const pause = int64(5 * time.Second)
	last, now := r.asked.Load(), time.Now().UnixNano()
	if now-last < pause || !r.asked.CompareAndSwap(last, now) {
		return
	}
	go func() { _ = r.fetch(r.closed) }()
}

type fetchRequest struct {
	ID         uint64  `json:"id"`
	URL        string  `json:"url"`
	ETag       *string `json:"etag"`
	NoCache    bool    `json:"no_cache"`
	MaxBytes   int64   `json:"max_bytes"`
	PublicOnly bool    `json:"public_only"`
	Timeout    int64   `json:"timeout_milliseconds"`
}

// send sends one request, and passes the response to the library, or that there is none.
func (r *RemoteKeySet) send(ctx context.Context, text []byte) error {
	var request fetchRequest
	if err := json.Unmarshal(text, &request); err != nil {
		return failure(CodeInternal, "the request of the library cannot be read")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(request.Timeout)*time.Millisecond)
	defer cancel()
	stop := context.AfterFunc(r.closed, cancel)
	defer stop()
	status, headers, body := r.get(ctx, &request)
	return failed(core.Respond(r.handle, request.ID, status, headers, body))
}

// get returns the status 0 if there is no response.
func (r *RemoteKeySet) get(ctx context.Context, request *fetchRequest) (status int, headers string, body []byte) {
	if request.PublicOnly {
		ctx = context.WithValue(ctx, publicOnly{}, true)
	}
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, request.URL, nil)
	if err != nil {
		return 0, "", nil
	}
	get.Header.Set("Accept", "application/jwk-set+json, application/json")
	if request.ETag != nil {
		get.Header.Set("If-None-Match", *request.ETag)
	}
	if request.NoCache {
		get.Header.Set("Cache-Control", "no-cache")
	}
	response, err := r.client.Do(get)
	if err != nil {
		return 0, "", nil
	}
	defer func() { _ = response.Body.Close() }()
	// One byte more, so that the library sees that the body is too long.
	body, err = io.ReadAll(io.LimitReader(response.Body, request.MaxBytes+1))
	if err != nil {
		return 0, "", nil
	}
	var lines strings.Builder
	for _, name := range []string{"ETag", "Cache-Control", "Age"} {
		for _, value := range response.Header.Values(name) {
			lines.WriteString(name + ": " + value + "\n")
		}
	}
	return response.StatusCode, lines.String(), body
}

// Close ends requests that are under way. Verifiers that use the keys keep those that they have.
func (r *RemoteKeySet) Close() error {
	if r != nil && r.handle != nil {
		r.close()
		r.handle.Close()
	}
	return nil
}

// String says nothing of the keys.
func (r *RemoteKeySet) String() string { return "jeton.RemoteKeySet" }

func (r *RemoteKeySet) verifying() (source, error) {
	if r == nil || r.handle == nil {
		return source{}, errClosed()
	}
	return source{remote: r.handle, fetcher: r, keepsAlive: r}, nil
}

// errPrivate is why a request was not sent.
var errPrivate = errors.New("the address of the key set is private")
