package jeton

import (
	"runtime"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Signer signs any bytes and returns a JWS. It is safe for concurrent use.
type Signer struct {
	handle *core.Handle
	// Set for a key of [NewKeyFromSigner].
	remote *remoteSigner
}

// NewSigner creates a signer from a private key, a secret or a key of [NewKeyFromSigner]. PASETO keys are not
// supported. With a public key, the signer supports only [Signer.Prepare].
func NewSigner(key *Key, options ...BytesOption) (*Signer, error) {
	handle, err := newBytesIssuer("jws", key, nil, options)
	if err != nil {
		return nil, err
	}
	signer := &Signer{handle: handle, remote: key.remote()}
	core.Own(signer, handle)
	return signer, nil
}

// Sign signs the content and returns the JWS. With [WithDetached], the JWS does not contain the content.
func (s *Signer) Sign(content []byte) (string, error) {
	if s == nil {
		return "", unusable("signer")
	}
	defer runtime.KeepAlive(s)
	if s.remote != nil {
		return s.remote.sign(core.Prepare(s.handle, content, core.UseClock))
	}
	token, why := core.IssueBytes(s.handle, content)
	return string(token), failed(why)
}

// Prepare prepares a JWS that a KMS or an HSM signs. Create the signer with the public key. See [Issuer.Prepare].
func (s *Signer) Prepare(content []byte) (*Prepared, error) {
	if s == nil {
		return nil, unusable("signer")
	}
	defer runtime.KeepAlive(s)
	return preparedOf(core.Prepare(s.handle, content, core.UseClock))
}

// Close wipes the signer when no call uses it. Later calls return [ErrArgumentHandle].
func (s *Signer) Close() error {
	if s != nil {
		s.handle.Close()
	}
	return nil
}

// Encrypter encrypts any bytes and returns a JWE. It is safe for concurrent use.
type Encrypter struct{ handle *core.Handle }

// NewEncrypter creates an encrypter from a key for a key management algorithm of JWE, such as [ECDHES] or [Direct]. It
// uses the public key of a private key.
func NewEncrypter(key *Key, options ...BytesOption) (*Encrypter, error) {
	handle, err := newBytesIssuer("jwe", nil, key, options)
	if err != nil {
		return nil, err
	}
	encrypter := &Encrypter{handle}
	core.Own(encrypter, handle)
	return encrypter, nil
}

// Encrypt encrypts the content and returns the JWE.
func (e *Encrypter) Encrypt(content []byte) (string, error) {
	if e == nil {
		return "", unusable("encrypter")
	}
	defer runtime.KeepAlive(e)
	token, why := core.IssueBytes(e.handle, content)
	return string(token), failed(why)
}

// Close wipes the encrypter when no call uses it. Later calls return [ErrArgumentHandle].
func (e *Encrypter) Close() error {
	if e != nil {
		e.handle.Close()
	}
	return nil
}

func newBytesIssuer(format string, key, encryption *Key, options []BytesOption) (*core.Handle, error) {
	if key == nil && encryption == nil {
		return nil, unusable("key")
	}
	text, err := bytesOptionsOf(format, options, nil)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(key)
	defer runtime.KeepAlive(encryption)
	var keyHandle, encryptionHandle *core.Handle
	if key != nil {
		if keyHandle = key.handle; keyHandle == nil {
			return nil, unusable("key")
		}
	}
	if encryption != nil {
		if encryptionHandle = encryption.handle; encryptionHandle == nil {
			return nil, unusable("key")
		}
	}
	handle, why := core.NewIssuer(keyHandle, encryptionHandle, text)
	return handle, failed(why)
}

func bytesOptionsOf(format string, options []BytesOption, unused []string) ([]byte, error) {
	chosen := newConfig()
	chosen.set("format", format)
	for _, option := range options {
		if option != nil {
			option.forBytes(chosen)
		}
	}
	for _, name := range unused {
		if chosen.given[name] {
			return nil, failure(CodeInvalidOption, "option `"+optionName(name)+"`: applies to signers and encrypters only")
		}
	}
	return chosen.text()
}

// SignatureVerifier verifies JWS with any content. It does not check claims such as `exp`: for tokens, use [Verifier].
type SignatureVerifier struct{ handle *core.Handle }

// NewSignatureVerifier creates a JWS verifier from a [*Key] or a [*KeySet]. A [*RemoteKeySet] is not supported.
func NewSignatureVerifier(keys Keys, options ...BytesOption) (*SignatureVerifier, error) {
	if keys == nil {
		return nil, unusable("key")
	}
	from, err := keys.verifying()
	if err != nil {
		return nil, err
	}
	text, err := bytesOptionsOf("jws", options, producerOptions)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(from)
	handle, why := core.NewVerifier(from.key, from.keys, nil, from.remote, text)
	if why.Code != 0 {
		return nil, failed(why)
	}
	verifier := &SignatureVerifier{handle}
	core.Own(verifier, handle)
	return verifier, nil
}

// Verify verifies a JWS and returns its content.
func (v *SignatureVerifier) Verify(token string) ([]byte, error) {
	if v == nil {
		return nil, unusable("verifier")
	}
	defer runtime.KeepAlive(v)
	content, why := core.VerifyBytes(v.handle, token, nil)
	return content, failed(why)
}

// VerifyDetached verifies a JWS that does not contain its content (RFC 7515, appendix F). Pass the content separately.
func (v *SignatureVerifier) VerifyDetached(token string, content []byte) error {
	if v == nil {
		return unusable("verifier")
	}
	defer runtime.KeepAlive(v)
	if content == nil {
		content = []byte{}
	}
	_, why := core.VerifyBytes(v.handle, token, content)
	return failed(why)
}

// Close wipes the verifier when no call uses it. Later calls return [ErrArgumentHandle].
func (v *SignatureVerifier) Close() error {
	if v != nil {
		v.handle.Close()
	}
	return nil
}

// Decrypter decrypts JWE with any content. Decryption does not prove who sent a JWE: everyone who has the encryption
// key can create one.
type Decrypter struct{ handle *core.Handle }

// NewDecrypter creates a decrypter from a [*Key] or a [*KeySet]. A [*RemoteKeySet] is not supported.
func NewDecrypter(keys Keys, options ...BytesOption) (*Decrypter, error) {
	if keys == nil {
		return nil, unusable("key")
	}
	from, err := keys.verifying()
	if err != nil {
		return nil, err
	}
	set := from.keys
	if from.key != nil {
		made, why := core.NewKeySet([]*core.Handle{from.key})
		if why.Code != 0 {
			return nil, failed(why)
		}
		defer made.Close()
		set = made
	}
	text, err := bytesOptionsOf("jwe", options, producerOptions)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(from)
	handle, why := core.NewVerifier(nil, nil, set, from.remote, text)
	if why.Code != 0 {
		return nil, failed(why)
	}
	decrypter := &Decrypter{handle}
	core.Own(decrypter, handle)
	return decrypter, nil
}

// Decrypt decrypts a JWE and returns its content.
func (d *Decrypter) Decrypt(token string) ([]byte, error) {
	if d == nil {
		return nil, unusable("decrypter")
	}
	defer runtime.KeepAlive(d)
	content, why := core.VerifyBytes(d.handle, token, nil)
	return content, failed(why)
}

// Close wipes the decrypter when no call uses it. Later calls return [ErrArgumentHandle].
func (d *Decrypter) Close() error {
	if d != nil {
		d.handle.Close()
	}
	return nil
}
