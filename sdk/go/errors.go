package jeton

import (
	"errors"
	"strings"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Error is why a call failed. [errors.Is] compares it with ErrTokenExpired and the other errors of this package.
type Error struct {
	// Code is stable. Decide by it, not by the message.
	Code Code
	// Message is for people. It has no byte of a token, a key or a claim.
	Message string

	cause  error
	noKeys bool
}

// Error returns the name of the code and the message.
func (e *Error) Error() string {
	if e == nil {
		return "jeton: no error"
	}
	return "jeton: " + e.Code.String() + ": " + e.Message
}

// Unwrap returns the error of a function of the caller, such as an encoder or a signer, or of the HTTP client that could not
// fetch a key set, or nil.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Is reports whether target is an error with the same code, [ErrTokenRejected] for a rejected token, or [ErrNoKeys] for a key
// set that cannot be used.
func (e *Error) Is(target error) bool {
	if e == nil {
		return false
	}
	switch target := target.(type) {
	case Code:
		return target == e.Code
	case category:
		switch target {
		case rejected:
			return e.Code.IsRejection()
		case noKeys:
			return e.noKeys
		}
	}
	return false
}

type category string

const (
	rejected category = "jeton: the token is rejected"
	noKeys   category = "jeton: there are no keys to verify with"
)

func (c category) Error() string { return string(c) }

// ErrTokenRejected is any error about a token: expired, with an invalid signature, malformed, and all others whose code begins with
// TOKEN_. An error that is not, is about the call, the keys or the network.
var ErrTokenRejected error = rejected

// ErrNoKeys is any error of a [RemoteKeySet] that has no keys to verify with: its server is not reachable, or what it
// publishes is not a key set. The sender of the token did not cause it: respond with 503.
var ErrNoKeys error = noKeys

// Error makes each code an error, for [errors.Is]. It is [Code.String].
func (c Code) Error() string { return c.String() }

// String returns the name of the code, such as TOKEN_EXPIRED.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "UNKNOWN"
}

// IsRejection reports whether the code is about a token.
func (c Code) IsRejection() bool { return strings.HasPrefix(c.String(), "TOKEN_") }

// CodeOf returns the code of an error of this package, and 0 for others.
func CodeOf(err error) Code {
	var failed *Error
	if errors.As(err, &failed) && failed != nil {
		return failed.Code
	}
	return 0
}

func failed(failure core.Failure) error {
	if failure.Code == 0 {
		return nil
	}
	return &Error{Code: Code(failure.Code), Message: failure.Message}
}

func failure(code Code, message string) error { return &Error{Code: code, Message: message} }

func caused(code Code, message string, cause error) error {
	return &Error{Code: code, Message: message, cause: cause}
}

func errClosed() error {
	return failure(CodeArgumentHandle, "the value is nil, zero or closed")
}
