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

// Prepared is a token that is not signed yet. A KMS or an HSM signs it.
type Prepared struct{ handle *core.Handle }

// SignatureForm is the encoding of a signature.
type SignatureForm string

const (
	// SignatureFixed is the encoding in a token: r and s at full length for ECDSA (RFC 7518, section 3.4). Use it also
	// for RSA and EdDSA signatures, which have only one encoding.
	SignatureFixed SignatureForm = "fixed"
	// SignatureDER is the ASN.1 DER encoding of an ECDSA signature, which [crypto.Signer] and most KMSs return.
	SignatureDER SignatureForm = "der"
)

// Prepare prepares a token that a KMS or an HSM signs. Create the issuer with the public key. Sign [Prepared.Message]
// or [Prepared.Digest], and pass the signature to [Prepared.Attach].
func (i *Issuer) Prepare(claims any) (*Prepared, error) {
	if i == nil || i.handle == nil {
		return nil, unusable("issuer")
	}
	defer runtime.KeepAlive(i)
	text, err := i.encoded(claims)
	if err != nil {
		return nil, err
	}
	return preparedOf(i.prepare(text))
}

func (i *Issuer) prepare(claims []byte) (*core.Handle, core.Failure) {
	return core.Prepare(i.handle, claims, microseconds(i.now()))
}

func preparedOf(handle *core.Handle, why core.Failure) (*Prepared, error) {
	if why.Code != 0 {
		return nil, failed(why)
	}
	prepared := &Prepared{handle}
	core.Own(prepared, handle)
	return prepared, nil
}

// Message returns the bytes to sign.
func (p *Prepared) Message() ([]byte, error) { return p.input("message") }

// Digest returns the hash of the message, for signers that take a hash. It fails for EdDSA and ML-DSA, which sign
// [Prepared.Message].
func (p *Prepared) Digest() ([]byte, error) { return p.input("digest") }

// Algorithm returns the algorithm of the signature.
func (p *Prepared) Algorithm() (Algorithm, error) {
	name, err := p.input("alg")
	return Algorithm(name), err
}

func (p *Prepared) input(what string) ([]byte, error) {
	if p == nil {
		return nil, unusable("prepared token")
	}
	defer runtime.KeepAlive(p)
	text, why := core.PreparedInput(p.handle, what)
	return text, failed(why)
}

// Attach adds the signature, verifies it with the public key, and returns the token. It can be called only once: if the
// signature is invalid, prepare the token again.
func (p *Prepared) Attach(signature []byte, form SignatureForm) (string, error) {
	if p == nil {
		return "", unusable("prepared token")
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

// IssueWith issues a token and calls sign to sign it, for example with a KMS. It combines [Issuer.Prepare] and
// [Prepared.Attach]: sign gets the prepared token, and returns the signature and its encoding.
func (i *Issuer) IssueWith(
	ctx context.Context, claims any, sign func(context.Context, *Prepared) ([]byte, SignatureForm, error),
) (string, error) {
	prepared, err := i.Prepare(claims)
	if err != nil {
		return "", err
	}
	defer func() { _ = prepared.Close() }()
	if sign == nil {
		return "", failure(CodeArgumentNull, "the function sign is nil")
	}
	signature, form, err := sign(ctx, prepared)
	if err != nil {
		return "", caused(CodeSignerFailed, "the signer returned an error", err)
	}
	return prepared.Attach(signature, form)
}

// NewKeyFromSigner creates a key from a [crypto.Signer], such as an [*crypto/ecdsa.PrivateKey] or a key in an HSM. An
// [Issuer] or [Signer] with this key calls [crypto.Signer.Sign] for each token. Algorithms: RS256, PS256, ES256, their
// variants with 384 and 512, EdDSA and Ed25519. For nested JWTs, see [WithEncryption].
func NewKeyFromSigner(signer crypto.Signer, alg Algorithm, options ...KeyOption) (*Key, error) {
	if signer == nil {
		return nil, failure(CodeArgumentNull, "the signer is nil")
	}
	if _, ok := hashOf(alg); !ok {
		return nil, failure(CodeInvalidOption, string(alg)+" is not supported with a crypto.Signer: RS256 to RS512, "+
			"PS256 to PS512, ES256 to ES512, EdDSA or Ed25519 expected")
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

// publicOf returns the public key in DER. It recovers from the panic of a nil pointer in the interface.
func publicOf(signer crypto.Signer) (der []byte, err error) {
	defer func() {
		if recover() != nil {
			err = failure(CodeArgumentNull, "the signer panicked in its method Public")
		}
	}()
	der, err = x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return nil, caused(CodeKeyUnsupported, "the type of the signer's public key is not supported", err)
	}
	return der, nil
}

// remoteSigner signs with a crypto.Signer.
type remoteSigner struct {
	signer crypto.Signer
	alg    Algorithm
}

// hashOf returns the hash of an algorithm, or 0 if it signs the message.
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

// remote returns the signer of a key of [NewKeyFromSigner], or nil.
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
