package jetongrpc_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jeton/jeton/sdk/go"
	jetongrpc "github.com/jeton/jeton/sdk/go/grpc"
	"github.com/jeton/jeton/sdk/go/jetontest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

type visit struct {
	Page string `json:"page"`
}

// must returns the value. An error ends the test program.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// service checks the token in the context of each call.
type service struct {
	grpc_health_v1.UnimplementedHealthServer
	t      *testing.T
	public bool
}

func (s *service) found(ctx context.Context) *grpc_health_v1.HealthCheckResponse {
	verified, ok := jetongrpc.FromContext[visit](ctx)
	if ok == s.public {
		s.t.Errorf("the context has a token: %v", ok)
	}
	if ok && verified.Claims.Page != "/" {
		s.t.Errorf("found %+v", verified.Claims)
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}
}

func (s *service) Check(ctx context.Context, _ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	return s.found(ctx), nil
}

func (s *service) Watch(_ *grpc_health_v1.HealthCheckRequest, stream grpc_health_v1.Health_WatchServer) error {
	return stream.Send(s.found(stream.Context()))
}

func client(t *testing.T, verifier *jeton.Verifier, public bool, options ...jetongrpc.Option) grpc_health_v1.HealthClient {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(jetongrpc.UnaryInterceptor[visit](verifier, options...)),
		grpc.ChainStreamInterceptor(jetongrpc.StreamInterceptor[visit](verifier, options...)))
	grpc_health_v1.RegisterHealthServer(server, &service{t: t, public: public})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	connection := must(grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())))
	t.Cleanup(func() { _ = connection.Close() })
	return grpc_health_v1.NewHealthClient(connection)
}

// both makes a unary call and a streaming call.
func both(ctx context.Context, client grpc_health_v1.HealthClient, options ...grpc.CallOption) [2]codes.Code {
	_, unary := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{}, options...)
	stream, err := client.Watch(ctx, &grpc_health_v1.HealthCheckRequest{}, options...)
	if err == nil {
		_, err = stream.Recv()
	}
	return [2]codes.Code{status.Code(unary), status.Code(err)}
}

func withAuthorization(ctx context.Context, values ...string) context.Context {
	for _, value := range values {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", value)
	}
	return ctx
}

func TestInterceptors(t *testing.T) {
	issuer := jetontest.NewIssuer(t)
	token := issuer.Issue(visit{Page: "/"})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	calls := client(t, issuer.Verifier(), false)
	with := func(values ...string) context.Context { return withAuthorization(ctx, values...) }
	for name, one := range map[string]struct {
		ctx  context.Context
		code codes.Code
	}{
		"a token":        {with("Bearer " + token), codes.OK},
		"lower case":     {with("bearer " + token), codes.OK},
		"none":           {with(), codes.Unauthenticated},
		"another scheme": {with("Basic x"), codes.Unauthenticated},
		"a bad token":    {with("Bearer " + token[1:]), codes.Unauthenticated},
		"two":            {with("Bearer "+token, "Bearer "+token), codes.InvalidArgument},
	} {
		if got := both(one.ctx, calls); got != [2]codes.Code{one.code, one.code} {
			t.Errorf("%s: %v", name, got)
		}
	}
	credentials := grpc.PerRPCCredentials(jetongrpc.InsecureCredentials(func(context.Context) (string, error) { return token, nil }))
	if got := both(ctx, calls, credentials); got != [2]codes.Code{} {
		t.Errorf("credentials: %v", got)
	}
	guarded := grpc.PerRPCCredentials(jetongrpc.Credentials(func(context.Context) (string, error) { return token, nil }))
	if got := both(ctx, calls, guarded); got[0] == codes.OK || got[1] == codes.OK {
		t.Error("a token is sent without TLS")
	}
	issuer.Clock.Add(time.Hour)
	if got := both(with("Bearer "+token), calls); got[0] != codes.Unauthenticated {
		t.Errorf("expired: %v", got)
	}
	if got := both(with("Bearer "+token), client(t, nil, false)); got[0] != codes.Internal || got[1] != codes.Internal {
		t.Errorf("a nil verifier: %v", got)
	}
	public := client(t, issuer.Verifier(), true, jetongrpc.WithPublicMethods("/grpc.health.v1.Health/"))
	if got := both(ctx, public); got != [2]codes.Code{} {
		t.Errorf("public: %v", got)
	}
}

func TestCodesBeforeAndAfterARotation(t *testing.T) {
	key := func(id string) *jeton.Key { return must(jeton.GenerateKey(jeton.ES256, jeton.WithKeyID(id))) }
	old, next, unknown := key("old"), key("next"), key("unknown")
	noKeys := []byte("<html></html>")
	var set atomic.Value
	set.Store(noKeys)
	publish := func(keys ...*jeton.Key) { set.Store(must(must(jeton.NewKeySet(keys...)).JWKS())) }
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(set.Load().([]byte))
	}))
	defer provider.Close()
	keys := must(jeton.NewRemoteKeySet(provider.URL, jeton.WithCooldown(0)))
	calls := client(t, must(jeton.NewVerifier(keys, jeton.WithIssuer("i"), jeton.WithAudience("a"))), false)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	check := func(code codes.Code, key *jeton.Key) {
		t.Helper()
		issuer := must(jeton.NewIssuer(key, jeton.WithIssuer("i"), jeton.WithAudience("a"), jeton.WithLifetime(time.Minute)))
		token := must(issuer.Issue(visit{Page: "/"}))
		if got := both(withAuthorization(ctx, "Bearer "+token), calls); got != [2]codes.Code{code, code} {
			t.Errorf("a token of %q: %v, %v expected", key.ID(), got, code)
		}
	}
	check(codes.Unavailable, old)
	publish(old)
	check(codes.OK, old)
	check(codes.Unauthenticated, next)
	publish(old, next)
	check(codes.OK, next)
	check(codes.OK, old)
	check(codes.Unauthenticated, unknown)
	publish(next)
	check(codes.Unauthenticated, unknown)
	check(codes.Unauthenticated, old)
	set.Store(noKeys)
	check(codes.OK, next)
}
