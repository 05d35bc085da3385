package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
)

// Errors for the checks that a driver does by hand because its library does not.
var (
	ErrExpiryMissing = errors.New("the claim exp is missing")
	ErrTime          = errors.New("the token is expired or not valid yet")
	ErrIssuer        = errors.New("the claim iss is not the expected issuer")
	ErrAudience      = errors.New("the claim aud does not contain the expected audience")
)

// TypedClaims reports whether the claims fit the driver's typed struct; otherwise it uses a map.
func (p *Prepare) TypedClaims() bool { return p.Claims.Name == "standard" }

// ExpiryRequired reports whether a token without `exp` must be rejected. A careful user requires
// it, so it is false only if the given claims are known to have none.
func (p *Prepare) ExpiryRequired() bool {
	return !p.Defaults() && !slices.ContainsFunc(p.Claims.Values, func(value json.RawMessage) bool {
		return !hasClaim(value, "exp")
	})
}

// Issued decodes every claims value into the driver's typed struct, and checks that the struct
// holds exactly what the value did.
func Issued[C any](p *Prepare) ([]C, error) {
	values := make([]C, len(p.Claims.Values))
	for i, value := range p.Claims.Values {
		if err := json.Unmarshal(value, &values[i]); err != nil {
			return nil, invalid("claims value %d does not fit the typed struct: %v", i, err)
		}
		again, err := json.Marshal(&values[i])
		if err != nil {
			return nil, err
		}
		if !sameClaims(value, again) {
			return nil, invalid("claims value %d is called %q but does not hold its claims", i, p.Claims.Name)
		}
	}
	return values, nil
}

// IssuedMaps decodes every claims value into a map. Whole numbers become int64, as in a Go program,
// so that none is written as a float or loses digits.
func IssuedMaps(p *Prepare) ([]map[string]any, error) {
	values := make([]map[string]any, len(p.Claims.Values))
	for i, value := range p.Claims.Values {
		decoder := json.NewDecoder(bytes.NewReader(value))
		decoder.UseNumber()
		if err := decoder.Decode(&values[i]); err != nil || values[i] == nil {
			return nil, invalid("claims value %d is not a JSON object", i)
		}
		wholeNumbers(values[i])
	}
	return values, nil
}

// JTI returns the claim `jti` of decoded map claims.
func JTI(claims map[string]any) string {
	id, _ := claims["jti"].(string)
	return id
}

// Audience is an `aud` claim: one string or an array of strings. It is always encoded as an array.
type Audience []string

// UnmarshalJSON accepts both forms.
func (a *Audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = Audience{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

func wholeNumbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = wholeNumbers(member)
		}
	case []any:
		for i, member := range value {
			value[i] = wholeNumbers(member)
		}
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		if float, err := value.Float64(); err == nil {
			return float
		}
	}
	return value
}

func hasClaim(value json.RawMessage, name string) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return false
	}
	_, ok := members[name]
	return ok
}

// sameClaims compares two claims sets by meaning: member order is ignored, and one audience equals
// an array of one (RFC 7519, section 4.1.3).
func sameClaims(a, b []byte) bool {
	var left, right map[string]any
	if json.Unmarshal(a, &left) != nil || json.Unmarshal(b, &right) != nil {
		return false
	}
	for _, claims := range []map[string]any{left, right} {
		if one, ok := claims["aud"].(string); ok {
			claims["aud"] = []any{one}
		}
	}
	return reflect.DeepEqual(left, right)
}
