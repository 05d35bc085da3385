"""Times with parts of a second, and `iat` ahead of the clock."""

import time
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import jeton

NAMES: dict[str, Any] = {"issuer": "i", "audience": "a"}
NOW = 1_800_000_000


def test_fractional_iat_and_nbf_verify_at_once() -> None:
    """Other libraries write the time with a fraction: the system clock has reached it."""
    key = jeton.Key.generate("HS256")
    issuer, verifier = jeton.Issuer(key, lifetime=60, **NAMES), jeton.Verifier(key, **NAMES)
    accepted = 0
    for _ in range(300):
        now = time.time()
        assert verifier.verify(issuer.issue({"iat": now, "nbf": now}))["iat"] == now
        accepted += 1
    assert accepted == 300


def test_clock_of_a_test_has_microseconds() -> None:
    key = jeton.Key.generate("HS256")
    half = datetime.fromtimestamp(NOW, timezone.utc) + timedelta(milliseconds=500)
    clock = jeton.FixedClock(half)
    assert clock.now() == half
    issuer, verifier = jeton.Issuer(key, lifetime=60, **NAMES), jeton.Verifier(key, clock=clock, **NAMES)
    assert verifier.verify(issuer.issue({"nbf": NOW + 0.5, "iat": NOW}))
    early = issuer.issue({"nbf": NOW + 0.75, "iat": NOW})
    with pytest.raises(jeton.TokenNotYetValid):
        verifier.verify(early)
    clock.set(half + timedelta(milliseconds=250))
    assert verifier.verify(early)
    for outside in (-1, 253_402_300_800, NOW * 1000):
        with pytest.raises(jeton.JetonError) as raised:
            jeton.FixedClock(outside)
        assert raised.value.code == "CLAIM_RANGE"


def test_iat_is_ahead_of_the_clock_by_a_minute() -> None:
    key, clock = jeton.Key.generate("HS256"), jeton.FixedClock(NOW)
    issuer = jeton.Issuer(key, lifetime=60, **NAMES)
    verifier = jeton.Verifier(key, clock=clock, **NAMES)
    with_max_age = jeton.Verifier(key, clock=clock, max_age=3600, **NAMES)
    assert verifier.verify(issuer.issue({"iat": NOW + 60}))
    for ahead, refusing in ((60, [with_max_age]), (61, [verifier, with_max_age]), (3600, [verifier, with_max_age])):
        for one in refusing:
            with pytest.raises(jeton.TokenNotYetValid):
                one.verify(issuer.issue({"iat": NOW + ahead}))


def test_lifetime_of_zero_is_an_error() -> None:
    key = jeton.Key.generate("HS256")
    for lifetime in (0, timedelta(0), -1):
        with pytest.raises(jeton.InvalidUse, match="`lifetime`"):
            jeton.Issuer(key, lifetime=lifetime, **NAMES)
