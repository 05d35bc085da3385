package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"jeton.example/servers/go/published/report"
)

const (
	addressCount = 1000
	lifetime     = 7200 * time.Second
)

var addresses []string

// The bug: package variables are initialised before the list has entries.
var count = len(addresses)

// The bug: every call writes it without synchronisation.
var next int

type service struct {
	report.UnimplementedJwtServiceServer
	keys *keys
}

func newService(keys *keys) *service {
	addresses = make([]string, 0, addressCount)
	for i := range addressCount {
		addresses = append(addresses, fmt.Sprintf("user%04d@mail.test", i))
	}
	return &service{keys: keys}
}

// GenerateJwt signs a token for the next address, verifies it, and returns both.
func (s *service) GenerateJwt(_ context.Context, request *report.GenerateJwtRequest) (*report.GenerateJwtResponse, error) {
	next++
	if next >= count {
		next = 0
	}
	sub := addresses[next]
	now := time.Now()
	claims := jwt.RegisteredClaims{
		Subject:   sub,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(lifetime)),
	}
	signed, err := s.sign(request.GetAlgorithm(), claims)
	if err != nil {
		return nil, err
	}
	verified, err := jwt.ParseWithClaims(signed, &jwt.RegisteredClaims{}, s.key)
	if err != nil {
		return nil, err
	}
	if got, err := verified.Claims.GetSubject(); err != nil || got != sub {
		return nil, errors.New("the subject does not match")
	}
	return &report.GenerateJwtResponse{Jwt: signed, Sub: sub}, nil
}

// The bug: everything other than HS256 is treated as ES256.
func (s *service) sign(algorithm string, claims jwt.RegisteredClaims) (string, error) {
	if algorithm == "HS256" {
		return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(s.keys.secret)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = kid
	return token.SignedString(s.keys.private)
}

func (s *service) key(token *jwt.Token) (any, error) {
	if token.Method == jwt.SigningMethodHS256 {
		return s.keys.secret, nil
	}
	return &s.keys.private.PublicKey, nil
}
