"""The operations of the driver protocol: from a driver's function for one token or key to the timed
loop with its checksum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .prepare import Invalid, Prepare, Unsupported

Claims = dict[str, Any]
Make = Callable[[int], str | bytes]  # signs or encrypts the claims value of an index
Open = Callable[[str], Claims]  # verifies or decrypts a token, or raises


@dataclass(frozen=True)
class Driver:
    """One library and how it does each operation. Operations that it does not offer stay `None`.

    A function may raise `Unsupported` or `Invalid`; any other exception is `failed`. `round-trip`
    combines two of the functions.
    """

    library: str  # the name in every table
    distribution: str  # the installed package whose version `hello` reports
    offers: list[dict[str, Any]]  # see `offer`
    by_driver: tuple[str, ...] = ()  # what it checks by hand, such as `jwt:exp`
    extras: tuple[str, ...] = ()  # what `verify` supports: `cached`, `issuers`, `options`
    knows_defaults: bool = False  # whether `prepare.defaults` makes a difference
    sign: Callable[[Prepare], Make] | None = None
    verify: Callable[[Prepare], Open] | None = None
    verify_signature: Callable[[Prepare], Callable[[str], object]] | None = None
    encrypt: Callable[[Prepare], Make] | None = None
    decrypt: Callable[[Prepare], Open] | None = None
    generate_key: Callable[[Prepare], Callable[[], object]] | None = None
    load_key: Callable[[Prepare], Callable[[], object]] | None = None


@dataclass(frozen=True)
class Operation:
    """A prepared operation."""

    run: Callable[[int], int]  # iterations -> checksum
    token: Callable[[int], str] | None = None
    verifiers: Sequence[Callable[[str], Claims | None]] = ()


def offer(
    format: str,
    operations: list[str],
    algs: list[str] | None = None,
    encs: list[str] | None = None,
    key_text: list[str] | None = None,
) -> list[dict[str, Any]]:
    """Expands one line of the manifest to lines of `hello`: each algorithm with each content
    encryption, with both ways of key handling.
    """
    return [
        {
            "format": format,
            "alg": alg,
            "enc": enc,
            "contracts": operations,
            "key_handling": ["prepared", "parsed-per-call"],
            "key_text": key_text or [],
        }
        for alg in algs or [None]
        for enc in encs or [None]
    ]


def operation_of(driver: Driver, prepare: Prepare) -> Operation:
    """Creates the operation of a `prepare` request."""
    if not _offers(driver, prepare):
        words = (prepare.format, prepare.alg, prepare.enc)
        what = " ".join(str(word) for word in words if word)
        raise Unsupported(
            f"{driver.library} does not offer {what} with {prepare.key_handling} keys"
            f" for {prepare.operation}"
        )
    make, open_ = driver.sign, driver.verify
    if prepare.format == "jwe":
        make, open_ = driver.encrypt, driver.decrypt
    match prepare.operation:
        case "sign":
            return _making(driver.sign(prepare), prepare)
        case "encrypt":
            return _making(driver.encrypt(prepare), prepare)
        case "verify" if prepare.cached:
            return replace(
                _opening(driver.verify(prepare), prepare), verifiers=[driver.verify(one) for one in prepare.cached]
            )
        case "verify":
            return _opening(driver.verify(prepare), prepare)
        case "decrypt":
            return _opening(driver.decrypt(prepare), prepare)
        case "verify-signature":
            return _checking(driver.verify_signature(prepare), prepare)
        case "round-trip":
            return _going_round(make(prepare), open_(prepare), prepare)
        case "generate-key":
            return _getting_keys(driver.generate_key(prepare))
        case _:
            if prepare.key_text is None:
                raise Invalid("load-key needs key_text")
            return _getting_keys(driver.load_key(prepare))


def _offers(driver: Driver, prepare: Prepare) -> bool:
    handlings = "key_text" if prepare.operation == "load-key" else "key_handling"
    return any(
        (offer["format"], offer["alg"], offer["enc"]) == (prepare.format, prepare.alg, prepare.enc)
        and prepare.operation in offer["contracts"]
        and prepare.key_handling in offer[handlings]
        for offer in driver.offers
    )


# One loop for each operation: another call inside the loop would be a noticeable cost in Python.


def _making(make: Make, prepare: Prepare) -> Operation:
    count = _claims_count(prepare)

    def run(iterations: int) -> int:
        checksum = index = 0
        for _ in range(iterations):
            token = make(index)
            checksum += len(token) + ord(token[-1:])
            index += 1
            if index == count:
                index = 0
        return checksum

    return Operation(run, token=_one_of(make, count))


def _opening(open_: Open, prepare: Prepare) -> Operation:
    tokens = prepare.tokens

    def run(iterations: int) -> int:
        count = _tokens_count(tokens)
        checksum = index = 0
        for _ in range(iterations):
            checksum += _of_claims(open_(tokens[index]))
            index += 1
            if index == count:
                index = 0
        return checksum

    return Operation(run, verifiers=[open_])


def _checking(check: Callable[[str], object], prepare: Prepare) -> Operation:
    tokens = prepare.tokens

    def run(iterations: int) -> int:
        count = _tokens_count(tokens)
        checksum = index = 0
        for _ in range(iterations):
            check(tokens[index])
            checksum += 1
            index += 1
            if index == count:
                index = 0
        return checksum

    def verify(token: str) -> None:
        check(token)

    return Operation(run, verifiers=[verify])


def _going_round(make: Make, open_: Open, prepare: Prepare) -> Operation:
    count = _claims_count(prepare)

    def run(iterations: int) -> int:
        checksum = index = 0
        for _ in range(iterations):
            token = make(index)
            checksum += len(token) + ord(token[-1:]) + _of_claims(open_(token))
            index += 1
            if index == count:
                index = 0
        return checksum

    return Operation(run, token=_one_of(make, count))


def _getting_keys(get: Callable[[], object]) -> Operation:
    def run(iterations: int) -> int:
        checksum = 0
        for _ in range(iterations):
            if get() is None:
                raise RuntimeError("the library returned no key")
            checksum += 1
        return checksum

    return Operation(run)


def _of_claims(claims: Claims) -> int:
    """Returns the last byte of `jti`, or 1 if there is none."""
    jti = claims.get("jti")
    return jti.encode()[-1] if isinstance(jti, str) and jti else 1


def _one_of(make: Make, count: int) -> Callable[[int], str]:
    def token(index: int) -> str:
        if not isinstance(index, int) or not 0 <= index < count:
            raise Invalid(f"the index is outside the pool of {count} claims values")
        made = make(index)
        return made.decode() if isinstance(made, bytes) else made

    return token


def _claims_count(prepare: Prepare) -> int:
    if not prepare.claims:
        raise Invalid("this operation needs at least one claims value")
    return len(prepare.claims)


def _tokens_count(tokens: list[str]) -> int:
    if not tokens:
        raise Invalid("prepare has no tokens")
    return len(tokens)
