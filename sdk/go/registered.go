package jeton

import (
	"encoding/json"
	"time"
)

// Registered has the registered claims of a JWT (RFC 7519, section 4.1). To set them for each token, embed it in the
// struct that you pass to [Issuer.Issue]. To read them, use the methods of [Token], such as [Token.Subject].
type Registered struct {
	Issuer    string      `json:"iss,omitempty"`
	Subject   string      `json:"sub,omitempty"`
	Audience  Audience    `json:"aud,omitempty"`
	ExpiresAt NumericDate `json:"exp,omitempty"`
	NotBefore NumericDate `json:"nbf,omitempty"`
	IssuedAt  NumericDate `json:"iat,omitempty"`
	ID        string      `json:"jti,omitempty"`
}

// Audience is the claim `aud`: a string or a list of strings.
type Audience []string

// MarshalJSON writes one audience as a string, and several as a list.
func (a Audience) MarshalJSON() ([]byte, error) {
	if len(a) == 1 {
		return json.Marshal(a[0])
	}
	return json.Marshal([]string(a))
}

// UnmarshalJSON reads a string or a list of strings.
func (a *Audience) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(a))
	}
	var one string
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	*a = Audience{one}
	return nil
}

// NumericDate is a Unix time in seconds, as in a JWT (RFC 7519, section 2). 0 means that the claim is absent. It cannot
// be used to issue a PASETO, whose times are RFC 3339 strings: use [WithLifetime].
type NumericDate int64

// NewNumericDate returns a time as a NumericDate, truncated to seconds.
func NewNumericDate(at time.Time) NumericDate { return NumericDate(at.Unix()) }

// Time returns the time, or the zero time for 0.
func (d NumericDate) Time() time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Unix(int64(d), 0).UTC()
}

// UnmarshalJSON reads a number, or the RFC 3339 string of a PASETO. It truncates to seconds.
func (d *NumericDate) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		var at time.Time
		if err := json.Unmarshal(text, &at); err != nil {
			return err
		}
		*d = NewNumericDate(at)
		return nil
	}
	var whole int64
	if json.Unmarshal(text, &whole) == nil {
		*d = NumericDate(whole)
		return nil
	}
	var float float64
	if err := json.Unmarshal(text, &float); err != nil {
		return err
	}
	*d = NumericDate(float)
	return nil
}
