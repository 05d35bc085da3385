package jeton

import (
	"encoding/json"
	"time"
)

// Registered has the registered claims of a JWT. Embed it in a type to set them for each token, such as `sub`. Verified
// tokens return them without it: see [Token.Subject].
type Registered struct {
	Issuer    string      `json:"iss,omitempty"`
	Subject   string      `json:"sub,omitempty"`
	Audience  Audience    `json:"aud,omitempty"`
	ExpiresAt NumericDate `json:"exp,omitempty"`
	NotBefore NumericDate `json:"nbf,omitempty"`
	IssuedAt  NumericDate `json:"iat,omitempty"`
	ID        string      `json:"jti,omitempty"`
}

// Audience is `aud`: one text or a list of texts.
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

// NumericDate is a time in seconds since 1970, as in a JWT. Zero means absent. A PASETO has times as text: see
// [Token.ExpiresAt].
type NumericDate int64

// NewNumericDate converts a time. It drops fractions of a second.
func NewNumericDate(at time.Time) NumericDate { return NumericDate(at.Unix()) }

// Time returns the time, or the zero time for 0.
func (d NumericDate) Time() time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Unix(int64(d), 0).UTC()
}

// UnmarshalJSON reads a number, or the text of a PASETO. It drops fractions.
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
