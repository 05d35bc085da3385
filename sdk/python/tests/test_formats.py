"""Every format and every algorithm, through issuers and verifiers."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import load_pem_private_key

import jeton
from jeton._algorithms import MACS, SIGNATURES

NAMES: dict[str, Any] = {"issuer": "https://id.example", "audience": "api"}
PASETO = ["v3.local", "v3.public", "v4.local", "v4.public"]
ENCRYPTIONS: list[dict[str, Any]] = [
    {"alg": "A256KW"},
    {"alg": "A128GCMKW"},
    {"alg": "RSA-OAEP-256"},
    {"alg": "ECDH-ES", "crv": "X25519"},
    {"alg": "ECDH-ES+A256KW", "crv": "P-521"},
    {"alg": "dir", "enc": "A128CBC-HS256"},
]


@pytest.mark.parametrize("alg", [*MACS, *SIGNATURES, *PASETO])
def test_claims_are_issued_and_verified(alg: str) -> None:
    key = jeton.Key.generate(alg)
    token = jeton.Issuer(key, lifetime=60, **NAMES).issue({"page": "/", "n": 2**70})
    verifier = jeton.Verifier(key if key.kind == "symmetric" else key.public_key(), **NAMES)
    claims = verifier.verify(token)
    assert (claims["page"], claims["n"]) == ("/", 2**70)
    assert verifier.verify_complete(token).alg == alg
    other = jeton.Verifier(jeton.Key.generate(alg), **NAMES)
    with pytest.raises(jeton.TokenRejected):
        other.verify(token)
    with pytest.raises(jeton.TokenAudienceMismatch):
        jeton.Verifier(key, issuer="https://id.example", audience="b").verify(token)
    with pytest.raises(jeton.TokenIssuerMismatch):
        jeton.Verifier(key, issuer=["https://a.example"], audience="api").verify(token)


@pytest.mark.parametrize("settings", ENCRYPTIONS, ids=lambda settings: settings["alg"])
@pytest.mark.parametrize("enc", ["A256GCM", "A128CBC-HS256"])
def test_claims_are_signed_and_encrypted(settings: dict[str, Any], enc: str) -> None:
    if settings.get("enc", enc) != enc:
        # This `dir` key has another content encryption.
        pytest.skip("a `dir` key has one content encryption")
    signing, encryption = jeton.Key.generate("ES256"), jeton.Key.generate(**settings)
    issuer = jeton.Issuer(signing, encryption=encryption, enc=enc, lifetime=60, **NAMES)
    token = issuer.issue({"page": "/"})
    assert token.count(".") == 4
    verifier = jeton.Verifier(signing.public_key(), decryption=encryption, **NAMES)
    assert verifier.verify(token)["page"] == "/"
    with pytest.raises(jeton.TokenRejected):
        jeton.Verifier(signing.public_key(), decryption=jeton.Key.generate(**settings), **NAMES).verify(token)
    with pytest.raises(jeton.TokenEncryptionMismatch):
        jeton.Verifier(signing.public_key(), decryption=encryption, enc="A192GCM", **NAMES).verify(token)


def test_content_key_alone_encrypts_claims() -> None:
    key = jeton.Key.generate("dir", enc="A256GCM")
    token = jeton.Issuer(key, lifetime=60, **NAMES).issue({"page": "/"})
    assert jeton.Verifier(key, **NAMES).verify(token)["page"] == "/"


@pytest.mark.parametrize("serialization", ["compact", "flattened", "general"])
@pytest.mark.parametrize("detached", [False, True])
def test_bytes_are_signed(serialization: Any, detached: bool) -> None:
    key, data = jeton.Key.generate("EdDSA"), bytes(range(256))
    issuer = jeton.Issuer(key, format="jws", serialization=serialization, detached=detached, typ="x+json")
    token = issuer.issue_bytes(bytearray(data))
    verifier = jeton.Verifier(key.public_key(), format="jws", serialization=serialization)
    content = data if detached else None
    assert verifier.verify_bytes(token, content=content) == data
    if detached:
        with pytest.raises(jeton.TokenRejected):
            verifier.verify_bytes(token, content=data + b"x")
    with pytest.raises(jeton.InvalidUse):
        verifier.verify(token)
    with pytest.raises(jeton.InvalidUse):
        issuer.issue({})


def test_unencoded_payload() -> None:
    key = jeton.Key.generate("HS256")
    token = jeton.Issuer(key, format="jws", unencoded=True, detached=True).issue_bytes(b"a.b")
    assert jeton.Verifier(key, format="jws").verify_bytes(token, content=b"a.b") == b"a.b"


@pytest.mark.parametrize("serialization", ["compact", "flattened", "general"])
@pytest.mark.parametrize("settings", ENCRYPTIONS, ids=lambda settings: settings["alg"])
def test_bytes_are_encrypted(serialization: Any, settings: dict[str, Any]) -> None:
    key = jeton.Key.generate(**settings)
    token = jeton.Issuer(encryption=key, format="jwe", serialization=serialization, cty="x").issue_bytes(b"\xff\x00")
    verifier = jeton.Verifier(decryption=key, format="jwe", serialization=serialization)
    assert verifier.verify_bytes(token) == b"\xff\x00"


@pytest.mark.parametrize("alg", PASETO)
def test_paseto_over_bytes(alg: str) -> None:
    key, data = jeton.Key.generate(alg), b"\x00\xff not JSON"
    options: dict[str, Any] = {"format": "paseto-bytes", "footer": "f", "implicit_assertion": "i"}
    token = jeton.Issuer(key, **options).issue_bytes(data)
    keys = key if key.kind == "symmetric" else key.public_key()
    assert jeton.Verifier(keys, **options).verify_bytes(token) == data
    for changed in ({"footer": "g"}, {"implicit_assertion": "j"}):
        with pytest.raises(jeton.TokenRejected):
            jeton.Verifier(keys, **{**options, **changed}).verify_bytes(token)
    with pytest.raises(jeton.TokenRejected):
        jeton.Verifier(jeton.Key.generate(alg), **options).verify_bytes(token)
    with pytest.raises(jeton.InvalidUse):
        jeton.Verifier(keys, issuer="i", audience="a", **options)
    with pytest.raises(jeton.InvalidUse):
        jeton.Verifier(keys, **options).verify(token)


@pytest.mark.parametrize("alg", PASETO)
def test_footer_and_implicit_assertion(alg: str) -> None:
    key = jeton.Key.generate(alg)
    token = jeton.Issuer(key, lifetime=60, footer='{"a":1}', implicit_assertion="x", **NAMES).issue({})
    verifier = jeton.Verifier(key, footer='{"a":1}', implicit_assertion="x", **NAMES)
    assert verifier.verify_complete(token).footer == b'{"a":1}'
    with pytest.raises(jeton.TokenFooterMismatch):
        jeton.Verifier(key, footer="b", implicit_assertion="x", **NAMES).verify(token)
    with pytest.raises(jeton.TokenDecryptionFailed if alg.endswith("local") else jeton.TokenInvalidSignature):
        jeton.Verifier(key, footer='{"a":1}', implicit_assertion="y", **NAMES).verify(token)


@pytest.mark.parametrize("form", ["digest", "message"])
def test_signature_of_an_external_signer(form: str) -> None:
    key = jeton.Key.generate("ES256", kid="k")
    external = load_pem_private_key(key.insecure_private_pem().encode(), None)
    assert isinstance(external, ec.EllipticCurvePrivateKey)
    issuer = jeton.Issuer(key.public_key(), lifetime=60, **NAMES)
    prepared = issuer.prepare({"page": "/"})
    assert prepared.alg == "ES256"
    if form == "digest":
        signature = external.sign(prepared.digest, ec.ECDSA(utils.Prehashed(SHA256())))
    else:
        signature = external.sign(prepared.message, ec.ECDSA(SHA256()))
    token = prepared.attach(signature, der=True)
    assert jeton.Verifier(key.public_key(), **NAMES).verify(token)["page"] == "/"
    with pytest.raises(jeton.InvalidUse) as raised:
        prepared.attach(signature, der=True)
    assert raised.value.code == "PREPARED_TOKEN_USED"
    for bad in (b"", signature[:-1], signature):
        with pytest.raises(jeton.SignerFailed):
            issuer.prepare({"page": "/other"}).attach(bad, der=True)
    with pytest.raises(jeton.InvalidUse):
        jeton.Issuer(key, lifetime=60).prepare({})
    data = jeton.Issuer(key.public_key(), format="jws").prepare_bytes(b"\xff")
    fixed = external.sign(data.message, ec.ECDSA(SHA256()))
    r, s = utils.decode_dss_signature(fixed)
    token = data.attach(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    assert jeton.Verifier(key.public_key(), format="jws").verify_bytes(token) == b"\xff"


@pytest.mark.parametrize("alg", ["v3.public", "v4.public"])
def test_paseto_signature_of_an_external_signer(alg: str) -> None:
    key = jeton.Key.generate(alg)
    prepared = jeton.Issuer(key.public_key(), lifetime=60, **NAMES).prepare({"page": "/"})
    assert prepared.message
    with pytest.raises(jeton.SignerFailed):
        prepared.attach(bytes(96 if alg == "v3.public" else 64))


def test_cache_remembers_a_token_until_it_expires() -> None:
    key, clock = jeton.Key.generate("ES256"), jeton.FixedClock(1_800_000_000)
    token = jeton.Issuer(key, lifetime=60, clock=clock, **NAMES).issue({"page": "/"})
    verifier = jeton.Verifier(key.public_key(), cache=100, clock=clock, **NAMES)
    for _ in range(3):
        assert verifier.verify(token)["page"] == "/"
    clock.advance(61)
    with pytest.raises(jeton.TokenExpired):
        verifier.verify(token)


def test_access_token_needs_its_claims() -> None:
    key = jeton.Key.generate("ES256")
    issuer = jeton.Issuer(key, access_tokens=True, lifetime=60, **NAMES)
    token = issuer.issue({"sub": "user-7", "client_id": "c", "jti": "1"})
    verifier = jeton.Verifier(key, access_tokens=True, **NAMES)
    assert verifier.verify_complete(token).typ == "at+jwt"
    with pytest.raises(jeton.InvalidClaims):
        issuer.issue({"sub": "user-7"})


def test_policy_of_time() -> None:
    key, clock = jeton.Key.generate("HS256"), jeton.FixedClock(1_800_000_000)
    issuer = jeton.Issuer(key, lifetime=60, clock=clock, **NAMES)
    token = issuer.issue({"nbf": 1_800_000_010})
    verifier = jeton.Verifier(key, clock=clock, leeway=5, max_age=40, required=["nbf"], **NAMES)
    with pytest.raises(jeton.TokenNotYetValid):
        verifier.verify(token)
    clock.advance(6)
    assert verifier.verify(token)
    clock.advance(50)
    with pytest.raises(jeton.TokenTooOld):
        verifier.verify(token)
    with pytest.raises(jeton.TokenInvalidClaims):
        verifier.verify(issuer.issue({}))


def test_claims_of_the_issuer_cannot_be_overridden() -> None:
    issuer = jeton.Issuer(jeton.Key.generate("HS256"), lifetime=60, **NAMES)
    for name in ("iss", "aud", "exp"):
        with pytest.raises(jeton.InvalidClaims):
            issuer.issue({name: "https://other.example" if name != "exp" else 4_000_000_000})
    with pytest.raises(jeton.InvalidClaims) as raised:
        jeton.Issuer(jeton.Key.generate("HS256")).issue({"page": "/"})
    assert raised.value.code == "CLAIMS_WITHOUT_EXPIRY"


def test_registered_claims_are_typed() -> None:
    key = jeton.Key.generate("HS256", kid="k1")
    issuer = jeton.Issuer(key, lifetime=60, issuer="i", audience=["a", "b"])
    verified = jeton.Verifier(key, issuer="i", audience="b").verify_complete(issuer.issue({"sub": "s", "jti": "j"}))
    assert (verified.issuer, verified.subject, verified.token_id, verified.kid) == ("i", "s", "j", "k1")
    assert verified.audiences == ("a", "b")
    assert verified.expires_at is not None and verified.issued_at is not None
    assert (verified.expires_at - verified.issued_at).total_seconds() == 60
    assert json.loads(verified.json) == verified.claims
    assert "s" not in repr(verified).replace("jeton", "").replace("HS256", "").replace("Verified", "")


def test_password_encrypts() -> None:
    key = jeton.Key.insecure_password("a password of the tests", "PBES2-HS256+A128KW", rounds=310_000, kid="p")
    token = jeton.Issuer(encryption=key, format="jwe").issue_bytes(b"data")
    assert jeton.Verifier(decryption=key, format="jwe").verify_bytes(token) == b"data"
    other = jeton.Key.insecure_password("another password", "PBES2-HS256+A128KW")
    with pytest.raises(jeton.TokenRejected):
        jeton.Verifier(decryption=other, format="jwe").verify_bytes(token)
    with pytest.raises(jeton.JetonError):
        jeton.Key.insecure_password("a password of the tests", "PBES2-HS256+A128KW", rounds=1)


def test_weak_secret_needs_its_own_method() -> None:
    weak = jeton.Key.insecure_weak_secret("secret", "HS256")
    token = jeton.Issuer(weak, lifetime=60, **NAMES).issue({})
    assert jeton.Verifier(weak, **NAMES).verify(token)
    with pytest.raises(jeton.InvalidKey):
        jeton.Key.from_secret("secret", "HS256")
