"""Gets a token with Authlib, and uses, introspects and revokes it."""

import os

from authlib.integrations.requests_client import OAuth2Session

session = OAuth2Session(
    os.environ["CLIENT_ID"],
    os.environ["CLIENT_SECRET"],
    token_endpoint_auth_method="client_secret_basic",
)
token = session.fetch_token(
    os.environ["TOKEN_URL"], grant_type="client_credentials", scope="read"
)
assert token["token_type"] == "Bearer", token["token_type"]
assert session.get(os.environ["API_URL"]).status_code == 200
print("used")


def is_active() -> bool:
    answer = session.introspect_token(
        os.environ["INTROSPECT_URL"], token=token["access_token"]
    )
    return answer.json()["active"]


assert is_active()
revoked = session.revoke_token(os.environ["REVOKE_URL"], token=token["access_token"])
assert revoked.status_code == 200
assert not is_active()
print("revoked")
