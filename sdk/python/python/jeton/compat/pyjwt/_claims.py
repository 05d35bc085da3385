"""PyJWT's checks of claims, with its exceptions."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ._options import check_issuer_argument, check_subject_argument, checked_audience, seconds_of
from .exceptions import (
    DecodeError,
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAudienceError,
    InvalidIssuedAtError,
    InvalidIssuerError,
    InvalidJTIError,
    InvalidSubjectError,
    MissingRequiredClaimError,
    PyJWTError,
)


@dataclass(frozen=True)
class ClaimArguments:
    """The arguments of `decode` about claims."""

    audience: str | list[str] | None
    issuer: str | Container[str] | None
    subject: str | None
    #: Seconds.
    leeway: float

    @classmethod
    def checked(
        cls,
        audience: str | Iterable[str] | None,
        issuer: str | Container[str] | None,
        subject: str | None,
        leeway: float | timedelta,
    ) -> ClaimArguments:
        """Raises an exception if an argument has a wrong type."""
        check_issuer_argument(issuer)
        check_subject_argument(subject)
        return cls(checked_audience(audience), issuer, subject, seconds_of(leeway))


def check_claims(claims: dict[str, Any], options: dict[str, Any], arguments: ClaimArguments) -> None:
    """Raises an exception if a claim is not accepted."""
    seconds = arguments.leeway
    for name in options["require"]:
        if claims.get(name) is None:
            raise MissingRequiredClaimError(name)
    now = time.time()
    if "iat" in claims and options["verify_iat"]:
        issued_at = _whole(claims["iat"], InvalidIssuedAtError("Issued At claim (iat) must be an integer."))
        if issued_at > now + seconds:
            raise ImmatureSignatureError("The token is not yet valid (iat)")
    if "nbf" in claims and options["verify_nbf"]:
        not_before = _whole(claims["nbf"], DecodeError("Not Before claim (nbf) must be an integer."))
        if not_before > now + seconds:
            raise ImmatureSignatureError("The token is not yet valid (nbf)")
    if "exp" in claims and options["verify_exp"]:
        expiry = _whole(claims["exp"], DecodeError("Expiration Time claim (exp) must be an integer."))
        if expiry <= now - seconds:
            raise ExpiredSignatureError("Signature has expired")
    if options["verify_iss"]:
        check_issuer(claims, arguments.issuer)
    if options["verify_aud"]:
        _check_audience(claims, arguments.audience, options["strict_aud"])
    if options["verify_sub"] and "sub" in claims:
        _check_subject(claims["sub"], arguments.subject)
    if options["verify_jti"] and not isinstance(claims.get("jti", ""), str):
        raise InvalidJTIError("JWT ID must be a string")


def _whole(value: Any, error: PyJWTError) -> int:
    try:
        return int(value)
    except (ValueError, TypeError, OverflowError):
        raise error from None


def _check_subject(found: Any, subject: str | None) -> None:
    if not isinstance(found, str):
        raise InvalidSubjectError("Subject must be a string")
    if subject is not None and found != subject:
        raise InvalidSubjectError("Invalid subject")


def check_issuer(claims: dict[str, Any], issuer: str | Container[str] | None) -> None:
    """Raises an exception if `iss` is not an expected issuer."""
    if issuer is None:
        return
    if "iss" not in claims:
        raise MissingRequiredClaimError("iss")
    found = claims["iss"]
    if not isinstance(found, str):
        raise InvalidIssuerError("Payload Issuer (iss) must be a string")
    try:
        is_expected = found == issuer if isinstance(issuer, str) else found in issuer
    except TypeError:
        raise InvalidIssuerError('Issuer param must be "str" or "Container[str]"') from None
    if not is_expected:
        raise InvalidIssuerError("Invalid issuer")


def _check_audience(claims: dict[str, Any], audience: str | list[str] | None, is_strict: bool) -> None:
    found = claims.get("aud")
    if audience is None:
        if found:
            raise InvalidAudienceError("Invalid audience")
        return
    if not found:
        raise MissingRequiredClaimError("aud")
    if is_strict:
        if not isinstance(audience, str):
            raise InvalidAudienceError("Invalid audience (strict)")
        if not isinstance(found, str):
            raise InvalidAudienceError("Invalid claim format in token (strict)")
        if audience != found:
            raise InvalidAudienceError("Audience doesn't match (strict)")
        return
    found = [found] if isinstance(found, str) else found
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InvalidAudienceError("Invalid claim format in token")
    expected = [audience] if isinstance(audience, str) else audience
    if all(one not in found for one in expected):
        raise InvalidAudienceError("Audience doesn't match")
