package jeton

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"runtime"

	"github.com/jeton/jeton/sdk/go/internal/core"
)

// Prepared is a token without its signature, which is made elsewhere: in a KMS or an HSM.
type Prepared struct{ handle *core.Handle }

// SignatureForm is how a signature is encoded.
type SignatureForm string

const (
	// SignatureFixed is the form that a token has.
	SignatureFixed SignatureForm = "fixed"
	// SignatureDER is the form in which most signers return ECDSA signatures.
	SignatureDER SignatureForm = "der"
)

// Prepare prepares a token with an issuer whose key is public: sign [Prepared.Message] or [Prepared.Digest] elsewhere, and
// pass the signature to [Prepared.Attach].
func (i *Issuer) Prepare(claims any) (*Prepared, error) {
	if i == nil || i.handle == nil {
		return nil, errClosed()
	}
	defer runtime.KeepAlive(i)
	text, err := i.encoded(claims)
	if err != nil {
		return nil, err
	}
	return preparedOf(core.Prepare(i.handle, text))
}

func preparedOf(handle *core.Handle, why core.Failure) (*Prepared, error) {
	if why.Code != 0 {
		return nil, failed(why)
	}
	prepared := &Prepared{handle}
	core.Own(prepared, handle)
	return prepared, nil
}

// Message returns what is signed.
func (p *Prepared) Message() ([]byte, error) { return p.input("message") }

// Digest returns the hash of the message, for signers that take it. EdDSA and ML-DSA have none.
func (p *Prepared) Digest() ([]byte, error) { return p.input("digest") }

// Algorithm returns the algorithm of the signature.
func (p *Prepared) Algorithm() (Algorithm, error) {
	name, err := p.input("alg")
	return Algorithm(name), err
}

func (p *Prepared) input(what string) ([]byte, error) {
	if p == nil {
		return nil, errClosed()
	}
	defer runtime.KeepAlive(p)
	text, why := core.PreparedInput(p.handle, what)
	return text, failed(why)
}

// Attach adds the signature, verifies it with the public key, and returns the token. It takes one signature, valid or not.
func (p *Prepared) Attach(signature []byte, form SignatureForm) (string, error) {
	if p == nil {
		return "", errClosed()
	}
	defer runtime.KeepAlive(p)
	token, why := core.Attach(p.handle, signature, string(form))
	return string(token), failed(why)
}

// Close frees the prepared token.
func (p *Prepared) Close() error {
	if p != nil {
		p.handle.Close()
	}
	return nil
}

// IssueWith issues a token with a function that signs, for example one that calls a KMS. The function gets the prepared
// token and returns the signature.
func (i *Issuer) IssueWith(
	ctx context.Context, claims any, sign func(context.Context, *Prepared) ([]byte, SignatureForm, error),
) (string, error) {
	prepared, err := i.Prepare(claims)
	if err != nil {
		return "", err
	}
	defer func() { _ = prepared.Close() }()
	if sign == nil {
		return "", failure(CodeArgumentNull, "a function that signs is required")
	}
	signature, form, err := sign(ctx, prepared)
	if err != nil {
		return "", caused(CodeSignerFailed, "the signer returned an error", err)
	}
	return prepared.Attach(signature, form)
}

// NewKeyFromSigner makes a key of a [crypto.Signer]: a private key of the standard library, or one in an HSM. [Issuer] and
// [Signer] call it for each token. An issuer of nested JWTs does not: see [WithEncryption]. The algorithm must be one of RSA, ECDSA or EdDSA.
func NewKeyFromSigner(signer crypto.Signer, alg Algorithm, options ...KeyOption) (*Key, error) {
	if signer == nil {
		return nil, failure(CodeArgumentNull, "a signer is required")
	}
	if _, ok := hashOf(alg); !ok {
		return nil, failure(CodeInvalidOption, "option `alg`: a crypto.Signer does not sign with this algorithm")
	}
	der, err := publicOf(signer)
	if err != nil {
		return nil, err
	}
	key, err := ParseKey(der, append([]KeyOption{WithAlgorithm(alg)}, options...)...)
	if err != nil {
		return nil, err
	}
	key.signer = signer
	return key, nil
}

// publicOf returns the public key in DER. A nil pointer in the interface panics.
func publicOf(signer crypto.Signer) (der []byte, err error) {
	defer func() {
		if recover() != nil {
			err = failure(CodeArgumentNull, "the signer panics when it is asked for its public key")
		}
	}()
	der, err = x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return nil, caused(CodeKeyUnsupported, "the public key of the signer is of a type that is not supported", err)
	}
	return der, nil
}

// remoteSigner signs with a crypto.Signer.
type remoteSigner struct {
	signer crypto.Signer
	alg    Algorithm
}

// hashOf returns the hash of an algorithm, 0 if it signs the message.
func hashOf(alg Algorithm) (crypto.Hash, bool) {
	switch alg {
	case RS256, PS256, ES256:
		return crypto.SHA256, true
	case RS384, PS384, ES384:
		return crypto.SHA384, true
	case RS512, PS512, ES512:
		return crypto.SHA512, true
	case EdDSA, Ed25519:
		return 0, true
	}
	return 0, false
}

// remote returns what signs for a key of [NewKeyFromSigner], or nil.
func (k *Key) remote() *remoteSigner {
	if k.signer == nil {
		return nil
	}
	return &remoteSigner{k.signer, k.alg}
}

// sign signs a token that the library has prepared.
func (r *remoteSigner) sign(handle *core.Handle, why core.Failure) (string, error) {
	prepared, err := preparedOf(handle, why)
	if err != nil {
		return "", err
	}
	defer func() { _ = prepared.Close() }()
	hash, _ := hashOf(r.alg)
	input, err := prepared.Digest()
	if hash == 0 {
		input, err = prepared.Message()
	}
	if err != nil {
		return "", err
	}
	var how crypto.SignerOpts = hash
	form := SignatureFixed
	switch r.alg {
	case PS256, PS384, PS512:
		how = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	case ES256, ES384, ES512:
		form = SignatureDER
	}
	signature, err := r.signer.Sign(rand.Reader, input, how)
	if err != nil {
		return "", caused(CodeSignerFailed, "the signer returned an error", err)
	}
	return prepared.Attach(signature, form)
}
