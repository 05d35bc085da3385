package jeton

import (
	"encoding/json"
	"time"
)

// Registered has the registered claims of a JWT. Embed it in a type whose tokens have claims of their own, such as `sub`.
// Verified tokens have them without it: [Token.Subject] and the others.
type Registered struct {
	Issuer    string      `json:"iss,omitempty"`
	Subject   string      `json:"sub,omitempty"`
	Audience  Audience    `json:"aud,omitempty"`
	ExpiresAt NumericDate `json:"exp,omitempty"`
	NotBefore NumericDate `json:"nbf,omitempty"`
	IssuedAt  NumericDate `json:"iat,omitempty"`
	ID        string      `json:"jti,omitempty"`
}

// Audience is `aud`: one text or a list of them.
type Audience []string

// MarshalJSON writes one audience as a text, and several as a list.
func (a Audience) MarshalJSON() ([]byte, error) {
	if len(a) == 1 {
		return json.Marshal(a[0])
	}
	return json.Marshal([]string(a))
}

// UnmarshalJSON reads both forms.
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

// NumericDate is a time in seconds since 1970, as a JWT has it. Zero is absent. A PASETO has texts: see
// [Token.ExpiresAt].
type NumericDate int64

// NewNumericDate drops the fraction of a second.
func NewNumericDate(at time.Time) NumericDate { return NumericDate(at.Unix()) }

// Time returns the time, or the zero time for 0.
func (d NumericDate) Time() time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Unix(int64(d), 0).UTC()
}

// UnmarshalJSON reads a number, and the text of a PASETO. Fractions are dropped.
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
