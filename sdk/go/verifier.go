package jeton

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Keys are the keys of a verifier: a [*Key], a [*KeySet] or a [*RemoteKeySet].
type Keys interface{ verifying() (source, error) }

// source has the keys for the library. Exactly one handle is set.
type source struct {
	key, keys, remote *core.Handle
	fetcher           *RemoteKeySet
	// For PASETO, or for encrypted JWTs.
	isPaseto, isEncryption bool
	keepsAlive             any
}

// Verifier verifies tokens with its keys and its policy. It is safe for concurrent use.
type Verifier struct {
	handle  *core.Handle
	remote  *RemoteKeySet
	now     func() time.Time
	decode  func([]byte, any) error
	numbers bool
	partial bool
	// The accepted issuers; none if any is accepted.
	issuers []string
	// It verifies signed JWTs, and no PASETO or encrypted tokens.
	isSigned bool
}

// Verified is a verified token. Its claims are read into a T.
type Verified[T any] struct {
	// Claims has the custom claims, and registered claims that T declares.
	Claims T
	Token
}

// NewVerifier creates a verifier. Pass [WithIssuer] or [WithAnyIssuer], and [WithAudience] or [WithAnyAudience]. If the
// key is private, the verifier uses its public key.
func NewVerifier(keys Keys, options ...VerifierOption) (*Verifier, error) {
	if keys == nil {
		return nil, unusable("key")
	}
	from, err := keys.verifying()
	if err != nil {
		return nil, err
	}
	chosen := newConfig()
	if from.isPaseto {
		chosen.set("format", "paseto")
	}
	for _, option := range options {
		if option != nil {
			option.forVerifier(chosen)
		}
	}
	text, err := chosen.text()
	if err != nil {
		return nil, err
	}
	var decryption *core.Handle
	if len(chosen.decryption) > 0 {
		set, err := NewKeySet(chosen.decryption...)
		if err != nil {
			return nil, err
		}
		defer func() { _ = set.Close() }()
		decryption = set.handle
	}
	handle, why := core.NewVerifier(from.key, from.keys, decryption, from.remote, text)
	runtime.KeepAlive(from)
	runtime.KeepAlive(chosen)
	if why.Code != 0 {
		return nil, failed(why)
	}
	verifier := &Verifier{handle: handle, remote: from.fetcher, now: chosen.now, decode: chosen.decode,
		numbers: chosen.numbers, partial: chosen.partial, issuers: textsOf(chosen.settings["issuer"]),
		isSigned: !from.isPaseto && !from.isEncryption && len(chosen.decryption) == 0}
	core.Own(verifier, handle)
	return verifier, nil
}

// Verify verifies a token and reads its claims into a T: a struct, a map, or [encoding/json.RawMessage] for the JSON.
// Each field of a struct needs a claim, except pointers and fields with omitempty or omitzero. A verifier with a
// [RemoteKeySet] may wait for a fetch: use [VerifyContext] to limit the time.
//
// If T has a method Validate() error, Verify calls it after the verification. Its error rejects the token with
// [ErrTokenClaimsShape], and is part of the text of that error.
func Verify[T any](verifier TokenVerifier, token string) (*Verified[T], error) {
	return VerifyContext[T](context.Background(), verifier, token)
}

// VerifyContext is [Verify] with a context. The context limits the wait for the keys of a [RemoteKeySet].
func VerifyContext[T any](ctx context.Context, verifier TokenVerifier, token string) (*Verified[T], error) {
	if verifier == nil {
		return nil, unusable("verifier")
	}
	chosen, err := verifier.verifierOf(token)
	if err != nil {
		return nil, err
	}
	scratch := core.NewScratch()
	defer scratch.Keep()
	if err := chosen.verify(ctx, token, scratch); err != nil {
		return nil, err
	}
	verified := new(Verified[T])
	verified.fill(scratch)
	verified.compact, verified.verifier = token, chosen
	how := planOf[T]()
	if err := chosen.read(scratch, how, &verified.Claims); err != nil {
		return nil, err
	}
	if how.validates {
		if err := validate(&verified.Claims); err != nil {
			return nil, err
		}
	}
	return verified, nil
}

// validate calls the method Validate of the claims, or of the pointer to them.
func validate[T any](claims *T) error {
	checked, ok := any(claims).(validator)
	if !ok {
		checked = any(*claims).(validator)
	}
	if err := checked.Validate(); err != nil {
		return &Error{Code: CodeTokenClaimsShape, Message: "the method Validate rejects the claims", cause: err, showsCause: true}
	}
	return nil
}

func (v *Verifier) verify(ctx context.Context, token string, scratch *core.Scratch) error {
	defer runtime.KeepAlive(v)
	why := v.verifyNow(token, scratch)
	if v.remote != nil {
		return v.remote.after(ctx, why, func() core.Failure { return v.verifyNow(token, scratch) })
	}
	if why.Code != 0 {
		return failed(why)
	}
	return nil
}

func (v *Verifier) verifyNow(token string, scratch *core.Scratch) core.Failure {
	return core.Verify(v.handle, token, microseconds(v.now()), scratch)
}

// read reads the claims. It changes the text of scratch.
func (v *Verifier) read(scratch *core.Scratch, how *plan, into any) error {
	text := scratch.Text[scratch.Result.JSON.Start:][:scratch.Result.JSON.Length]
	if v.decode != nil {
		// The function may keep the text.
		if err := v.decode([]byte(string(text)), into); err != nil {
			return caused(CodeTokenClaimsShape, "the claims do not match the type", err)
		}
		return nil
	}
	if how.withoutRegistered {
		text = cutRegistered(text, &scratch.Result)
		if len(text) == len("{}") && !how.validates && (v.partial || len(how.shape.required) == 0) {
			return nil
		}
	}
	text, err := v.check(text, how.shape)
	if err != nil {
		return err
	}
	if err := v.unmarshal(text, into); err != nil {
		return shapeError(err)
	}
	return nil
}

func (v *Verifier) unmarshal(text []byte, into any) error {
	if !v.numbers {
		return json.Unmarshal(text, into)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// shapeError names the member that does not match, without its value.
func shapeError(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return failure(CodeTokenClaimsShape, "the claims do not match the type")
	}
	if wrong.Field == "" {
		return failure(CodeTokenClaimsShape, "the claims do not match the type "+name(wrong.Type))
	}
	return failure(CodeTokenClaimsShape, "the claim `"+wrong.Field+"` does not match the type "+name(wrong.Type))
}

func name(of reflect.Type) string {
	if of == nil {
		return "of the field"
	}
	return of.String()
}

// cutRegistered returns the text without the registered claims, in the same memory.
func cutRegistered(text []byte, result *core.Result) []byte {
	rest := text[:0]
	from := 0
	for at := range result.Claims[:result.ClaimCount] {
		member := result.Claims[at].Member
		start, end := int(member.Start-result.JSON.Start), int(member.Start-result.JSON.Start+member.Length)
		rest = append(rest, text[from:start]...)
		from = end
		for from < len(text) && isSpace(text[from]) {
			from++
		}
		if from < len(text) && text[from] == ',' {
			from++
			continue
		}
		// The last member: remove the comma before it.
		kept := len(rest)
		for kept > 0 && isSpace(rest[kept-1]) {
			kept--
		}
		if kept > 0 && rest[kept-1] == ',' {
			rest = rest[:kept-1]
		}
	}
	return append(rest, text[from:]...)
}

// Close wipes the verifier when no call uses it. Later calls return [ErrArgumentHandle]. It does not close a
// [RemoteKeySet].
func (v *Verifier) Close() error {
	if v != nil {
		v.handle.Close()
	}
	return nil
}

// String returns a fixed text without key material.
func (v *Verifier) String() string { return "jeton.Verifier" }
