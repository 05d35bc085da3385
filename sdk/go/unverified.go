package jeton

import (
	"encoding/json"
	"log/slog"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// UnverifiedToken is what a token says. Anyone can write such a token: use it to choose keys, and for logs.
type UnverifiedToken struct {
	// Format is jwt, jwe or paseto.
	Format string
	// Header is the protected header as in the token, or nil for a PASETO.
	Header json.RawMessage
	// Claims are as in the token, or nil if they are encrypted.
	Claims json.RawMessage
	// Footer is the footer of a PASETO, or "" if it is absent.
	Footer string
}

// ReadUnverified reads a compact token without keys. It returns [ErrTokenRejected] for a token that is malformed or
// exceeds the default limits.
func ReadUnverified(token string) (*UnverifiedToken, error) {
	text, why := core.Unverified(token)
	if why.Code != 0 {
		return nil, failed(why)
	}
	var read struct {
		Format         string
		Header, Claims *json.RawMessage
		Footer         string
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, failure(CodeInternal, "the text of the library cannot be read")
	}
	unverified := &UnverifiedToken{Format: read.Format, Footer: read.Footer}
	if read.Header != nil {
		unverified.Header = *read.Header
	}
	if read.Claims != nil {
		unverified.Claims = *read.Claims
	}
	return unverified, nil
}

// Issuer returns `iss` of the claims, or "" if it is absent or encrypted.
func (u *UnverifiedToken) Issuer() string {
	if u == nil {
		return ""
	}
	issuer, _ := u.issuer()
	return issuer
}

// issuer returns `iss`, and whether it is there.
func (u *UnverifiedToken) issuer() (string, bool) {
	// The names of a map are case-sensitive, unlike those of a struct.
	var claims map[string]json.RawMessage
	if json.Unmarshal(u.Claims, &claims) != nil || claims["iss"] == nil {
		return "", false
	}
	var issuer string
	return issuer, json.Unmarshal(claims["iss"], &issuer) == nil
}

// String returns a fixed text without claims.
func (u UnverifiedToken) String() string { return "jeton.UnverifiedToken" }

// GoString returns [UnverifiedToken.String], so that %#v does not print claims.
func (u UnverifiedToken) GoString() string { return u.String() }

// LogValue implements [slog.LogValuer]. It returns [UnverifiedToken.String].
func (u UnverifiedToken) LogValue() slog.Value { return slog.StringValue(u.String()) }
