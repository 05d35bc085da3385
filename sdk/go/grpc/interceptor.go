// Package jetongrpc has gRPC interceptors that verify bearer tokens.
//
//	server := grpc.NewServer(
//		grpc.ChainUnaryInterceptor(jetongrpc.UnaryInterceptor[Visit](verifier)),
//		grpc.ChainStreamInterceptor(jetongrpc.StreamInterceptor[Visit](verifier)),
//	)
//
//	token, _ := jetongrpc.FromContext[Visit](ctx) // in a method
package jetongrpc

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jeton/jeton/sdk/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Option is an option of the interceptors.
type Option func(*config)

type config struct {
	public []string
}

// WithPublicMethods does not verify tokens for these full method names, for example "/grpc.health.v1.Health/Check". A
// name that ends with "/", such as "/grpc.health.v1.Health/", selects all methods of the service.
func WithPublicMethods(methods ...string) Option {
	return func(c *config) { c.public = append(c.public, methods...) }
}

func (c *config) isPublic(method string) bool {
	return slices.ContainsFunc(c.public, func(public string) bool {
		return method == public || strings.HasSuffix(public, "/") && strings.HasPrefix(method, public)
	})
}

func configOf(options []Option) *config {
	chosen := new(config)
	for _, option := range options {
		if option != nil {
			option(chosen)
		}
	}
	return chosen
}

// UnaryInterceptor returns an interceptor that verifies the token of each unary call. Without a token, or with a
// rejected one, the call fails with Unauthenticated. If the keys of a [jeton.RemoteKeySet] are not available, it fails
// with Unavailable.
func UnaryInterceptor[T any](verifier jeton.TokenVerifier, options ...Option) grpc.UnaryServerInterceptor {
	chosen := configOf(options)
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if !chosen.isPublic(info.FullMethod) {
			verified, err := verify[T](ctx, verifier)
			if err != nil {
				return nil, err
			}
			ctx = NewContext(ctx, verified)
		}
		return next(ctx, request)
	}
}

// StreamInterceptor is [UnaryInterceptor] for streams. It verifies the token once, when the stream starts: a stream can
// outlive its token.
func StreamInterceptor[T any](verifier jeton.TokenVerifier, options ...Option) grpc.StreamServerInterceptor {
	chosen := configOf(options)
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if !chosen.isPublic(info.FullMethod) {
			verified, err := verify[T](stream.Context(), verifier)
			if err != nil {
				return err
			}
			stream = &streamOf{stream, NewContext(stream.Context(), verified)}
		}
		return next(server, stream)
	}
}

type streamOf struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *streamOf) Context() context.Context { return s.ctx }

func verify[T any](ctx context.Context, verifier jeton.TokenVerifier) (*jeton.Verified[T], error) {
	token, err := bearer(ctx)
	if err != nil {
		return nil, err
	}
	verified, err := jeton.VerifyContext[T](ctx, verifier, token)
	switch {
	case err == nil:
		return verified, nil
	case errors.Is(err, jeton.ErrTokenRejected):
		return nil, status.Error(codes.Unauthenticated, "the bearer token is rejected")
	case errors.Is(err, jeton.ErrNoKeys):
		return nil, status.Error(codes.Unavailable, "no keys to verify with")
	}
	return nil, status.Error(codes.Internal, "the bearer token cannot be verified")
}

func bearer(ctx context.Context) (string, error) {
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	switch len(values) {
	case 0:
		return "", status.Error(codes.Unauthenticated, "the call has no bearer token")
	case 1:
	default:
		return "", status.Error(codes.InvalidArgument, "the call has more than one authorization value")
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", status.Error(codes.Unauthenticated, "the call has no bearer token")
	}
	return strings.TrimLeft(token, " "), nil
}

type contextKey[T any] struct{}

// NewContext returns a context from which [FromContext] gets this token. Use it in tests.
func NewContext[T any](ctx context.Context, verified *jeton.Verified[T]) context.Context {
	return context.WithValue(ctx, contextKey[T]{}, verified)
}

// FromContext returns the verified token of a call. It returns false if there is no token, or if T is not the type of
// its claims.
func FromContext[T any](ctx context.Context) (*jeton.Verified[T], bool) {
	verified, ok := ctx.Value(contextKey[T]{}).(*jeton.Verified[T])
	return verified, ok && verified != nil
}

// Credentials adds a bearer token to the calls of a client, for [grpc.WithPerRPCCredentials]. It requires TLS. The
// function runs for each call, so cache the token in it.
func Credentials(token func(context.Context) (string, error)) credentials.PerRPCCredentials {
	return perCall{token, true}
}

// InsecureCredentials is [Credentials] without the requirement of TLS. Use it only in tests.
func InsecureCredentials(token func(context.Context) (string, error)) credentials.PerRPCCredentials {
	return perCall{token, false}
}

type perCall struct {
	token     func(context.Context) (string, error)
	isGuarded bool
}

func (p perCall) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := p.token(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

func (p perCall) RequireTransportSecurity() bool { return p.isGuarded }
