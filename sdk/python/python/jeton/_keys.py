"""Keys and key sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from . import _cryptography, _jeton
from ._errors import error_of
from ._settings import to_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
    from cryptography.x509 import Certificate

#: The accepted types for key material.
KeyData = str | bytes | bytearray | memoryview

_Self = TypeVar("_Self", bound="_Closing")


class _Closing:
    """The context manager of objects that can be closed."""

    __slots__ = ()

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied: it stays in this process")


class Key(_jeton.Key, _Closing):
    """A key: a secret, a private key or a public key, with its algorithm.

    Secrets stay inside the native module. Only methods whose names begin with `insecure_private_` return them.

    >>> key = Key.generate("ES256", kid="k1")
    >>> key.alg, key.kid, key.kind
    ('ES256', 'k1', 'private')
    >>> key.public_key().kind
    'public'
    """

    __slots__ = ()

    @classmethod
    def generate(
        cls,
        alg: str,
        *,
        kid: str | None = None,
        rsa_bits: int | None = None,
        crv: str | None = None,
        enc: str | None = None,
    ) -> Key:
        """Generates a key for a JWA algorithm, or for `v3.local`, `v3.public`, `v4.local` or `v4.public`.

        `rsa_bits` is 2048, 3072, 4096 or 8192. `crv` is the curve of an ECDH-ES key. `enc` is the content encryption of
        a `dir` key, such as `A256GCM`.
        """
        return cls(_jeton.Key._generate(alg, to_json(kid=kid, rsa_bits=rsa_bits, crv=crv, enc=enc)))

    @classmethod
    def load(
        cls,
        data: KeyData,
        *,
        alg: str | None = None,
        kid: str | None = None,
        enc: str | None = None,
        password: str | None = None,
    ) -> Key:
        """Imports a key in any encoding: JWK, PEM, DER or PASERK. The content determines the encoding.

        Pass `alg` if the key allows several algorithms, such as an RSA key without `alg`. `password` decrypts an
        encrypted PKCS#8 key or PASERK.
        """
        return cls(data, "any", alg, kid, enc, password)

    @classmethod
    def from_jwk(
        cls,
        jwk: Mapping[str, Any] | KeyData,
        *,
        alg: str | None = None,
        kid: str | None = None,
        enc: str | None = None,
    ) -> Key:
        """Imports a JWK, as a dict or as JSON text.

        Pass the text if another party wrote it: a dict silently drops duplicate members.
        """
        return cls.load(_jwk_text(jwk), alg=alg, kid=kid, enc=enc)

    @classmethod
    def from_pem(
        cls, pem: KeyData, *, alg: str | None = None, kid: str | None = None, password: str | None = None
    ) -> Key:
        """Imports a PEM: PKCS#8, PKCS#1, SEC1 or SubjectPublicKeyInfo."""
        return cls.load(pem, alg=alg, kid=kid, password=password)

    @classmethod
    def from_der(
        cls,
        der: bytes | bytearray | memoryview,
        *,
        alg: str | None = None,
        kid: str | None = None,
        password: str | None = None,
    ) -> Key:
        """Imports DER: PKCS#8, PKCS#1, SEC1 or SubjectPublicKeyInfo."""
        return cls.load(der, alg=alg, kid=kid, password=password)

    @classmethod
    def from_paserk(cls, paserk: str, *, password: str | None = None) -> Key:
        """Imports a PASERK, the text form of a PASETO key."""
        return cls.load(paserk, password=password)

    @classmethod
    def from_secret(cls, secret: KeyData, alg: str, *, kid: str | None = None, enc: str | None = None) -> Key:
        """Imports a secret for HMAC, AES key wrap, `dir`, `v3.local` or `v4.local`. A str is encoded as UTF-8.

        `HS256` needs at least 32 bytes, `HS384` 48 and `HS512` 64. A PEM or a JWK is rejected, because it is often a
        public key: import it with `load`.
        """
        return cls(secret, "secret", alg, kid, enc)

    @classmethod
    def from_secret_base64(
        cls, secret: KeyData, alg: str, *, kid: str | None = None, enc: str | None = None
    ) -> Key:
        """Imports a secret in base64 or base64url."""
        return cls(secret, "secret-base64", alg, kid, enc)

    @classmethod
    def from_certificate(
        cls, certificate: KeyData, *, alg: str | None = None, kid: str | None = None
    ) -> Key:
        """Imports the public key of an X.509 certificate. The certificate is not verified."""
        return cls(certificate, "certificate", alg, kid)

    @classmethod
    def from_cryptography(
        cls, key: PrivateKeyTypes | PublicKeyTypes | Certificate, *, alg: str | None = None, kid: str | None = None
    ) -> Key:
        """Imports a private key, a public key, or the public key of a certificate: an object of `cryptography`.

        The certificate is not verified. A private key that cannot be exported stays where it is: create an `Issuer`
        with its public key, and call `prepare`.
        """
        return cls.load(_cryptography.to_der(key), alg=alg, kid=kid)

    @classmethod
    def insecure_password(
        cls, password: KeyData, alg: str, *, rounds: int | None = None, kid: str | None = None
    ) -> Key:
        """Imports a password that encrypts JWEs (PBES2). Anyone with such a token can guess the password offline."""
        return cls(password, "insecure-password", alg, kid, rounds=rounds)

    @classmethod
    def insecure_weak_secret(cls, secret: KeyData, alg: str, *, kid: str | None = None) -> Key:
        """Imports a secret below the minimum length, for systems that cannot change their secret."""
        return cls(secret, "insecure-secret", alg, kid)

    @classmethod
    def insecure_weak_rsa(cls, public: KeyData, alg: str, *, kid: str | None = None) -> Key:
        """Imports a public RSA key below 2,048 bits, for systems that cannot change their key."""
        return cls(public, "insecure-rsa", alg, kid)

    def public_key(self) -> Key:
        """Returns the public key. Raises `InvalidKey` if the key is symmetric."""
        return type(self)(self._public())

    def to_jwk(self) -> dict[str, Any]:
        """Returns the public key as a JWK."""
        jwk: dict[str, Any] = json.loads(self._export("jwk"))
        return jwk

    def to_pem(self) -> str:
        """Returns the public key as a PEM."""
        return self._export("pem").decode()

    def to_der(self) -> bytes:
        """Returns the public key as DER."""
        return self._export("der")

    def to_cryptography(self) -> PublicKeyTypes:
        """Returns the public key as an object of the package `cryptography`, which must be installed."""
        return _cryptography.public_key(self.to_der())

    def to_paserk(self) -> str:
        """Returns the public key as a PASERK."""
        return self._export("paserk").decode()

    def thumbprint(self) -> str:
        """Returns the SHA-256 thumbprint (RFC 7638). For a PASETO key, use `kid`."""
        return self._export("thumbprint").decode()

    def thumbprint_uri(self) -> str:
        """Returns the thumbprint as a URI (RFC 9278)."""
        return self._export("thumbprint-uri").decode()

    def insecure_private_jwk(self) -> dict[str, Any]:
        """Returns the key with its private part as a JWK."""
        jwk: dict[str, Any] = json.loads(self._export("insecure-jwk"))
        return jwk

    def insecure_private_pem(self) -> str:
        """Returns the private key as a PEM."""
        return self._export("insecure-pem").decode()

    def insecure_private_der(self) -> bytes:
        """Returns the private key as DER."""
        return self._export("insecure-der")

    def insecure_private_cryptography(self) -> PrivateKeyTypes:
        """Returns the private key as an object of the package `cryptography`, which must be installed."""
        return _cryptography.private_key(self.insecure_private_der())

    def insecure_private_paserk(self) -> str:
        """Returns the key with its private part as a PASERK."""
        return self._export("insecure-paserk").decode()

    def __repr__(self) -> str:
        return "<jeton.Key closed>" if self.closed else f"<jeton.Key {self.alg} {self.kind}>"

    __reduce__ = _Closing.__reduce__


class KeySet(_jeton.KeySet, _Closing):
    """Several keys with the same use: verification, decryption or PASETO.

    >>> key = Key.generate("ES256", kid="k1")
    >>> KeySet([key]).ids
    ['k1']
    >>> [sorted(jwk) for jwk in KeySet([key]).to_jwks()["keys"]]
    [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']]
    """

    __slots__ = ()

    def __new__(cls, keys: Iterable[Key]) -> KeySet:
        return super().__new__(cls, list(keys))

    @classmethod
    def from_jwks(
        cls,
        jwks: Mapping[str, Any] | KeyData,
        *,
        default_alg: str | None = None,
        published: bool = False,
    ) -> KeySet:
        """Imports a JWK Set, as a dict or as JSON text. Unusable keys are skipped: see `skipped`.

        `default_alg` is the algorithm of keys without `alg`. Set `published` for a set that another party publishes:
        secret and private keys in it are then skipped.
        """
        return cls._wrap(_jeton.KeySet._import(_jwk_text(jwks), to_json(default_alg=default_alg, published=published)))

    @classmethod
    def from_paserks(cls, paserks: Iterable[str]) -> KeySet:
        """Imports PASERKs."""
        return cls._wrap(_jeton.KeySet._import("\n".join(paserks), ""))

    @classmethod
    def _wrap(cls, native: _jeton.KeySet) -> KeySet:
        return _jeton.KeySet.__new__(cls, native)

    def to_jwks(self) -> dict[str, Any]:
        """Returns the public keys as a JWK Set."""
        jwks: dict[str, Any] = json.loads(self.to_jwks_json())
        return jwks

    def to_jwks_json(self) -> str:
        """Returns the JSON text of the JWK Set for publication."""
        return self._export("jwks")

    @property
    def ids(self) -> list[str]:
        """The key ids (`kid`). For a key without an id, the entry is an empty str."""
        return self._export("ids").split("\n")

    @property
    def skipped(self) -> list[str]:
        """The reasons why keys were skipped during the import."""
        return self._export("skipped").splitlines()

    def __repr__(self) -> str:
        return "<jeton.KeySet closed>" if self.closed else "<jeton.KeySet>"

    __reduce__ = _Closing.__reduce__


def _jwk_text(jwk: Mapping[str, Any] | KeyData) -> KeyData:
    if not isinstance(jwk, Mapping):
        return jwk
    try:
        return json.dumps(dict(jwk), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise error_of("KEY_MALFORMED", "the key is not a JSON object") from None
