"""Key objects of the package cryptography."""

import subprocess
import sys
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.hashes import SHA256

import jeton

RSA = rsa.generate_private_key(65537, 2048)
PRIVATE: list[tuple[Any, str, str | None]] = [
    (RSA, "RS256", "RS256"),
    (RSA, "PS512", "PS512"),
    (ec.generate_private_key(ec.SECP256R1()), "ES256", None),
    (ec.generate_private_key(ec.SECP384R1()), "ES384", None),
    (ec.generate_private_key(ec.SECP521R1()), "ES512", None),
    (ec.generate_private_key(ec.SECP256K1()), "ES256K", None),
    (ed25519.Ed25519PrivateKey.generate(), "EdDSA", None),
    (x25519.X25519PrivateKey.generate(), "ECDH-ES", "ECDH-ES"),
]
NAMES: dict[str, Any] = {"issuer": "i", "audience": "a"}


@pytest.mark.parametrize(("private", "alg", "given"), PRIVATE, ids=lambda one: str(one)[:9])
def test_key_is_imported_and_exported(private: Any, alg: str, given: str | None) -> None:
    key = jeton.Key.from_cryptography(private, alg=given, kid="k")
    public = jeton.Key.from_cryptography(private.public_key(), alg=given, kid="k")
    assert (key.kind, key.alg, key.kid) == ("private", alg, "k")
    assert (public.kind, public.alg, public.kid) == ("public", alg, "k")
    assert key.thumbprint() == public.thumbprint()
    # A private key exports its public key, unless the method name begins with `insecure_`.
    assert key.to_cryptography() == public.to_cryptography() == private.public_key()
    again: Any = key.insecure_private_cryptography()
    assert type(again) is type(private) and again.public_key() == private.public_key()
    with pytest.raises(jeton.InvalidKey):
        public.insecure_private_cryptography()


def test_keys_sign_and_verify() -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    token = jeton.Issuer(jeton.Key.from_cryptography(private), lifetime=60, **NAMES).issue({"page": "/"})
    verifier = jeton.Verifier(jeton.Key.from_cryptography(private.public_key()), **NAMES)
    assert verifier.verify(token)["page"] == "/"


def test_certificate_has_a_public_key() -> None:
    private = ec.generate_private_key(ec.SECP384R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "id.example")])
    now = datetime.now(timezone.utc)
    builder = x509.CertificateBuilder(name, name, private.public_key(), 1, now, now + timedelta(days=1))
    key = jeton.Key.from_cryptography(builder.sign(private, SHA256()), kid="k")
    assert (key.kind, key.alg, key.kid) == ("public", "ES384", "k")
    assert key.to_cryptography() == private.public_key()


def test_rsa_key_needs_an_algorithm() -> None:
    with pytest.raises(jeton.InvalidKey, match="alg"):
        jeton.Key.from_cryptography(RSA)


def test_other_objects_are_errors() -> None:
    others: list[Any] = [b"bytes", None, RSA.private_numbers(), jeton.Key.generate("ES256")]
    for other in others:
        with pytest.raises(TypeError, match=f"not {type(other).__name__}"):
            jeton.Key.from_cryptography(other)
    with pytest.raises(jeton.InvalidKey):
        jeton.Key.from_cryptography(dsa.generate_private_key(2048))
    for alg in ("HS256", "v4.local"):
        with pytest.raises(jeton.InvalidKey):
            jeton.Key.generate(alg).to_cryptography()


def test_package_is_imported_only_when_needed() -> None:
    program = """if True:
        import sys, jeton
        key = jeton.Key.generate("ES256")
        try:
            jeton.Key.from_cryptography("text")
        except TypeError:
            pass
        assert "cryptography" not in sys.modules
        key.to_cryptography()
        assert "cryptography" in sys.modules
    """
    subprocess.run([sys.executable, "-c", program], check=True)
