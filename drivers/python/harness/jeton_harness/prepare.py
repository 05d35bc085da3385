"""What a `prepare` request asks for, and the two ways to say no to it."""

from dataclasses import dataclass
from typing import Any


class DriverError(Exception):
    """An answer with `"ok": false` that is no failure of the driver."""

    kind = "failed"


class Unsupported(DriverError):
    """A fact about the library, which is no defect."""

    kind = "unsupported"


class Invalid(DriverError):
    """A request that makes no sense."""

    kind = "invalid"


@dataclass(frozen=True)
class Prepare:
    """A `prepare` request."""

    operation: str
    format: str
    alg: str | None
    enc: str | None
    key_handling: str
    keys: dict[str, Any]
    key_text: dict[str, str] | None
    claims: list[dict[str, Any]]
    issuer: str | None
    audience: str | None
    tokens: list[str]
    defaults: bool = False  # called as the documentation begins, for `lab attack` alone

    @classmethod
    def read(cls, request: dict[str, Any]) -> "Prepare":
        defaults = request.get("practice") == "defaults"
        policy = request.get("policy") or {}
        return cls(
            operation=request.get("contract", ""),
            format=request.get("format", ""),
            alg=request.get("alg"),
            enc=request.get("enc"),
            key_handling=request.get("key_handling", ""),
            keys=request.get("keys") or {},
            key_text=request.get("key_text"),
            claims=(request.get("claims") or {}).get("values") or [],
            # Whoever calls a library by its defaults has demanded nothing; but some must be told the
            # audience of tokens that have one.
            issuer=None if defaults else policy.get("issuer") or None,
            audience=policy.get("audience") or None,
            tokens=request.get("tokens") or [],
            defaults=defaults,
        )


def expiry_required(prepare: Prepare) -> bool:
    """Whether a token without `exp` must be refused.

    A careful user demands it, so it is false only when the user's own claims are known to go without.
    """
    return not prepare.defaults and all("exp" in value for value in prepare.claims)
