"""A Flask service that accepts tokens from one issuer."""

from typing import Any

from flask import Flask, Response, g, jsonify, request

import jeton
from jeton.starlette import has_scopes


def make_app(verifier: jeton.Verifier) -> Flask:
    """Creates the service. In production, the verifier has a `RemoteKeySet` of the issuer."""
    app = Flask(__name__)

    def check() -> Response | None:
        """Verifies the token of a request. `None` lets the request pass."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return refused(401, "Bearer")
        try:
            g.claims = verifier.verify(token)
        except jeton.TokenRejected:
            return refused(401, 'Bearer error="invalid_token"')
        except jeton.KeySetError:
            return Response(status=503)
        if request.path == "/write" and not has_scopes(g.claims, ["write"]):
            return refused(403, 'Bearer error="insufficient_scope"')
        return None

    def me() -> Any:
        return jsonify(g.claims["sub"])

    app.before_request(check)
    app.add_url_rule("/me", view_func=me)
    app.add_url_rule("/write", "write", me)
    return app


def refused(status: int, challenge: str) -> Response:
    return Response(status=status, headers={"WWW-Authenticate": challenge})
