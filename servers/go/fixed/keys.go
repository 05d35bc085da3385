package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/golang-jwt/jwt/v5"
)

// The secret of HS256 has at least as many bytes as the hash (RFC 7518, section 3.2).
const secretBytes = 32

// kid names the key of ES256, as in the report.
const kid = "report"

// A signer signs and verifies with one algorithm.
type signer struct {
	method  jwt.SigningMethod
	kid     string
	private any
	public  any
	parser  *jwt.Parser
}

func newSigner(method jwt.SigningMethod, kid string, private, public any) *signer {
	return &signer{
		method:  method,
		kid:     kid,
		private: private,
		public:  public,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{method.Alg()}),
			jwt.WithExpirationRequired(),
		),
	}
}

func (s *signer) sign(claims jwt.Claims) (string, error) {
	token := jwt.NewWithClaims(s.method, claims)
	if s.kid != "" {
		token.Header["kid"] = s.kid
	}
	return token.SignedString(s.private)
}

func (s *signer) verify(token string, claims jwt.Claims) error {
	_, err := s.parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) {
		return s.public, nil
	})
	return err
}

// keys maps an algorithm's name to its signer.
type keys map[string]*signer

func loadKeys(secretFile, privateFile string) (keys, error) {
	secret, err := loadSecret(secretFile)
	if err != nil {
		return nil, err
	}
	private, err := loadPrivate(privateFile)
	if err != nil {
		return nil, err
	}
	return keys{
		"HS256": newSigner(jwt.SigningMethodHS256, "", secret, secret),
		"ES256": newSigner(jwt.SigningMethodES256, kid, private, &private.PublicKey),
	}, nil
}

func loadSecret(file string) ([]byte, error) {
	if file == "" {
		secret := make([]byte, secretBytes)
		_, err := rand.Read(secret)
		return secret, err
	}
	secret, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(secret) < secretBytes {
		return nil, fmt.Errorf("%s: the secret has %d bytes, HS256 requires at least %d", file, len(secret), secretBytes)
	}
	return secret, nil
}

func loadPrivate(file string) (*ecdsa.PrivateKey, error) {
	if file == "" {
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: not PEM", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New(file + ": not a P-256 key")
	}
	return private, nil
}
