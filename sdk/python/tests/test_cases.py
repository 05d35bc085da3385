"""Runs every case of sdk/testdata/cases.jsonl, as all jeton libraries do."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import UnsupportedAlgorithm

import jeton
from jeton import _jeton

CASES = Path(__file__).parents[2] / "testdata" / "cases.jsonl"


def lines() -> list[dict[str, Any]]:
    # A case may contain an escaped lone surrogate, which only `json` reads.
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def key_of(data: dict[str, Any]) -> jeton.Key:
    options = dict(data.get("options", {}))
    if options.pop("format", "any") == "secret":
        return jeton.Key.from_secret(data["data"], **options)
    return jeton.Key.load(data["data"], **options)


def key_set_of(data: dict[str, Any]) -> jeton.KeySet:
    if data["data"].startswith("k"):
        return jeton.KeySet.from_paserks(data["data"].splitlines())
    return jeton.KeySet.from_jwks(data["data"], **data.get("options", {}))


def keys_of(case: dict[str, Any]) -> Any:
    if "key" in case:
        return key_of(case["key"])
    return key_set_of(case["keys"]) if "keys" in case else None


def clock_of(case: dict[str, Any]) -> jeton.FixedClock | None:
    return jeton.FixedClock(case["now"]) if "now" in case else None


def multi_issuer_verifier_of(case: dict[str, Any]) -> jeton.MultiIssuerVerifier:
    entries = []
    for one in case["issuers"]:
        options = dict(one["options"])
        entries.append((options.pop("issuer"), keys_of(one), options))
    return jeton.MultiIssuerVerifier(entries, clock=clock_of(case))


def verifier_of(case: dict[str, Any]) -> jeton.Verifier:
    keys, clock = keys_of(case), clock_of(case)
    decryption = [key_of(data) for data in case.get("decryption", [])]
    return jeton.Verifier(keys, decryption=decryption or None, clock=clock, **case.get("options", {}))


def verify(case: dict[str, Any]) -> dict[str, Any]:
    verifier = multi_issuer_verifier_of(case) if "issuers" in case else verifier_of(case)
    verified = verifier.verify_complete(case["token"])
    # The fast path returns the same.
    assert verifier.verify(case["token"].encode()) == verified.claims
    assert verifier.verify_json(case["token"]) == verified.json
    found: dict[str, Any] = {
        "json": verified.json,
        "header": header_of(verifier, case["token"]),
        "alg": verified.alg,
        "kid": verified.kid,
        "typ": verified.typ,
        "footer": None if verified.footer is None else verified.footer.decode(),
        "issuer": verified.issuer,
        "subject": verified.subject,
        "audiences": list(verified.audiences) or None,
        "token_id": verified.token_id,
    }
    for name in ("expires_at", "not_before", "issued_at"):
        moment = getattr(verified, name)
        found[name] = None if moment is None else int(moment.timestamp())
    assert same_numbers(verified.claims, json.loads(verified.json))
    assert verified.header == json.loads(found["header"] or "null")
    return found


def header_of(verifier: jeton.Verifier | jeton.MultiIssuerVerifier, token: str) -> str | None:
    one = verifier._select(token) if isinstance(verifier, jeton.MultiIssuerVerifier) else verifier
    return one._header(token)


def same_numbers(one: Any, other: Any) -> bool:
    """Returns whether values and types are equal: 1 is neither 1.0 nor True."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same_numbers(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_numbers, one, other))
    return type(one) is type(other) and one == other


def verify_bytes(case: dict[str, Any]) -> dict[str, Any]:
    content = case.get("content")
    if content is not None:
        content = base64.urlsafe_b64decode(content + "=" * (-len(content) % 4))
    payload = verifier_of(case).verify_bytes(case["token"], content=content)
    return {"payload": base64.urlsafe_b64encode(payload).rstrip(b"=").decode()}


def unverified(case: dict[str, Any]) -> dict[str, Any]:
    text = _jeton._unverified(case["token"])
    read, known = jeton.read_unverified(case["token"].encode()), json.loads(text)
    footer = None if read.footer is None else read.footer.decode()
    assert (read.header, read.claims, footer) == (known["header"], known["claims"], known["footer"])
    return {"json": text}


def issue(case: dict[str, Any]) -> dict[str, Any]:
    issuer = jeton.Issuer(key_of(case["key"]), clock=jeton.FixedClock(case["now"]), **case.get("options", {}))
    token = issuer.issue_json(case["claims"])
    claims = json.loads(case["claims"])
    # Claims from a dict are equal, but their text may differ.
    if json.dumps(claims, separators=(",", ":"), ensure_ascii=False) == case["claims"]:
        assert issuer.issue(claims) == token
    return {"token": token}


def check_key_object(key: jeton.Key) -> None:
    """The object of the package `cryptography` is the same key."""
    try:
        found = key.to_cryptography()
    except (UnsupportedAlgorithm, ValueError):
        return
    assert jeton.Key.from_cryptography(found, alg=key.alg).thumbprint() == key.thumbprint()


def import_key(case: dict[str, Any]) -> dict[str, Any]:
    key = key_of(case["key"])
    if key.kind != "symmetric" and not key.is_paseto:
        check_key_object(key)
    return {
        "kind": key.kind,
        "alg": key.alg,
        "kid": key.kid,
        "thumbprint": None if key.is_paseto else key.thumbprint(),
    }


#: The claims have a number that a float cannot represent. `verify_json` returns the text; a dict would contain `inf`.
NO_FLOAT = "claims-number-exponent"


def test_number_without_a_float_is_an_error() -> None:
    case = next(case for case in lines() if case["id"] == NO_FLOAT)
    verifier = verifier_of(case)
    assert verifier.verify_json(case["token"]) == case["expect"]["json"]
    with pytest.raises(jeton.TokenClaimsShape):
        verifier.verify(case["token"])


ACTIONS = {
    "verify": verify,
    "verify-bytes": verify_bytes,
    "unverified": unverified,
    "issue": issue,
    "import": import_key,
}


@pytest.mark.parametrize("case", [case for case in lines() if case["id"] != NO_FLOAT], ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    try:
        found = ACTIONS[case["do"]](case)
    except jeton.JetonError as error:
        found = {"code": error.code}
        assert error.code in jeton.CODES
    found = {name: value for name, value in found.items() if value is not None}
    assert found == case["expect"]


def test_all_cases_are_run() -> None:
    assert len(lines()) >= 1_100
