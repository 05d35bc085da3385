"""The example of the README."""

from dataclasses import dataclass
from datetime import timedelta

import jeton


@dataclass
class Visit:
    page: str


key = jeton.Key.generate("ES256")
issuer = jeton.Issuer(key, issuer="https://id.example", audience="api", lifetime=timedelta(minutes=15))
token = issuer.issue({"page": "/"})

verifier = jeton.Verifier(key.public_key(), issuer="https://id.example", audience="api")
visit = verifier.verify(token, type=Visit)
print(visit.page)
