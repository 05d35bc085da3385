package jeton

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Token gives access to the registered claims and the header of a verified token.
type Token struct {
	// The claims, followed by the parts of the header.
	text string
	// A static string of the library.
	alg                            string
	present, count                 uint32
	claims                         [len(core.Result{}.Claims)]core.Claim
	json, kid, typ, footer         core.Range
	expiresAt, notBefore, issuedAt int64
	// The token, and the verifier that reads its header.
	compact  string
	verifier *Verifier
}

func (t *Token) fill(scratch *core.Scratch) {
	result := &scratch.Result
	end := result.JSON.Start + result.JSON.Length
	for _, part := range [...]core.Range{result.KeyID, result.Type, result.Footer} {
		end = max(end, part.Start+part.Length)
	}
	t.text = string(scratch.Text[:end])
	t.alg = result.Algorithm()
	t.present, t.count, t.claims = result.Present, result.ClaimCount, result.Claims
	t.json, t.kid, t.typ, t.footer = result.JSON, result.KeyID, result.Type, result.Footer
	t.expiresAt, t.notBefore, t.issuedAt = result.ExpiresAt, result.NotBefore, result.IssuedAt
}

// Issuer returns `iss`, or "" if it is absent.
func (t *Token) Issuer() string { return t.claim(core.Issuer) }

// Subject returns `sub`, or "" if it is absent.
func (t *Token) Subject() string { return t.claim(core.Subject) }

// ID returns `jti`, or "" if it is absent.
func (t *Token) ID() string { return t.claim(core.TokenID) }

// Audience returns `aud` as a list, or nil if it is absent.
func (t *Token) Audience() []string {
	value, _ := t.value(core.Audience)
	if value == "" {
		return nil
	}
	if value[0] == '"' {
		return []string{t.claim(core.Audience)}
	}
	var all []string
	_ = json.Unmarshal([]byte(value), &all) // the library has checked it
	return all
}

// ExpiresAt returns `exp`, or the zero time if it is absent. At this time, the token has expired.
func (t *Token) ExpiresAt() time.Time { return t.time(core.Expiry, t.seconds(2)) }

// NotBefore returns `nbf`, or the zero time if it is absent.
func (t *Token) NotBefore() time.Time { return t.time(core.NotBefore, t.seconds(1)) }

// IssuedAt returns `iat`, or the zero time if it is absent.
func (t *Token) IssuedAt() time.Time { return t.time(core.IssuedAt, t.seconds(0)) }

// Algorithm returns the algorithm of the header, or the version and purpose of a PASETO.
func (t *Token) Algorithm() Algorithm {
	if t == nil {
		return ""
	}
	return Algorithm(t.alg)
}

// KeyID returns `kid` of the header, or "" if it is absent.
func (t *Token) KeyID() string {
	if t == nil {
		return ""
	}
	return t.part(t.kid)
}

// Type returns `typ` of the header, or "" if it is absent.
func (t *Token) Type() string {
	if t == nil {
		return ""
	}
	return t.part(t.typ)
}

// Header returns the protected header as in the token, or nil for a PASETO. For a nested JWT, it is the header of the
// signed JWT inside, which is decrypted again. It fails if the verifier is closed.
func (t *Token) Header() (json.RawMessage, error) {
	if t == nil || t.verifier == nil {
		return nil, unusable("token")
	}
	defer runtime.KeepAlive(t)
	text, why := core.Header(t.verifier.handle, t.compact)
	if why.Code != 0 || len(text) == 0 {
		return nil, failed(why)
	}
	return text, nil
}

// Footer returns the footer of a PASETO, or "" if it is absent.
func (t *Token) Footer() string {
	if t == nil {
		return ""
	}
	return t.part(t.footer)
}

// JSON returns all claims as JSON, byte for byte as in the token.
func (t *Token) JSON() string {
	if t == nil {
		return ""
	}
	return t.part(t.json)
}

// HasExpiry reports whether the token has `exp`.
func (t *Token) HasExpiry() bool { return t != nil && t.present&core.Expiry != 0 }

// HasScope reports whether the claim `scope` has this scope: a text with scopes separated by spaces (RFC 8693, section
// 4.2), or a list of texts.
func (t *Token) HasScope(scope string) bool {
	var claims map[string]json.RawMessage
	if scope == "" || strings.Contains(scope, " ") || json.Unmarshal([]byte(t.JSON()), &claims) != nil {
		return false
	}
	var text string
	if json.Unmarshal(claims["scope"], &text) == nil {
		return slices.Contains(strings.Split(text, " "), scope)
	}
	var list []json.RawMessage
	_ = json.Unmarshal(claims["scope"], &list) // another type has no scopes
	return slices.ContainsFunc(list, func(one json.RawMessage) bool {
		return json.Unmarshal(one, &text) == nil && text == scope
	})
}

func (t *Token) seconds(which int) int64 {
	if t == nil {
		return 0
	}
	return [...]int64{t.issuedAt, t.notBefore, t.expiresAt}[which]
}

func (t *Token) time(bit uint32, seconds int64) time.Time {
	if t == nil || t.present&bit == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

func (t *Token) part(of core.Range) string { return t.text[of.Start : of.Start+of.Length] }

// value returns the JSON text of a registered claim, and whether it has no escapes.
func (t *Token) value(bit uint32) (string, bool) {
	if t == nil || t.present&bit == 0 {
		return "", false
	}
	for at := range t.claims[:t.count] {
		if claim := &t.claims[at]; claim.Which == bit {
			return t.part(claim.Value), claim.IsPlain != 0
		}
	}
	return "", false
}

// claim returns a registered text claim.
func (t *Token) claim(bit uint32) string {
	value, isPlain := t.value(bit)
	if len(value) < 2 {
		return ""
	}
	if isPlain {
		return value[1 : len(value)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(value), &text) // the library has checked it
	return text
}

// String returns the algorithm, without claims.
func (t Token) String() string { return "jeton.Token(" + t.alg + ")" }

// Format implements [fmt.Formatter]. It writes [Token.String] for every verb, so %+v and %#v do not print claims.
func (t Token) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, t.String()) }

// LogValue implements [slog.LogValuer]. It returns [Token.String].
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }
