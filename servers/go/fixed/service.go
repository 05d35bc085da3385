package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"jeton.example/servers/go/fixed/report"
)

const (
	addressCount = 1000
	lifetime     = 7200 * time.Second
)

type service struct {
	report.UnimplementedJwtServiceServer
	keys      keys
	addresses [addressCount]string
	next      atomic.Uint64
}

func newService(keys keys) *service {
	s := &service{keys: keys}
	for i := range s.addresses {
		s.addresses[i] = fmt.Sprintf("user%04d@mail.test", i)
	}
	return s
}

// GenerateJwt signs a token for the next address, verifies it, and returns both.
func (s *service) GenerateJwt(_ context.Context, request *report.GenerateJwtRequest) (*report.GenerateJwtResponse, error) {
	signer, ok := s.keys[request.GetAlgorithm()]
	if !ok {
		return nil, status.Error(codes.InvalidArgument, "algorithm must be HS256 or ES256")
	}
	sub := s.addresses[(s.next.Add(1)-1)%addressCount]
	now := time.Now()
	token, err := signer.sign(&jwt.RegisteredClaims{
		Subject:   sub,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(lifetime)),
	})
	if err != nil {
		return nil, status.Error(codes.Internal, "the token could not be signed")
	}
	var verified jwt.RegisteredClaims
	if err := signer.verify(token, &verified); err != nil || verified.Subject != sub {
		return nil, status.Error(codes.Internal, "the token could not be verified")
	}
	return &report.GenerateJwtResponse{Jwt: token, Sub: sub}, nil
}
