package jeton

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/jeton/jeton/sdk/go/internal/defaults"
)

// IssuerOption is an option of [NewIssuer].
type IssuerOption interface{ forIssuer(*config) }

// VerifierOption is an option of [NewVerifier].
type VerifierOption interface{ forVerifier(*config) }

// Option is an option of issuers and verifiers.
type Option interface {
	IssuerOption
	VerifierOption
}

// BytesOption is an option of [NewSigner], [NewSignatureVerifier], [NewEncrypter] and [NewDecrypter].
type BytesOption interface{ forBytes(*config) }

// KeyOption is an option of the functions that create keys.
type KeyOption interface{ forKey(*config) }

// KeySetOption is an option of [ParseKeySet].
type KeySetOption interface{ forKeySet(*config) }

// RemoteOption is an option of [NewRemoteKeySet] and [DiscoverKeySet].
type RemoteOption interface{ forRemote(*config) }

// Option functions, by the constructors that accept them.
type (
	issuerOption   func(*config)
	verifierOption func(*config)
	sharedOption   func(*config)
	bytesOption    func(*config)
	keyOption      func(*config)
	keySetOption   func(*config)
	remoteOption   func(*config)
	// For issuers, verifiers and bytes.
	tokenOption func(*config)
	// For a key, an issuer, a verifier and bytes.
	encryptionOption func(*config)
	// For local and remote key sets.
	anyKeySetOption func(*config)
)

func (o issuerOption) forIssuer(c *config)       { o(c) }
func (o verifierOption) forVerifier(c *config)   { o(c) }
func (o sharedOption) forIssuer(c *config)       { o(c) }
func (o sharedOption) forVerifier(c *config)     { o(c) }
func (o bytesOption) forBytes(c *config)         { o(c) }
func (o keyOption) forKey(c *config)             { o(c) }
func (o keySetOption) forKeySet(c *config)       { o(c) }
func (o remoteOption) forRemote(c *config)       { o(c) }
func (o tokenOption) forIssuer(c *config)        { o(c) }
func (o tokenOption) forVerifier(c *config)      { o(c) }
func (o tokenOption) forBytes(c *config)         { o(c) }
func (o encryptionOption) forKey(c *config)      { o(c) }
func (o encryptionOption) forIssuer(c *config)   { o(c) }
func (o encryptionOption) forVerifier(c *config) { o(c) }
func (o encryptionOption) forBytes(c *config)    { o(c) }
func (o anyKeySetOption) forKeySet(c *config)    { o(c) }
func (o anyKeySetOption) forRemote(c *config)    { o(c) }

// config is the result of the options: settings of the native library, and settings of this module.
type config struct {
	settings   map[string]any
	now        func() time.Time
	encryption *Key
	decryption []*Key
	encode     func(any) ([]byte, error)
	decode     func([]byte, any) error
	numbers    bool
	partial    bool
	remote     remoteConfig
	// The settings that options have set.
	given map[string]bool
	// The settings that an option may replace, and whether such defaults are being set.
	defaults   map[string]bool
	isDefaults bool
	failed     error
}

func newConfig() *config {
	return &config{settings: map[string]any{}, now: time.Now}
}

// set sets a setting. A second, different value is an error, because the first requirement would be lost.
func (c *config) set(name string, value any) {
	if before, ok := c.settings[name]; ok && c.given[name] && reflect.DeepEqual(before, value) {
		return
	}
	if c.once(name) {
		c.settings[name] = value
	}
}

// add appends to a list setting.
func (c *config) add(name string, values []string) {
	before, _ := c.settings[name].([]string)
	c.settings[name] = append(list(before), values...)
}

// once reports whether an option is given for the first time.
func (c *config) once(name string) bool {
	if c.isDefaults {
		if c.defaults == nil {
			c.defaults = map[string]bool{}
		}
		c.defaults[name] = true
		return true
	}
	for _, replaced := range []string{name, contradicting[name]} {
		if c.defaults[replaced] {
			delete(c.defaults, replaced)
			delete(c.settings, replaced)
		}
	}
	if c.given[name] {
		c.fail(name, "already set")
		return false
	}
	if c.given == nil {
		c.given = map[string]bool{}
	}
	c.given[name] = true
	return true
}

// defaultOption is an option whose settings later options replace.
type defaultOption struct{ option any }

func (o defaultOption) forIssuer(c *config) {
	c.isDefaults = true
	o.option.(IssuerOption).forIssuer(c)
	c.isDefaults = false
}

func (o defaultOption) forVerifier(c *config) {
	c.isDefaults = true
	o.option.(VerifierOption).forVerifier(c)
	c.isDefaults = false
}

func init() {
	defaults.Option = func(option any) any { return defaultOption{option} }
	defaults.Settings = func(options []any) map[string]any {
		chosen := newConfig()
		for _, option := range options {
			if option, ok := option.(IssuerOption); ok {
				option.forIssuer(chosen)
			}
		}
		return chosen.settings
	}
}

// seconds sets a duration in whole seconds.
func (c *config) seconds(name string, value time.Duration) {
	if value < 0 || value%time.Second != 0 {
		c.fail(name, "must be whole seconds, 0 or more: "+value.String())
		return
	}
	c.set(name, int64(value/time.Second))
}

func (c *config) fail(setting, why string) {
	if c.failed == nil {
		c.failed = failure(CodeInvalidOption, "option `"+optionName(setting)+"`: "+why)
	}
}

func optionName(setting string) string {
	if name, ok := optionNames[setting]; ok {
		return name
	}
	return setting
}

// text returns the settings as JSON for the native library.
func (c *config) text() ([]byte, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	text, err := json.Marshal(c.settings)
	if err != nil {
		return nil, failure(CodeInvalidOption, "the options cannot be written as JSON")
	}
	return text, nil
}

// oneOrList returns one text as a string, and several as a list.
func oneOrList(texts []string) any {
	if len(texts) == 1 {
		return texts[0]
	}
	return list(texts)
}

// textsOf returns the texts of a setting, which is one text, a list or absent.
func textsOf(setting any) []string {
	if one, ok := setting.(string); ok {
		return []string{one}
	}
	texts, _ := setting.([]string)
	return texts
}

// list returns a copy that is never nil, so that JSON has an empty list instead of null.
func list(texts []string) []string { return append([]string{}, texts...) }
