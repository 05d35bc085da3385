// Reads keys with crypto/x509 and go-jose for the study of key readers.
//
// Each line of stdin is a reader (`pem`, `der` or `jwk`), a space and the input in base64. Each line of stdout is
// the answer: `public KEY`, `private KEY`, `secret KEY`, `unknown` for a key type that the library has not, or
// `rejected WHY`. An empty line flushes the answers.
package main

import (
	"bufio"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// What the libraries say about a curve or a type that they do not have.
var unknown = []string{"unsupported elliptic curve", "unknown elliptic curve", "unknown curve"}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<22)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		reader, text, found := strings.Cut(lines.Text(), " ")
		if !found {
			out.Flush()
			continue
		}
		input, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, "key-readers: the input is not base64")
			os.Exit(2)
		}
		fmt.Fprintln(out, answer(reader, input))
	}
}

func answer(reader string, input []byte) (said string) {
	defer func() {
		if why := recover(); why != nil {
			said = "rejected panic"
		}
	}()
	var key any
	var err error
	switch reader {
	case "der":
		key, err = ofDER(input)
	case "pem":
		key, err = ofPEM(input)
	default:
		key, err = ofJWK(input)
	}
	if err != nil {
		why := strings.ReplaceAll(err.Error(), "\n", " ")
		for _, missing := range unknown {
			if strings.Contains(why, missing) {
				return "unknown"
			}
		}
		return "rejected " + why
	}
	return described(key)
}

func ofDER(der []byte) (any, error) {
	readers := []func([]byte) (any, error){
		x509.ParsePKIXPublicKey,
		x509.ParsePKCS8PrivateKey,
		func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) },
		func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) },
		func(der []byte) (any, error) { return x509.ParsePKCS1PublicKey(der) },
	}
	var first error
	for _, read := range readers {
		key, err := read(der)
		if err == nil {
			return key, nil
		}
		if first == nil || strings.Contains(first.Error(), "structure error") {
			first = err
		}
	}
	return nil, first
}

// ofPEM skips what programs skip: certificates and EC parameters.
func ofPEM(text []byte) (any, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errors.New("no block")
		}
		text = rest
		switch block.Type {
		case "PUBLIC KEY":
			return x509.ParsePKIXPublicKey(block.Bytes)
		case "PRIVATE KEY":
			return x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			return x509.ParsePKCS1PrivateKey(block.Bytes)
		case "RSA PUBLIC KEY":
			return x509.ParsePKCS1PublicKey(block.Bytes)
		case "EC PRIVATE KEY":
			return x509.ParseECPrivateKey(block.Bytes)
		case "CERTIFICATE", "EC PARAMETERS":
			continue
		}
		return nil, errors.New("label")
	}
}

func ofJWK(text []byte) (any, error) {
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	if !key.Valid() {
		return nil, errors.New("not valid")
	}
	return key.Key, nil
}

func described(key any) string {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return "public " + ofRSA(key)
	case *rsa.PrivateKey:
		return "private " + ofRSA(&key.PublicKey)
	case *ecdsa.PublicKey:
		return "public " + ofEC(key)
	case *ecdsa.PrivateKey:
		return "private " + ofEC(&key.PublicKey)
	case ed25519.PublicKey:
		return "public Ed25519 " + hex.EncodeToString(key)
	case ed25519.PrivateKey:
		return "private Ed25519 " + hex.EncodeToString(key.Public().(ed25519.PublicKey))
	case *ecdh.PublicKey:
		return "public X25519 " + hex.EncodeToString(key.Bytes())
	case *ecdh.PrivateKey:
		return "private X25519 " + hex.EncodeToString(key.PublicKey().Bytes())
	case []byte:
		return "secret oct " + hex.EncodeToString(key)
	}
	return "unknown"
}

func ofRSA(key *rsa.PublicKey) string {
	return fmt.Sprintf("RSA %s %x", hex.EncodeToString(key.N.Bytes()), key.E)
}

func ofEC(key *ecdsa.PublicKey) string {
	length := (key.Curve.Params().BitSize + 7) / 8
	x, y := make([]byte, length), make([]byte, length)
	key.X.FillBytes(x)
	key.Y.FillBytes(y)
	return "EC " + key.Curve.Params().Name + " " + hex.EncodeToString(x) + hex.EncodeToString(y)
}
