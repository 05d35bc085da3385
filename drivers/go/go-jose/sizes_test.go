package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// Compares the token sizes of a published report with tokens that the jeton binary makes with its
// header style. This independent library verifies or decrypts them. JETON names the binary; the
// step `lab` of `cargo xtask test` sets it. Without it the test is skipped.

const published = "../../../lab/published/data"

func TestPublishedSizesOfEncryptedTokens(t *testing.T) {
	jeton := binary(t)
	claims := claims(t)
	private, err := rsa.GenerateKey(rand.Reader, 3072)
	require(t, err)
	lines := table(t, "report2-jwe.csv")
	if len(lines) != 42 {
		t.Fatalf("%d rows", len(lines))
	}
	for _, line := range lines {
		alg, enc, size := line[0], line[1], line[4]
		var key, opens any
		var writes any
		switch {
		case strings.HasPrefix(alg, "RSA"):
			key, opens, writes = private, private, &private.PublicKey
		case alg == "dir":
			key = secret(t, map[string]int{
				"A128CBC-HS256": 32, "A192CBC-HS384": 48, "A256CBC-HS512": 64,
				"A128GCM": 16, "A192GCM": 24, "A256GCM": 32,
			}[enc])
			opens, writes = key, key
		default:
			bits, err := strconv.Atoi(alg[1:4])
			require(t, err)
			key = secret(t, bits/8)
			opens, writes = key, key
		}
		arguments := []string{
			"jwe", "encrypt", "--key", jwk(t, writes, ""), "--alg", alg, "--enc", enc,
			"--header-style", "report",
		}
		if alg == "RSA1_5" {
			arguments = append(arguments, "--allow", "rsa1_5")
		}
		token := run(t, jeton, append(arguments, "@"+claims)...)
		if strconv.Itoa(len(token)) != size {
			t.Errorf("%s with %s: %d bytes, published %s", alg, enc, len(token), size)
		}
		parsed, err := jose.ParseEncrypted(token,
			[]jose.KeyAlgorithm{jose.KeyAlgorithm(alg)}, []jose.ContentEncryption{jose.ContentEncryption(enc)})
		require(t, err)
		opened, err := parsed.Decrypt(opens)
		require(t, err)
		same(t, alg+" with "+enc, opened, claims)
	}
}

func TestPublishedSizesOfSignedTokens(t *testing.T) {
	jeton := binary(t)
	claims := claims(t)
	lines := table(t, "report2-jws.csv")
	if len(lines) != 8 {
		t.Fatalf("%d rows", len(lines))
	}
	curves := map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()}
	for _, line := range lines {
		alg, size := line[0], line[3]
		var signs, opens any
		switch {
		case alg == "NONE":
			continue // jeton makes no such token
		case alg == "RS256":
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			require(t, err)
			signs, opens = key, &key.PublicKey
		case curves[alg] != nil:
			key, err := ecdsa.GenerateKey(curves[alg], rand.Reader)
			require(t, err)
			signs, opens = key, &key.PublicKey
		default:
			bits, err := strconv.Atoi(alg[2:])
			require(t, err)
			key := secret(t, bits/8)
			signs, opens = key, key
		}
		token := run(t, jeton, "jws", "sign", "--key", jwk(t, signs, alg), "--header-style", "report", "@"+claims)
		if strconv.Itoa(len(token)) != size {
			t.Errorf("%s: %d bytes, published %s", alg, len(token), size)
		}
		parsed, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(alg)})
		require(t, err)
		opened, err := parsed.Verify(opens)
		require(t, err)
		same(t, alg, opened, claims)
	}
}

func binary(t *testing.T) string {
	t.Helper()
	jeton := os.Getenv("JETON")
	if jeton == "" {
		// The test needs the command `jeton`, which only the project's test command builds.
		t.Skip("JETON names no binary")
	}
	return jeton
}

// claims is a file with the report's claims: ten, each the 26 letters, 375 bytes.
func claims(t *testing.T) string {
	t.Helper()
	names := strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliett")
	for i, name := range names {
		names[i] = `"` + name + `":"abcdefghijklmnopqrstuvwxyz"`
	}
	text := "{" + strings.Join(names, ",") + "}"
	if len(text) != 375 {
		t.Fatalf("%d bytes of claims", len(text))
	}
	return file(t, "claims.json", []byte(text))
}

// jwk is a file with the key; of the algorithm, if it says one.
func jwk(t *testing.T, key any, alg string) string {
	t.Helper()
	text, err := jose.JSONWebKey{Key: key, Algorithm: alg}.MarshalJSON()
	require(t, err)
	return file(t, "key.jwk", text)
}

func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require(t, os.WriteFile(path, content, 0o600))
	return path
}

func secret(t *testing.T, size int) []byte {
	t.Helper()
	key := make([]byte, size)
	_, err := rand.Read(key)
	require(t, err)
	return key
}

func run(t *testing.T, program string, arguments ...string) string {
	t.Helper()
	var said bytes.Buffer
	command := exec.Command(program, arguments...)
	command.Stderr = &said
	token, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", arguments, err, said.String())
	}
	return strings.TrimSpace(string(token))
}

func table(t *testing.T, name string) [][]string {
	t.Helper()
	content, err := os.Open(filepath.Join(published, name))
	require(t, err)
	defer content.Close()
	lines, err := csv.NewReader(content).ReadAll()
	require(t, err)
	return lines[1:]
}

func same(t *testing.T, what string, opened []byte, claims string) {
	t.Helper()
	content, err := os.ReadFile(claims)
	require(t, err)
	if !bytes.Equal(opened, content) {
		t.Errorf("%s: other bytes than were put in", what)
	}
}

func require(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
