"""Key objects of the package `cryptography`. It is imported only when such an object is given or asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, get_args

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
    from cryptography.x509 import Certificate


def to_der(key: PrivateKeyTypes | PublicKeyTypes | Certificate) -> bytes:
    """Returns PKCS#8 of a private key, or SubjectPublicKeyInfo."""
    if "cryptography" in sys.modules:
        from cryptography.hazmat.primitives.asymmetric import types
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
        from cryptography.x509 import Certificate

        if isinstance(key, Certificate):
            key = key.public_key()
        if isinstance(key, get_args(types.PrivateKeyTypes)):
            private: bytes = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
            return private
        if isinstance(key, get_args(types.PublicKeyTypes)):
            public: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
            return public
    raise TypeError(f"expected a key or a certificate of the package cryptography, not {type(key).__name__}")


def public_key(der: bytes) -> PublicKeyTypes:
    """Returns the key object of SubjectPublicKeyInfo."""
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    return load_der_public_key(der)


def private_key(der: bytes) -> PrivateKeyTypes:
    """Returns the key object of PKCS#8."""
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    return load_der_private_key(der, None)
