package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"jeton.example/servers/go/fixed/report"
)

// serve starts a server and returns a client and the keys of the server.
func serve(t *testing.T) (report.JwtServiceClient, keys) {
	t.Helper()
	keys, err := loadKeys("", "")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	report.RegisterJwtServiceServer(server, newService(keys))
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return report.NewJwtServiceClient(connection), keys
}

func TestTokenIsSignedWithTheKeyNotItsName(t *testing.T) {
	client, keys := serve(t)
	for _, algorithm := range []string{"HS256", "ES256"} {
		answer, err := client.GenerateJwt(context.Background(), &report.GenerateJwtRequest{Algorithm: algorithm})
		if err != nil {
			t.Fatal(err)
		}
		var claims jwt.RegisteredClaims
		if err := keys[algorithm].verify(answer.GetJwt(), &claims); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
		if claims.Subject != answer.GetSub() || len(claims.Subject) != 18 {
			t.Errorf("%s: subject %q", algorithm, claims.Subject)
		}
		if lived := claims.ExpiresAt.Sub(claims.IssuedAt.Time); lived != lifetime {
			t.Errorf("%s: lifetime %v", algorithm, lived)
		}
		empty := newSigner(jwt.SigningMethodHS256, "", []byte{}, []byte{})
		if err := empty.verify(answer.GetJwt(), &jwt.RegisteredClaims{}); err == nil {
			t.Errorf("%s: an empty secret verifies the token", algorithm)
		}
	}
}

func TestConcurrentCallsGetTheirOwnAnswers(t *testing.T) {
	client, _ := serve(t)
	var met sync.Map
	var calls sync.WaitGroup
	for range addressCount {
		calls.Go(func() {
			answer, err := client.GenerateJwt(context.Background(), &report.GenerateJwtRequest{Algorithm: "HS256"})
			if err != nil {
				t.Error(err)
				return
			}
			met.Store(answer.GetSub(), true)
		})
	}
	calls.Wait()
	count := 0
	met.Range(func(any, any) bool { count++; return true })
	if count != addressCount {
		t.Errorf("%d addresses", count)
	}
}

func TestUnknownAlgorithmIsAnError(t *testing.T) {
	client, _ := serve(t)
	for _, algorithm := range []string{"", "none", "HS512", "hs256"} {
		_, err := client.GenerateJwt(context.Background(), &report.GenerateJwtRequest{Algorithm: algorithm})
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("%q: %v", algorithm, err)
		}
	}
}

func TestInvalidKeysAreRejected(t *testing.T) {
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, files := range [][2]string{{file("short"), ""}, {file(""), ""}, {"", file("no PEM")}, {"absent", ""}} {
		if _, err := loadKeys(files[0], files[1]); err == nil {
			t.Errorf("%q is accepted", files)
		}
	}
}
