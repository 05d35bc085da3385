"""A service that accepts tokens from one issuer, and its test without a network."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient

import jeton
from jeton.fastapi import Bearer
from jeton.testing import TestIssuer


@dataclass
class User:
    sub: str
    roles: list[str] = field(default_factory=list[str])


def make_app(verifier: jeton.Verifier) -> FastAPI:
    """Creates the service. In production, the verifier has a `RemoteKeySet` of the issuer."""
    app = FastAPI()
    bearer = Bearer(verifier, type=User)

    def me(user: Annotated[User, Depends(bearer)]) -> list[str]:
        return [user.sub, *user.roles]

    app.add_api_route("/me", me)
    return app


def main() -> None:
    test = TestIssuer("https://id.example", audience="api")
    client = TestClient(make_app(test.verifier(test.remote_key_set())))
    token = test.issue({"sub": "user-7", "roles": ["admin"]})
    answer = client.get("/me", headers={"Authorization": f"Bearer {token}"})
    assert answer.json() == ["user-7", "admin"]
    assert client.get("/me").status_code == 401


if __name__ == "__main__":
    main()
