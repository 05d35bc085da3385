"""Remote keys of an issuer, sync and async, with a custom client."""

import asyncio
from datetime import timedelta
from typing import Any, TypedDict

import jeton
from jeton.testing import TestIssuer


class Visit(TypedDict):
    page: str


def main() -> None:
    test = TestIssuer("https://id.example", audience="api")
    # A service omits `fetch`, or passes a function that wraps httpx or aiohttp.
    keys = jeton.RemoteKeySet(issuer="https://id.example", cooldown=timedelta(seconds=30), fetch=test.fetch)
    verifier = jeton.Verifier(keys, issuer="https://id.example", audience="api", clock=test.clock)
    token = test.issue({"page": "/"})
    claims: dict[str, Any] = verifier.verify(token)
    visit: Visit = verifier.verify(token, type=Visit)
    again: Visit = asyncio.run(verifier.verify_async(token, type=Visit))
    assert claims["page"] == visit["page"] == again["page"]
    try:
        verifier.verify(test.issue(aud="other"))
    except jeton.TokenAudienceMismatch as error:
        assert error.code == "TOKEN_AUDIENCE_MISMATCH"


if __name__ == "__main__":
    main()
