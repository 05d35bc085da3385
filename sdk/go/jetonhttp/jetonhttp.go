// Package jetonhttp is net/http middleware that verifies bearer tokens.
//
//	verified := jetonhttp.Middleware[Visit](verifier)
//	http.Handle("/visits", verified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
//		token, _ := jetonhttp.FromContext[Visit](r.Context())
//		fmt.Fprintln(w, token.Subject(), token.Claims.Page)
//	})))
package jetonhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/jeton/jeton/sdk/go"
)

// ErrNoToken is passed to the error handler if a request has no bearer token.
var ErrNoToken = errors.New("jetonhttp: the request has no bearer token")

// ErrNotBearer is passed to the error handler if the Authorization header has another scheme or no token. It wraps
// [ErrNoToken].
var ErrNotBearer = fmt.Errorf("%w: the Authorization header has another scheme or no token", ErrNoToken)

// ErrSeveralTokens is passed to the error handler if a request has more than one Authorization header.
var ErrSeveralTokens = errors.New("jetonhttp: the request has more than one Authorization header")

// ScopeError is passed to the error handler if a verified token lacks a scope of [WithScopes].
type ScopeError struct {
	// Required are the scopes of [WithScopes].
	Required []string
}

// Error names the required scopes.
func (e *ScopeError) Error() string {
	return "jetonhttp: the token lacks a required scope: " + strings.Join(e.Required, " ")
}

// Option is an option of [Middleware].
type Option func(*config)

type config struct {
	optional bool
	scopes   []string
	token    func(*http.Request) (string, error)
	failed   func(http.ResponseWriter, *http.Request, error)
}

// WithOptionalToken accepts requests without an Authorization header. [FromContext] returns false for them. Requests
// with a rejected token, with another scheme or with two headers still fail.
func WithOptionalToken() Option { return func(c *config) { c.optional = true } }

// WithScopes requires tokens with all these scopes: see [jeton.Token.HasScope]. Further calls add more. Other tokens
// cause a [*ScopeError], for which the status is 403.
func WithScopes(scopes ...string) Option {
	return func(c *config) { c.scopes = append(c.scopes, scopes...) }
}

func (c *config) checkScopes(token *jeton.Token) error {
	for _, scope := range c.scopes {
		if !token.HasScope(scope) {
			return &ScopeError{c.scopes}
		}
	}
	return nil
}

// WithTokenFrom reads the token from another place than the Authorization header, for example from a cookie. The
// function returns "" if the request has no token.
func WithTokenFrom(read func(*http.Request) (string, error)) Option {
	return func(c *config) { c.token = read }
}

// WithErrorHandler sets the function that responds if a token is missing, rejected or cannot be verified. The default
// is [WriteError].
func WithErrorHandler(failed func(http.ResponseWriter, *http.Request, error)) Option {
	return func(c *config) { c.failed = failed }
}

// Middleware returns middleware that verifies the bearer token of each request. Handlers get the verified token with
// [FromContext].
func Middleware[T any](verifier jeton.TokenVerifier, options ...Option) func(http.Handler) http.Handler {
	chosen := config{token: BearerToken, failed: WriteError}
	for _, option := range options {
		if option != nil {
			option(&chosen)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token, err := chosen.token(r)
			if err == nil && token == "" {
				if chosen.optional {
					next.ServeHTTP(w, r)
					return
				}
				err = ErrNoToken
			}
			if err != nil {
				chosen.failed(w, r, err)
				return
			}
			verified, err := jeton.VerifyContext[T](r.Context(), verifier, token)
			if err == nil {
				err = chosen.checkScopes(&verified.Token)
			}
			if err != nil {
				chosen.failed(w, r, err)
				return
			}
			next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), verified)))
		})
	}
}

// BearerToken returns the token of the Authorization header (RFC 6750), or "" without the header. It returns
// [ErrSeveralTokens] or [ErrNotBearer] if the header is not exactly one bearer token.
func BearerToken(r *http.Request) (string, error) {
	headers := r.Header.Values("Authorization")
	switch len(headers) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", ErrSeveralTokens
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	token = strings.Trim(token, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", ErrNotBearer
	}
	return token, nil
}

// WriteError responds with the status for an error: 401 for a missing or rejected token, 400 for more than one
// Authorization header, 403 for a missing scope, 503 if the keys of a [jeton.RemoteKeySet] are not available, and 500 for other errors. The body
// is the text of the status, without the reason.
func WriteError(w http.ResponseWriter, _ *http.Request, err error) {
	status, challenge := http.StatusInternalServerError, ""
	var scopes *ScopeError
	switch {
	case errors.As(err, &scopes):
		required := quoted.Replace(strings.Join(scopes.Required, " "))
		status, challenge = http.StatusForbidden, `Bearer error="insufficient_scope", scope="`+required+`"`
	case errors.Is(err, ErrNoToken):
		status, challenge = http.StatusUnauthorized, "Bearer"
	case errors.Is(err, ErrSeveralTokens):
		status, challenge = http.StatusBadRequest, `Bearer error="invalid_request"`
	case errors.Is(err, jeton.ErrTokenRejected):
		status, challenge = http.StatusUnauthorized, `Bearer error="invalid_token"`
	case errors.Is(err, jeton.ErrNoKeys):
		status = http.StatusServiceUnavailable
	}
	if challenge != "" {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	http.Error(w, http.StatusText(status), status)
}

// quoted escapes a text in quotes.
var quoted = strings.NewReplacer(`"`, `\"`, `\`, `\\`)

type contextKey[T any] struct{}

// NewContext returns a context from which [FromContext] gets this token. Use it in tests and in your own middleware.
func NewContext[T any](ctx context.Context, verified *jeton.Verified[T]) context.Context {
	return context.WithValue(ctx, contextKey[T]{}, verified)
}

// FromContext returns the verified token of a request. It returns false if there is no token, or if T is not the type
// of its claims.
func FromContext[T any](ctx context.Context) (*jeton.Verified[T], bool) {
	verified, ok := ctx.Value(contextKey[T]{}).(*jeton.Verified[T])
	return verified, ok && verified != nil
}
