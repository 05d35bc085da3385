package jeton

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// shape describes how encoding/json reads a type: which names need exact case, and where numbers could be rounded.
type shape struct {
	kind shapeKind
	// The names of a struct.
	members map[string]member
	// The required names, by their bit number.
	required []string
	// The folded names of a struct, as encoding/json compares them.
	folded map[string]bool
	// The shape of the values of a map, a slice or an array.
	element *shape
}

// member is a field of a struct.
type member struct {
	shape *shape
	// The position in [shape.required], from 1; 0 for an optional field.
	required int
	// null is a value of the field, different from a missing member.
	nullable bool
}

type shapeKind uint8

const (
	// Text, a bool, an integer, or a type that reads JSON itself: nothing to check.
	opaqueShape shapeKind = iota
	// A float64, or a float32, which holds fewer whole numbers.
	floatShape
	float32Shape
	// any: numbers become float64, nested values are any.
	anyShape
	structShape
	mapShape
	listShape
)

var registeredNames = [...]string{"iss", "sub", "aud", "exp", "nbf", "iat", "jti"}

// plan describes how the claims of a type are read.
type plan struct {
	shape *shape
	// The type has no registered claims. They are cut before encoding/json reads the text.
	withoutRegistered bool
	// The type has a method Validate.
	validates bool
}

// validator is the interface of claims that check themselves, as golang-jwt has it.
type validator interface{ Validate() error }

var plans sync.Map // reflect.Type → *plan

// planOf returns the plan of a type, which is created once.
func planOf[T any]() *plan {
	of := reflect.TypeFor[T]()
	if known, ok := plans.Load(of); ok {
		return known.(*plan)
	}
	made := &plan{shape: shapeOf(of, map[reflect.Type]*shape{})}
	made.withoutRegistered = made.shape.kind == structShape
	pointer := reflect.PointerTo(of)
	made.validates = of.Implements(reflect.TypeFor[validator]()) || pointer.Implements(reflect.TypeFor[validator]())
	for _, name := range registeredNames {
		if made.shape.folded[name] {
			made.withoutRegistered = false
		}
	}
	known, _ := plans.LoadOrStore(of, made)
	return known.(*plan)
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	number          = reflect.TypeFor[json.Number]()
)

func shapeOf(of reflect.Type, known map[reflect.Type]*shape) *shape {
	for of.Kind() == reflect.Pointer {
		if of.Implements(unmarshaler) || of.Implements(textUnmarshaler) {
			return &shape{}
		}
		of = of.Elem()
	}
	if found, ok := known[of]; ok {
		return found
	}
	made := &shape{}
	known[of] = made
	if pointer := reflect.PointerTo(of); of == number || pointer.Implements(unmarshaler) || pointer.Implements(textUnmarshaler) {
		return made
	}
	switch of.Kind() {
	case reflect.Float32:
		made.kind = float32Shape
	case reflect.Float64:
		made.kind = floatShape
	case reflect.Interface:
		made.kind, made.element = anyShape, made
	case reflect.Map:
		made.kind, made.element = mapShape, shapeOf(of.Elem(), known)
	case reflect.Slice, reflect.Array:
		made.kind, made.element = listShape, shapeOf(of.Elem(), known)
	case reflect.Struct:
		made.kind = structShape
		made.members, made.folded = map[string]member{}, map[string]bool{}
		addMembers(made, of, known)
		for name := range made.members {
			made.folded[fold(name)] = true
		}
	}
	return made
}

// embedded is an embedded struct, whose fields belong to the outer struct.
type embedded struct {
	of reflect.Type
	// It is embedded as a pointer: its fields may be absent.
	optional bool
}

// addMembers adds the members of a struct and of its embedded structs. The least nested member wins, as in
// encoding/json.
func addMembers(made *shape, of reflect.Type, known map[reflect.Type]*shape) {
	level := []embedded{{of: of}}
	seen := map[reflect.Type]bool{of: true}
	for len(level) > 0 {
		var next []embedded
		found := map[string]member{}
		for _, one := range level {
			for at := range one.of.NumField() {
				field := one.of.Field(at)
				tag := field.Tag.Get("json")
				if tag == "-" {
					continue
				}
				name, options, _ := strings.Cut(tag, ",")
				inner, isPointer := field.Type, field.Type.Kind() == reflect.Pointer
				for inner.Kind() == reflect.Pointer {
					inner = inner.Elem()
				}
				if field.Anonymous && name == "" && inner.Kind() == reflect.Struct {
					if !seen[inner] {
						seen[inner] = true
						next = append(next, embedded{inner, one.optional || isPointer})
					}
					continue
				}
				if !field.IsExported() {
					continue
				}
				if name == "" || !isValidName(name) {
					name = field.Name
				}
				entry := member{shape: shapeOf(field.Type, known), nullable: isNullable(field.Type)}
				if !one.optional && !isPointer && !isOptional(options) {
					entry.required = 1
				}
				found[name] = entry
			}
		}
		for name, entry := range found {
			if _, ok := made.members[name]; ok {
				continue
			}
			if entry.required != 0 {
				made.required = append(made.required, name)
				entry.required = len(made.required)
			}
			made.members[name] = entry
		}
		level = next
	}
}

// isOptional reports whether the options of a tag make the member optional.
func isOptional(options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if option == "omitempty" || option == "omitzero" {
			return true
		}
	}
	return false
}

func isNullable(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		return true
	}
	return reflect.PointerTo(of).Implements(unmarshaler)
}

// isValidName reports whether encoding/json accepts a name in a tag.
func isValidName(name string) bool {
	for _, letter := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", letter) && !unicode.IsLetter(letter) && !unicode.IsDigit(letter) {
			return false
		}
	}
	return name != ""
}

// fold returns the same text for names that encoding/json treats as equal.
func fold(name string) string {
	for at := 0; ; at++ {
		if at == len(name) {
			return name
		}
		if letter := name[at]; letter >= utf8.RuneSelf || 'A' <= letter && letter <= 'Z' {
			break
		}
	}
	return strings.Map(func(letter rune) rune {
		// SimpleFold cycles through equivalent letters. The smallest, in lower case, represents them.
		least := letter
		for other := unicode.SimpleFold(letter); other != letter; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		if 'A' <= least && least <= 'Z' {
			least += 'a' - 'A'
		}
		return least
	}, name)
}
