package core

// #include "jeton.h"
import "C"

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Handle is a value of the library with a count of its running calls. It can be closed at any time: its memory is wiped
// and freed after the last call returns.
type Handle struct {
	pointer unsafe.Pointer
	// The number of running calls. Closing adds [isClosed], so that the sum is negative.
	calls    atomic.Int64
	released atomic.Bool
}

const isClosed = math.MinInt64

// Own closes the handle when its owner is unreachable.
func Own[T any](owner *T, handle *Handle) {
	runtime.AddCleanup(owner, func(handle *Handle) { handle.Close() }, handle)
}

// use returns the pointer, or nil if the handle is nil or closed. Call done for each pointer that it returns.
func (h *Handle) use() unsafe.Pointer {
	if h == nil {
		return nil
	}
	if h.calls.Add(1) < 0 {
		h.done()
		return nil
	}
	return h.pointer
}

func (h *Handle) done() {
	if h.calls.Add(-1) == isClosed {
		h.release()
	}
}

// Close closes the handle. A second call does nothing.
func (h *Handle) Close() {
	if h == nil {
		return
	}
	for {
		calls := h.calls.Load()
		if calls < 0 {
			return
		}
		if h.calls.CompareAndSwap(calls, calls+isClosed) {
			if calls == 0 {
				h.release()
			}
			return
		}
	}
}

func (h *Handle) release() {
	if h.released.CompareAndSwap(false, true) {
		C.jeton_release(h.pointer, nil)
	}
}

// optional returns the pointer of a handle that may be absent: nil and true for an absent handle.
func optional(h *Handle) (unsafe.Pointer, bool) {
	if h == nil {
		return nil, true
	}
	pointer := h.use()
	return pointer, pointer != nil
}

func doneAll(handles ...*Handle) {
	for _, handle := range handles {
		if handle != nil {
			handle.done()
		}
	}
}
