"""A `prepare` request, and the two error answers that are not a failure of the driver."""

from dataclasses import dataclass, field, replace
from typing import Any


class DriverError(Exception):
    """An error answer."""

    kind = "failed"


class Unsupported(DriverError):
    """A fact about the library, not a defect."""

    kind = "unsupported"


class Invalid(DriverError):
    """An inconsistent request."""

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
    defaults: bool = False  # called as in the first example of the documentation, only for `lab attack`
    # Only for `lab attack`: several verifiers with a cache each, several issuers of one verifier, and options.
    cached: list["Prepare"] = field(default_factory=list)
    issuers: list["Prepare"] = field(default_factory=list)
    options: dict[str, Any] | None = None
    caches: bool = False  # this is one of the verifiers in `cached`

    @classmethod
    def read(cls, request: dict[str, Any]) -> "Prepare":
        defaults = request.get("practice") == "defaults"
        policy = request.get("policy") or {}
        prepare = cls(
            operation=request.get("contract", ""),
            format=request.get("format", ""),
            alg=request.get("alg"),
            enc=request.get("enc"),
            key_handling=request.get("key_handling", ""),
            keys=request.get("keys") or {},
            key_text=request.get("key_text"),
            claims=(request.get("claims") or {}).get("values") or [],
            # A caller that uses a library's defaults requires no issuer. Some libraries must be
            # given the audience of tokens that have one.
            issuer=None if defaults else policy.get("issuer") or None,
            audience=policy.get("audience") or None,
            tokens=request.get("tokens") or [],
            defaults=defaults,
            options=request.get("options"),
        )
        each = {name: [prepare._of(one) for one in request.get(name) or []] for name in ("cached", "issuers")}
        each["cached"] = [replace(one, caches=True) for one in each["cached"]]
        return replace(prepare, **each)

    def _of(self, trusted: dict[str, Any]) -> "Prepare":
        policy = trusted["policy"]
        return replace(
            self, keys=trusted["keys"], issuer=policy["issuer"] or None, audience=policy["audience"] or None
        )


def expiry_required(prepare: Prepare) -> bool:
    """Returns whether a token without `exp` must be rejected.

    A careful user requires it, so it is false only if the given claims are known to have none.
    """
    return not prepare.defaults and all("exp" in value for value in prepare.claims)
