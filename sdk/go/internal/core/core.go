// Package core calls jeton's C interface. Nothing else in the module uses cgo.
//
// Functions return a code (0 for success) and a message for people. The library reads and writes Go memory only during
// the call.
package core

/*
#include "jeton.h"

#cgo noescape jeton_issue
#cgo nocallback jeton_issue
#cgo noescape jeton_verify
#cgo nocallback jeton_verify
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Text is input of the library: a string or bytes.
type Text interface{ ~string | ~[]byte }

func init() {
	if version := uint32(C.jeton_abi_version()); version != C.JETON_ABI_VERSION {
		panic(fmt.Sprintf("jeton: the native library has interface %d, %d expected: the module and its library are from "+
			"different releases", version, uint32(C.JETON_ABI_VERSION)))
	}
}

// pointer returns the bytes of a text. The library only reads them.
func pointer[T Text](text T) *C.uint8_t {
	if len(text) == 0 {
		return nil
	}
	switch text := any(text).(type) {
	case string:
		return (*C.uint8_t)(unsafe.Pointer(unsafe.StringData(text)))
	case []byte:
		return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(text)))
	}
	return nil
}

func bytesOf(data []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(data))) }

func stringOf(text string) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(unsafe.StringData(text))) }

// Failure says why a call failed. The zero value is success.
type Failure struct {
	Code    int32
	Message string
}

func failure(code C.JetonCode, reason *C.JetonReason) Failure {
	if code == 0 {
		return Failure{}
	}
	length := min(int(reason.message_length), len(reason.message))
	message := unsafe.Slice((*byte)(unsafe.Pointer(&reason.message[0])), length)
	return Failure{Code: int32(code), Message: string(message)}
}

// closed returns the failure for a nil or closed handle.
func closed() Failure {
	return Failure{Code: argumentHandle, Message: "the value is nil, zero or closed"}
}

const argumentHandle = 120 // ARGUMENT_HANDLE

// take copies the result from a buffer of the library, and wipes and frees the buffer.
func take(buffer *C.JetonBuffer) []byte {
	defer C.jeton_buffer_free(buffer)
	if buffer.length == 0 {
		return []byte{}
	}
	return C.GoBytes(unsafe.Pointer(buffer.data), C.int(buffer.length))
}
