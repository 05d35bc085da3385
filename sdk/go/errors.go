package jeton

import (
	"errors"
	"regexp"
	"strings"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Error is the type of the errors of this package. Compare an error with [errors.Is], for example with
// [ErrTokenExpired].
type Error struct {
	// Code is stable. Compare it instead of the message.
	Code Code
	// Message is for logs. It never contains bytes of a token, key or claim.
	Message string

	cause  error
	noKeys bool
	// The text of the cause is part of the text of the error.
	showsCause bool
}

// Error returns the name of the code and the message. If keys could not be fetched, the error of the HTTP client or of
// the context follows. If the method Validate of your claims fails, its error follows. The text never contains the
// error of your encoder, decoder or signer, which may name claims: log [Error.Unwrap] if it does not.
func (e *Error) Error() string {
	if e == nil {
		return "jeton: no error"
	}
	text := "jeton: " + e.Code.String() + ": " + e.Message
	if (e.noKeys || e.showsCause) && e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause, or nil. The cause is the error of your encoder, decoder or signer, of the method Validate
// of your claims, of the HTTP client that fetches a key set, or of the context.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Is implements the comparison of [errors.Is]. An error matches its code. It also matches [ErrTokenRejected] if the
// token is rejected, and [ErrNoKeys] if the keys of a [RemoteKeySet] are not available.
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
	noKeys   category = "jeton: no keys to verify with"
)

func (c category) Error() string { return string(c) }

// ErrTokenRejected matches every rejected token: expired, malformed, invalid signature and all other codes that begin
// with TOKEN_. Respond with 401. Other errors are about the call, the keys or the network.
var ErrTokenRejected error = rejected

// ErrNoKeys matches the error of a verification for which a [RemoteKeySet] has no keys: its server is not reachable, or
// does not return a JWK Set. The token may be valid: respond with 503. [Error.Unwrap] returns the error of the HTTP
// client, if it failed.
var ErrNoKeys error = noKeys

// Error returns [Code.String]. It makes each code an error for [errors.Is].
func (c Code) Error() string { return c.String() }

// String returns the name of the code, such as TOKEN_EXPIRED.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "UNKNOWN"
}

// IsRejection reports whether the code means that a token is rejected.
func (c Code) IsRejection() bool { return strings.HasPrefix(c.String(), "TOKEN_") }

// CodeOf returns the code of an error of this package, or 0 for other errors.
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
	message := failure.Message
	if Code(failure.Code) == CodeInvalidOption {
		message = withOptionNames(message)
	}
	for _, hint := range functions {
		if strings.Contains(message, hint.found) {
			message += " (" + hint.use + ")"
		}
	}
	return &Error{Code: Code(failure.Code), Message: message}
}

// functions are the names of what a message asks for.
var functions = []struct{ found, use string }{
	{"pass the algorithm", "WithAlgorithm"},
	{"this is a certificate;", "ParseCertificate"},
	{"the key is encrypted;", "WithPassword"},
	{"this is a JWK Set", "ParseKeySet"},
	{"use MultiIssuerVerifier", "NewMultiIssuerVerifier"},
}

var settingName = regexp.MustCompile("`[a-z_]+`")

// withOptionNames replaces settings in a message of the native library: a caller does not know them.
func withOptionNames(message string) string {
	return settingName.ReplaceAllStringFunc(message, func(found string) string {
		return "`" + optionName(strings.Trim(found, "`")) + "`"
	})
}

func failure(code Code, message string) error { return &Error{Code: code, Message: message} }

func caused(code Code, message string, cause error) error {
	return &Error{Code: code, Message: message, cause: cause}
}

func errClosed() error { return unusable("value") }

func unusable(what string) error {
	return failure(CodeArgumentHandle, "the "+what+" is nil, zero or closed")
}
