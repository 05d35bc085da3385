package core

// #include "jeton.h"
import "C"

import (
	"sync"
	"unsafe"
)

// Bits of [Result.Present].
const (
	Issuer    = 1
	Subject   = 2
	Audience  = 4
	Expiry    = 8
	NotBefore = 16
	IssuedAt  = 32
	TokenID   = 64
	KeyID     = 256
	Type      = 512
	Footer    = 1024
)

// Range is a part of the text of a [Result].
type Range struct{ Start, Length uint32 }

// Claim is the position of a registered claim.
type Claim struct {
	Which, IsPlain uint32
	Member, Value  Range
}

// Result describes a verified token. Its text is in [Scratch.Text].
type Result struct {
	Present    uint32
	ClaimCount uint32
	Claims     [C.JETON_CLAIMS_MAX]Claim
	JSON       Range
	KeyID      Range
	Type       Range
	Footer     Range
	alg        *C.uint8_t
	algLength  C.size_t
	ExpiresAt  int64
	NotBefore  int64
	IssuedAt   int64
}

// The types have the same layout, so that nothing is copied.
var _ [unsafe.Sizeof(C.JetonVerified{})]byte = [unsafe.Sizeof(Result{})]byte{}
var _ [unsafe.Offsetof(C.JetonVerified{}.issued_at)]byte = [unsafe.Offsetof(Result{}.IssuedAt)]byte{}
var _ [unsafe.Offsetof(C.JetonVerified{}.alg)]byte = [unsafe.Offsetof(Result{}.alg)]byte{}

// Algorithm returns the name of the algorithm, a static string of the library.
func (r *Result) Algorithm() string {
	return unsafe.String((*byte)(unsafe.Pointer(r.alg)), int(r.algLength))
}

// Scratch is memory for a verified token. Return it with [Scratch.Keep] when nothing refers to its text.
type Scratch struct {
	Text   []byte
	Result Result
	reason C.JetonReason
}

var scratches = sync.Pool{New: func() any { return &Scratch{Text: make([]byte, 4096)} }}

// NewScratch returns memory for [Verify].
func NewScratch() *Scratch { return scratches.Get().(*Scratch) }

// Keep returns the memory for another call.
func (s *Scratch) Keep() {
	if len(s.Text) <= keptBytes {
		scratches.Put(s)
	}
}

// NewVerifier calls jeton_verifier_new. Absent handles are nil.
func NewVerifier(key, keys, decryption, remote *Handle, options []byte) (*Handle, Failure) {
	var pointers [4]unsafe.Pointer
	handles := [4]*Handle{key, keys, decryption, remote}
	for at, handle := range handles {
		used, ok := optional(handle)
		if !ok {
			doneAll(handles[:at]...)
			return nil, closed()
		}
		pointers[at] = used
	}
	defer doneAll(handles[:]...)
	var reason C.JetonReason
	var verifier *C.JetonVerifier
	code := C.jeton_verifier_new((*C.JetonKey)(pointers[0]), (*C.JetonKeySet)(pointers[1]), (*C.JetonKeySet)(pointers[2]),
		(*C.JetonRemoteKeys)(pointers[3]), nil,
		pointer(options), C.size_t(len(options)), &verifier, &reason)
	return created(unsafe.Pointer(verifier), code, &reason)
}

// extraBytes is the memory that a result needs besides the token.
var extraBytes = int(C.jeton_verify_bound(0))

// Verify calls jeton_verify. `now` is the time in microseconds since 1970.
func Verify(verifier *Handle, token string, now int64, scratch *Scratch) Failure {
	used := verifier.use()
	if used == nil {
		return closed()
	}
	if needed := len(token) + extraBytes; len(scratch.Text) < needed {
		scratch.Text = make([]byte, needed)
	}
	code := C.jeton_verify((*C.JetonVerifier)(used), stringOf(token), C.size_t(len(token)), C.int64_t(now),
		bytesOf(scratch.Text), C.size_t(len(scratch.Text)), (*C.JetonVerified)(unsafe.Pointer(&scratch.Result)), &scratch.reason)
	verifier.done()
	if code != 0 {
		return failure(code, &scratch.reason)
	}
	return Failure{}
}

// Header calls jeton_verified_header, for a token that the verifier has verified. The text is JSON; empty for a PASETO.
func Header(verifier *Handle, token string) ([]byte, Failure) {
	used := verifier.use()
	if used == nil {
		return nil, closed()
	}
	defer verifier.done()
	var reason C.JetonReason
	var out C.JetonBuffer
	code := C.jeton_verified_header((*C.JetonVerifier)(used), stringOf(token), C.size_t(len(token)), &out, &reason)
	return written(&out, code, &reason)
}

// VerifyBytes calls jeton_verify_bytes. Content is nil unless the JWS is detached.
func VerifyBytes(verifier *Handle, token string, content []byte) ([]byte, Failure) {
	used := verifier.use()
	if used == nil {
		return nil, closed()
	}
	defer verifier.done()
	var reason C.JetonReason
	var out C.JetonBuffer
	// Empty content has a pointer, unlike absent content.
	start := bytesOf(content)
	code := C.jeton_verify_bytes((*C.JetonVerifier)(used), stringOf(token), C.size_t(len(token)), start,
		C.size_t(len(content)), &out, &reason)
	return written(&out, code, &reason)
}

// Unverified calls jeton_unverified. The text is JSON.
func Unverified(token string) ([]byte, Failure) {
	var reason C.JetonReason
	var out C.JetonBuffer
	code := C.jeton_unverified(stringOf(token), C.size_t(len(token)), &out, &reason)
	return written(&out, code, &reason)
}

// NewRemoteKeys calls jeton_remote_keys_new.
func NewRemoteKeys(options []byte) (*Handle, Failure) {
	var reason C.JetonReason
	var keys *C.JetonRemoteKeys
	code := C.jeton_remote_keys_new(pointer(options), C.size_t(len(options)), &keys, &reason)
	return created(unsafe.Pointer(keys), code, &reason)
}

// NextRequest calls jeton_remote_keys_next. The text is empty if there is no request.
func NextRequest(keys *Handle) ([]byte, Failure) {
	used := keys.use()
	if used == nil {
		return nil, closed()
	}
	defer keys.done()
	var reason C.JetonReason
	var out C.JetonBuffer
	code := C.jeton_remote_keys_next((*C.JetonRemoteKeys)(used), &out, &reason)
	return written(&out, code, &reason)
}

// Ready calls jeton_remote_keys_ready.
func Ready(keys *Handle) Failure {
	used := keys.use()
	if used == nil {
		return closed()
	}
	defer keys.done()
	var reason C.JetonReason
	code := C.jeton_remote_keys_ready((*C.JetonRemoteKeys)(used), &reason)
	return failure(code, &reason)
}

// Respond calls jeton_remote_keys_respond.
func Respond(keys *Handle, id uint64, status int, headers string, body []byte) Failure {
	used := keys.use()
	if used == nil {
		return closed()
	}
	defer keys.done()
	var reason C.JetonReason
	code := C.jeton_remote_keys_respond((*C.JetonRemoteKeys)(used), C.uint64_t(id), C.uint32_t(status),
		stringOf(headers), C.size_t(len(headers)), pointer(body), C.size_t(len(body)), &reason)
	return failure(code, &reason)
}
