package core

// #include "jeton.h"
import "C"

import (
	"sync"
	"unsafe"
)

// Longer buffers are not kept.
const keptBytes = 64 * 1024

// output receives a token, or the reason of a failure.
type output struct {
	token  []byte
	reason C.JetonReason
	length C.size_t
}

var outputs = sync.Pool{New: func() any { return &output{token: make([]byte, 2048)} }}

func (o *output) keep() {
	if len(o.token) <= keptBytes {
		outputs.Put(o)
	}
}

// NewIssuer calls jeton_issuer_new. Absent handles are nil.
func NewIssuer(key, encryption *Handle, options []byte) (*Handle, Failure) {
	var pointers [2]unsafe.Pointer
	handles := [2]*Handle{key, encryption}
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
	var issuer *C.JetonIssuer
	code := C.jeton_issuer_new((*C.JetonKey)(pointers[0]), (*C.JetonKey)(pointers[1]), nil,
		pointer(options), C.size_t(len(options)), &issuer, &reason)
	return created(unsafe.Pointer(issuer), code, &reason)
}

// Bound calls jeton_issue_bound.
func Bound(issuer *Handle, claims int) int {
	used := issuer.use()
	if used == nil {
		return 0
	}
	defer issuer.done()
	return int(C.jeton_issue_bound((*C.JetonIssuer)(used), C.size_t(claims)))
}

// Issue calls jeton_issue. `fixed` is the maximum length of a token without claims, and `now` is the time in
// microseconds since 1970.
func Issue(issuer *Handle, claims []byte, fixed int, now int64) (string, Failure) {
	out := outputs.Get().(*output)
	// Enough for base64 once. A token that is encoded twice needs its bound.
	if needed := fixed + len(claims)/3*4 + 16; len(out.token) < needed {
		out.token = make([]byte, needed)
	}
	used := issuer.use()
	if used == nil {
		return "", closed()
	}
	code := issue(used, claims, now, out)
	if code == C.JETON_BUFFER_TOO_SMALL {
		bound := C.jeton_issue_bound((*C.JetonIssuer)(used), C.size_t(len(claims)))
		out.token = make([]byte, bound)
		code = issue(used, claims, now, out)
	}
	issuer.done()
	if code != 0 {
		failed := failure(code, &out.reason)
		out.keep()
		return "", failed
	}
	token := string(out.token[:out.length])
	out.keep()
	return token, Failure{}
}

func issue(issuer unsafe.Pointer, claims []byte, now int64, out *output) C.JetonCode {
	return C.jeton_issue((*C.JetonIssuer)(issuer), bytesOf(claims), C.size_t(len(claims)), C.int64_t(now),
		bytesOf(out.token), C.size_t(len(out.token)), &out.length, &out.reason)
}

// IssueBytes calls jeton_issue_bytes.
func IssueBytes(issuer *Handle, data []byte) ([]byte, Failure) {
	used := issuer.use()
	if used == nil {
		return nil, closed()
	}
	defer issuer.done()
	var reason C.JetonReason
	var out C.JetonBuffer
	code := C.jeton_issue_bytes((*C.JetonIssuer)(used), pointer(data), C.size_t(len(data)), &out, &reason)
	return written(&out, code, &reason)
}

// UseClock is the time for bytes, which have no claims: the library reads no clock for them.
const UseClock int64 = C.JETON_USE_CLOCK

// Prepare calls jeton_prepare. `now` is the time in microseconds since 1970, or [UseClock].
func Prepare(issuer *Handle, data []byte, now int64) (*Handle, Failure) {
	used := issuer.use()
	if used == nil {
		return nil, closed()
	}
	defer issuer.done()
	var reason C.JetonReason
	var prepared *C.JetonPrepared
	code := C.jeton_prepare((*C.JetonIssuer)(used), pointer(data), C.size_t(len(data)), C.int64_t(now), &prepared, &reason)
	return created(unsafe.Pointer(prepared), code, &reason)
}

// PreparedInput calls jeton_prepared_input.
func PreparedInput(prepared *Handle, what string) ([]byte, Failure) {
	used := prepared.use()
	if used == nil {
		return nil, closed()
	}
	defer prepared.done()
	var reason C.JetonReason
	var out C.JetonBuffer
	code := C.jeton_prepared_input((*C.JetonPrepared)(used), pointer(what), C.size_t(len(what)), &out, &reason)
	return written(&out, code, &reason)
}

// Attach calls jeton_attach.
func Attach(prepared *Handle, signature []byte, form string) ([]byte, Failure) {
	used := prepared.use()
	if used == nil {
		return nil, closed()
	}
	defer prepared.done()
	var reason C.JetonReason
	var out C.JetonBuffer
	code := C.jeton_attach((*C.JetonPrepared)(used), pointer(signature), C.size_t(len(signature)),
		pointer(form), C.size_t(len(form)), &out, &reason)
	return written(&out, code, &reason)
}
