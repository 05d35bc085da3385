package jeton

import (
	"encoding/json"
	"math/big"
	"strconv"
)

// scanner scans claims before encoding/json reads them. The library has checked that they are valid JSON within its
// depth limit.
type scanner struct {
	text []byte
	at   int
	// Numbers in values of type any are not rounded.
	numbers bool
	// Members whose names differ from a field in case only. encoding/json would read them.
	wrong []span
	// A number would be rounded, in the innermost field with this name, if there is one.
	rounded      bool
	roundedField string
	// Missing fields are not an error.
	partial bool
	// The name of a missing field.
	missing string
}

type span struct{ start, end int }

// check returns the text without members whose names differ from a field in case only.
func (v *Verifier) check(text []byte, of *shape) ([]byte, error) {
	if of.kind == opaqueShape {
		return text, nil
	}
	walk := scanner{text: text, numbers: v.numbers, partial: v.partial}
	walk.value(of)
	if walk.rounded {
		what := "the claims have"
		if walk.roundedField != "" {
			what = "the claim `" + walk.roundedField + "` is"
		}
		return nil, failure(CodeTokenClaimsShape,
			what+" an integer that a float cannot hold exactly: use int64, json.Number or WithNumbers")
	}
	if walk.missing != "" {
		return nil, failure(CodeTokenClaimsShape, "the claim `"+walk.missing+"` is missing or null")
	}
	if len(walk.wrong) == 0 {
		return text, nil
	}
	return without(text, walk.wrong), nil
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) peek() byte {
	s.space()
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) value(of *shape) {
	switch first := s.peek(); first {
	case '"':
		s.string()
	case '{':
		s.object(of)
	case '[':
		s.at++
		var element *shape
		if of != nil && (of.kind == listShape || of.kind == anyShape) {
			element = of.element
		}
		for next := s.peek(); next != ']' && next != 0; next = s.peek() {
			if next == ',' {
				s.at++
				continue
			}
			s.value(element)
		}
		s.at++
	default:
		start := s.at
		for s.at < len(s.text) && !isEnd(s.text[s.at]) {
			s.at++
		}
		if s.at == start {
			s.at++ // not in valid JSON
		}
		if bits := s.floatBits(of); bits != 0 && !fits(s.text[start:s.at], bits) {
			s.rounded = true
		}
	}
}

// floatBits returns the size of the float that a number is read as, or 0 for other types.
func (s *scanner) floatBits(of *shape) int {
	switch {
	case of == nil:
	case of.kind == float32Shape:
		return 32
	case of.kind == floatShape, of.kind == anyShape && !s.numbers:
		return 64
	}
	return 0
}

func isEnd(letter byte) bool {
	switch letter {
	case ',', '}', ']', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

// string returns the text between quotes, and whether it has escapes.
func (s *scanner) string() (text []byte, hasEscapes bool) {
	s.at++
	start := s.at
	for s.at < len(s.text) && s.text[s.at] != '"' {
		if s.text[s.at] == '\\' {
			hasEscapes = true
			s.at++
		}
		s.at++
	}
	text = s.text[start:min(s.at, len(s.text))]
	s.at++
	return text, hasEscapes
}

func (s *scanner) object(of *shape) {
	s.at++
	// One bit for each required name. Few types have more than 64.
	var few [1]uint64
	seen := few[:]
	isStruct := of != nil && of.kind == structShape
	if isStruct && len(of.required) > 64 {
		seen = make([]uint64, len(of.required)/64+1)
	}
	for next := s.peek(); next != '}' && next != 0; next = s.peek() {
		if next == ',' {
			s.at++
			continue
		}
		start := s.at
		raw, hasEscapes := s.string()
		found, isWrong := memberOf(of, raw, hasEscapes)
		if s.peek() == ':' {
			s.at++
		}
		isNull := s.peek() == 'n'
		wasRounded := s.rounded
		s.value(found.shape)
		if isStruct && s.rounded && !wasRounded && s.roundedField == "" && !hasEscapes {
			s.roundedField = string(raw)
		}
		if isWrong {
			s.wrong = append(s.wrong, span{start, s.at})
		}
		if bit := found.required - 1; bit >= 0 && (!isNull || found.nullable) {
			seen[bit/64] |= 1 << (bit % 64)
		}
	}
	s.at++
	if !isStruct || s.partial || s.missing != "" {
		return
	}
	for bit, name := range of.required {
		if seen[bit/64]&(1<<(bit%64)) == 0 {
			s.missing = name
			return
		}
	}
}

// memberOf returns the member with a name, and whether the name differs from a field in case only. A member that no
// field reads has no shape.
func memberOf(of *shape, raw []byte, hasEscapes bool) (member, bool) {
	if of == nil {
		return member{}, false
	}
	switch of.kind {
	case mapShape, anyShape:
		return member{shape: of.element}, false
	case structShape:
	default:
		return member{}, false
	}
	if hasEscapes {
		var name string
		if json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &name) != nil {
			return member{}, true
		}
		raw = []byte(name)
	}
	if found, ok := of.members[string(raw)]; ok {
		return found, false
	}
	return member{}, of.folded[fold(string(raw))]
}

// fits reports whether a float of this size holds the number exactly. Numbers with a fraction or an exponent always
// fit.
func fits(text []byte, bits int) bool {
	// Numbers of this length always fit.
	digits := 15
	if bits == 32 {
		digits = 7
	}
	if len(text) <= digits || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return true
	}
	for _, letter := range text {
		if letter == '.' || letter == 'e' || letter == 'E' {
			return true
		}
	}
	whole, ok := new(big.Int).SetString(string(text), 10)
	if !ok {
		return false
	}
	float, err := strconv.ParseFloat(string(text), bits)
	if err != nil {
		return false
	}
	exact, _ := big.NewFloat(float).Int(nil)
	return exact.Cmp(whole) == 0
}

// without returns a copy of the text without these members. They are sorted by their end.
func without(text []byte, members []span) []byte {
	cut := make([]bool, len(text))
	for _, member := range members {
		start, end := withComma(text, member.start, member.end, cut)
		for at := start; at < end; at++ {
			cut[at] = true
		}
	}
	rest := make([]byte, 0, len(text))
	for at, letter := range text {
		if !cut[at] {
			rest = append(rest, letter)
		}
	}
	return rest
}

// withComma adds the next comma that is not cut to a member: after it, or else before it.
func withComma(text []byte, start, end int, cut []bool) (int, int) {
	for at := end; at < len(text); at++ {
		if text[at] == ',' && !cut[at] {
			return start, at + 1
		}
		if !isSpace(text[at]) && !cut[at] {
			break
		}
	}
	for at := start - 1; at >= 0; at-- {
		if text[at] == ',' && !cut[at] {
			return at, end
		}
		if !isSpace(text[at]) && !cut[at] {
			break
		}
	}
	return start, end
}

func isSpace(letter byte) bool {
	return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r'
}
