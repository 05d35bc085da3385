package core

/*
#include "jeton.h"

#cgo noescape jeton_key_generate
#cgo nocallback jeton_key_generate
#cgo noescape jeton_key_import
#cgo nocallback jeton_key_import
#cgo noescape jeton_key_export
#cgo nocallback jeton_key_export
#cgo noescape jeton_buffer_free
#cgo nocallback jeton_buffer_free
*/
import "C"

import "unsafe"

// GenerateKey calls jeton_key_generate.
func GenerateKey(alg, options string) (*Handle, Failure) {
	var reason C.JetonReason
	var key *C.JetonKey
	code := C.jeton_key_generate(pointer(alg), C.size_t(len(alg)), pointer(options), C.size_t(len(options)), &key, &reason)
	return created(unsafe.Pointer(key), code, &reason)
}

// ImportKey calls jeton_key_import.
func ImportKey(data []byte, options []byte) (*Handle, Failure) {
	var reason C.JetonReason
	var key *C.JetonKey
	code := C.jeton_key_import(pointer(data), C.size_t(len(data)), pointer(options), C.size_t(len(options)), &key, &reason)
	return created(unsafe.Pointer(key), code, &reason)
}

// PublicKey calls jeton_key_public.
func PublicKey(key *Handle) (*Handle, Failure) {
	used := key.use()
	if used == nil {
		return nil, closed()
	}
	defer key.done()
	var reason C.JetonReason
	var public *C.JetonKey
	code := C.jeton_key_public((*C.JetonKey)(used), &public, &reason)
	return created(unsafe.Pointer(public), code, &reason)
}

// WarmUp calls jeton_key_warm_up.
func WarmUp(key *Handle) Failure {
	used := key.use()
	if used == nil {
		return closed()
	}
	defer key.done()
	var reason C.JetonReason
	return failure(C.jeton_key_warm_up((*C.JetonKey)(used), &reason), &reason)
}

// ExportKey calls jeton_key_export.
func ExportKey(key *Handle, what string) ([]byte, Failure) {
	used := key.use()
	if used == nil {
		return nil, closed()
	}
	defer key.done()
	var reason C.JetonReason
	var out C.JetonBuffer
	code := C.jeton_key_export((*C.JetonKey)(used), pointer(what), C.size_t(len(what)), &out, &reason)
	return written(&out, code, &reason)
}

// NewKeySet calls jeton_key_set_new.
func NewKeySet(keys []*Handle) (*Handle, Failure) {
	pointers := make([]*C.JetonKey, 0, len(keys))
	for at, key := range keys {
		used := key.use()
		if used == nil {
			doneAll(keys[:at]...)
			return nil, closed()
		}
		pointers = append(pointers, (*C.JetonKey)(used))
	}
	defer doneAll(keys...)
	var reason C.JetonReason
	var set *C.JetonKeySet
	code := C.jeton_key_set_new(unsafe.SliceData(pointers), C.size_t(len(pointers)), &set, &reason)
	return created(unsafe.Pointer(set), code, &reason)
}

// ImportKeySet calls jeton_key_set_import.
func ImportKeySet(data []byte, options []byte) (*Handle, Failure) {
	var reason C.JetonReason
	var set *C.JetonKeySet
	code := C.jeton_key_set_import(pointer(data), C.size_t(len(data)), pointer(options), C.size_t(len(options)), &set, &reason)
	return created(unsafe.Pointer(set), code, &reason)
}

// ExportKeySet calls jeton_key_set_export.
func ExportKeySet(set *Handle, what string) ([]byte, Failure) {
	used := set.use()
	if used == nil {
		return nil, closed()
	}
	defer set.done()
	var reason C.JetonReason
	var out C.JetonBuffer
	code := C.jeton_key_set_export((*C.JetonKeySet)(used), pointer(what), C.size_t(len(what)), &out, &reason)
	return written(&out, code, &reason)
}

func created(pointer unsafe.Pointer, code C.JetonCode, reason *C.JetonReason) (*Handle, Failure) {
	if code != 0 {
		return nil, failure(code, reason)
	}
	return &Handle{pointer: pointer}, Failure{}
}

func written(out *C.JetonBuffer, code C.JetonCode, reason *C.JetonReason) ([]byte, Failure) {
	if code != 0 {
		return nil, failure(code, reason)
	}
	return take(out), Failure{}
}
