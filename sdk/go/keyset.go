package jeton

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// KeySet is a set of keys with the same use: verification keys, decryption keys or PASETO keys.
type KeySet struct {
	handle   *core.Handle
	isPaseto bool
}

// NewKeySet creates a set of keys with the same use. Of a private signing key, the set has only the public key.
func NewKeySet(keys ...*Key) (*KeySet, error) {
	handles := make([]*core.Handle, len(keys))
	isPaseto := false
	for at, key := range keys {
		if key == nil {
			return nil, unusable("key")
		}
		handles[at] = key.handle
		isPaseto = isPaseto || key.alg.isPaseto()
	}
	defer runtime.KeepAlive(keys)
	handle, why := core.NewKeySet(handles)
	return keySetOf(handle, why, isPaseto)
}

// ParseKeySet imports a JWK Set, or PASERKs, one per line. It skips unusable keys: [KeySet.Skipped] returns the
// reasons. A set without a usable key is [ErrKeySetEmpty].
func ParseKeySet(data []byte, options ...KeySetOption) (*KeySet, error) {
	chosen := newConfig()
	for _, option := range options {
		if option != nil {
			option.forKeySet(chosen)
		}
	}
	text, err := chosen.text()
	if err != nil {
		return nil, err
	}
	handle, why := core.ImportKeySet(data, text)
	return keySetOf(handle, why, strings.HasPrefix(strings.TrimSpace(string(data)), "k"))
}

func keySetOf(handle *core.Handle, why core.Failure, isPaseto bool) (*KeySet, error) {
	if why.Code != 0 {
		return nil, failed(why)
	}
	set := &KeySet{handle: handle, isPaseto: isPaseto}
	core.Own(set, handle)
	return set, nil
}

// JWKS returns the public keys as a JWK Set. It fails for decryption keys and PASETO keys.
func (s *KeySet) JWKS() ([]byte, error) { return s.export("jwks") }

// IDs returns the key ids (`kid`), with "" for a key without an id. It fails for decryption keys.
func (s *KeySet) IDs() ([]string, error) {
	text, err := s.export("ids")
	return strings.Split(string(text), "\n"), err
}

// Skipped returns the reason for each key that [ParseKeySet] skipped.
func (s *KeySet) Skipped() ([]string, error) {
	text, err := s.export("skipped")
	if len(text) == 0 {
		return nil, err
	}
	return strings.Split(string(text), "\n"), err
}

func (s *KeySet) export(what string) ([]byte, error) {
	if s == nil {
		return nil, unusable("key set")
	}
	defer runtime.KeepAlive(s)
	text, why := core.ExportKeySet(s.handle, what)
	return text, failed(why)
}

// Close wipes the set when no call uses it. Verifiers that were created with it keep working.
func (s *KeySet) Close() error {
	if s != nil {
		s.handle.Close()
	}
	return nil
}

// String returns a fixed text without key material.
func (s *KeySet) String() string { return "jeton.KeySet" }

// Format implements [fmt.Formatter]. It writes [KeySet.String] for every verb, so %+v and %#v do not print keys.
func (s *KeySet) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, s.String()) }

// LogValue implements [slog.LogValuer]. It returns [KeySet.String].
func (s *KeySet) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s *KeySet) verifying() (source, error) {
	if s == nil || s.handle == nil {
		return source{}, unusable("key set")
	}
	return source{keys: s.handle, isPaseto: s.isPaseto, keepsAlive: s}, nil
}
