package jeton

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
)

// NewKey imports a key of the standard library:
//   - a private key: [*crypto/rsa.PrivateKey], [*crypto/ecdsa.PrivateKey], [crypto/ed25519.PrivateKey] or
//     [*crypto/ecdh.PrivateKey],
//   - the public key of one of these,
//   - the public key of an [*crypto/x509.Certificate], which is not verified.
//
// Pass [WithAlgorithm] if more than one algorithm is possible. For a key in a KMS or an HSM, use [NewKeyFromSigner].
func NewKey(key any, options ...KeyOption) (*Key, error) {
	// crypto/x509 would read beyond the end of a shorter key.
	if ed, ok := key.(ed25519.PrivateKey); ok && len(ed) != ed25519.PrivateKeySize {
		return nil, failure(CodeKeyInvalid, fmt.Sprintf("the ed25519.PrivateKey has %d bytes, %d expected", len(ed),
			ed25519.PrivateKeySize))
	}
	switch key := key.(type) {
	case nil:
		return nil, failure(CodeArgumentNull, "the key is nil")
	case *rsa.PrivateKey, *ecdsa.PrivateKey, ed25519.PrivateKey, *ecdh.PrivateKey:
		return importEncoded(key, func() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(key) }, ParseKey, options)
	case *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey, *ecdh.PublicKey:
		return importEncoded(key, func() ([]byte, error) { return x509.MarshalPKIXPublicKey(key) }, ParseKey, options)
	case *x509.Certificate:
		return importEncoded(key, func() ([]byte, error) { return bytes.Clone(key.Raw), nil }, ParseCertificate, options)
	case crypto.Signer:
		return nil, unsupported(key, "use NewKeyFromSigner")
	case []byte, string:
		return nil, unsupported(key, "use NewSecret for a secret, and ParseKey for an encoded key")
	}
	return nil, unsupported(key, "*rsa, *ecdsa, ed25519 or *ecdh keys, or *x509.Certificate expected")
}

func unsupported(key any, expected string) error {
	return failure(CodeKeyUnsupported, fmt.Sprintf("the type %T is not supported: %s", key, expected))
}

// importEncoded imports the encoding of a key, and wipes it. It recovers from the panic of a nil or zero key.
func importEncoded(
	key any, encode func() ([]byte, error), parse func([]byte, ...KeyOption) (*Key, error), options []KeyOption,
) (*Key, error) {
	der, err := func() (der []byte, err error) {
		defer func() {
			if recover() != nil {
				err = failure(CodeKeyInvalid, fmt.Sprintf("the %T is nil or incomplete", key))
			}
		}()
		return encode()
	}()
	switch {
	case CodeOf(err) != 0:
		return nil, err
	case err != nil, len(der) == 0:
		return nil, caused(CodeKeyInvalid, fmt.Sprintf("the %T cannot be encoded", key), err)
	}
	defer clear(der)
	return parse(der, options...)
}

// CryptoPublicKey returns the public key as the standard library has it: an [*crypto/rsa.PublicKey],
// [*crypto/ecdsa.PublicKey], [crypto/ed25519.PublicKey] or [*crypto/ecdh.PublicKey]. It fails for symmetric keys, PASETO
// keys, and keys that the standard library does not have, such as ES256K.
func (k *Key) CryptoPublicKey() (crypto.PublicKey, error) {
	der, err := k.DER()
	if err != nil {
		return nil, err
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, caused(CodeKeyUnsupported, "the standard library has no public key for "+string(k.alg), err)
	}
	return public, nil
}
