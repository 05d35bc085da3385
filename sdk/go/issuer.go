package jeton

import (
	"bytes"
	"encoding/json"
	"runtime"
	"sync"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Issuer issues tokens with its key and its settings. It is safe for concurrent use.
type Issuer struct {
	handle *core.Handle
	encode func(any) ([]byte, error)
	// The maximum length of a token without claims.
	fixed int
	// Set for a key of [NewKeyFromSigner].
	signer *remoteSigner
	// The time of each call: [time.Now], which a bubble of testing/synctest replaces, or that of [WithClock].
	now func() time.Time
}

// NewIssuer creates an issuer. The key and the options select the format:
//   - signed JWTs with a private key or a secret,
//   - encrypted JWTs with a key for [Direct],
//   - nested JWTs with [WithEncryption],
//   - PASETO with a PASETO key.
//
// With a public key, the issuer supports only [Issuer.Prepare] and [Issuer.IssueWith].
//
// Each token needs an expiry: pass [WithLifetime], or `exp` in the claims. [WithoutExpiry] issues tokens without `exp`.
// `iat` is the current time, unless the claims have it.
func NewIssuer(key *Key, options ...IssuerOption) (*Issuer, error) {
	if key == nil {
		return nil, unusable("key")
	}
	chosen := newConfig()
	if key.alg.isPaseto() {
		chosen.set("format", "paseto")
	}
	for _, option := range options {
		if option != nil {
			option.forIssuer(chosen)
		}
	}
	text, err := chosen.text()
	if err != nil {
		return nil, err
	}
	if key.handle == nil {
		return nil, unusable("key")
	}
	var encryption *core.Handle
	if chosen.encryption != nil {
		if key.signer != nil {
			return nil, failure(CodeInvalidOption,
				"option `WithEncryption`: not supported with a crypto.Signer: use NewEncrypter and WithContentType(\"JWT\")")
		}
		encryption = chosen.encryption.handle
	}
	handle, why := core.NewIssuer(key.handle, encryption, text)
	runtime.KeepAlive(key)
	runtime.KeepAlive(chosen)
	if why.Code != 0 {
		return nil, failed(why)
	}
	issuer := &Issuer{handle: handle, encode: chosen.encode, fixed: core.Bound(handle, 0), signer: key.remote(),
		now: chosen.now}
	core.Own(issuer, handle)
	return issuer, nil
}

// encoder writes claims into a reused buffer.
type encoder struct {
	buffer bytes.Buffer
	json   *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	encoder := new(encoder)
	encoder.json = json.NewEncoder(&encoder.buffer)
	// Claims are not HTML.
	encoder.json.SetEscapeHTML(false)
	return encoder
}}

// Issue issues a token with these claims: a struct, a map or an [encoding/json.RawMessage] that encoding/json writes as
// an object. The claims can have registered claims, such as `sub`. A claim that an option already sets, such as `iss`
// of [WithIssuer], is [ErrClaimsSetForAll].
func (i *Issuer) Issue(claims any) (string, error) {
	if i == nil || i.handle == nil {
		return "", unusable("issuer")
	}
	if i.encode != nil || i.signer != nil {
		return i.issueEncoded(claims)
	}
	encoder := encoders.Get().(*encoder)
	encoder.buffer.Reset()
	if err := encoder.json.Encode(claims); err != nil {
		encoders.Put(encoder)
		return "", caused(CodeClaimsNotSerializable, "the claims cannot be written as JSON", err)
	}
	token, why := core.Issue(i.handle, encoder.buffer.Bytes(), i.fixed, microseconds(i.now()))
	if encoder.buffer.Cap() <= 64*1024 {
		encoders.Put(encoder)
	}
	runtime.KeepAlive(i)
	if why.Code != 0 {
		return "", failed(why)
	}
	return token, nil
}

// IssueJSON issues a token with claims that are already encoded as a JSON object. The library checks the JSON and does
// not re-encode it.
func (i *Issuer) IssueJSON(claims []byte) (string, error) {
	if i == nil || i.handle == nil {
		return "", unusable("issuer")
	}
	defer runtime.KeepAlive(i)
	if i.signer != nil {
		return i.signer.sign(i.prepare(claims))
	}
	token, why := core.Issue(i.handle, claims, i.fixed, microseconds(i.now()))
	return token, failed(why)
}

func (i *Issuer) issueEncoded(claims any) (string, error) {
	text, err := i.encoded(claims)
	if err != nil {
		return "", err
	}
	return i.IssueJSON(text)
}

func (i *Issuer) encoded(claims any) ([]byte, error) {
	encode := json.Marshal
	if i.encode != nil {
		encode = i.encode
	}
	text, err := encode(claims)
	if err != nil {
		return nil, caused(CodeClaimsNotSerializable, "the claims cannot be written as JSON", err)
	}
	return text, nil
}

// Close wipes the issuer when no call uses it. Later calls return [ErrArgumentHandle].
func (i *Issuer) Close() error {
	if i != nil {
		i.handle.Close()
	}
	return nil
}

// String returns a fixed text without key material.
func (i *Issuer) String() string { return "jeton.Issuer" }
