"""The session: one JSON line in, one JSON line out."""

import json
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, BinaryIO

from .operations import Driver, Operation, operation_of
from .measure import measure
from .prepare import DriverError, Invalid, Prepare, Unsupported

PROTOCOL = 1
LINE_BYTES_MAX = 8 * 1024 * 1024
REASON_LENGTH_MAX = 300
THREADS_MAX = 1024
CHECKSUM_MAX = 2**53 - 1


def serve(driver: Driver) -> None:
    """Speaks the protocol until `bye` or the end of the input."""
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # output of a library goes to the diagnostics
    session = Session(driver)
    for line in lines(sys.stdin.buffer):
        answers.write(json.dumps(session.answer(line)).encode() + b"\n")
        answers.flush()
        if session.ended:
            return


class Session:
    """The prepared operation, and the answers to requests about it."""

    def __init__(self, driver: Driver):
        self.ended = False
        self._driver = driver
        self._operation: Operation | None = None

    def answer(self, line: bytes | None) -> dict[str, Any]:
        """Returns the answer to a line; `None` is a line beyond the limit."""
        try:
            request = _parse(line)
            match request.get("op"):
                case "hello":
                    return self._hello(request)
                case "prepare":
                    return self._prepare(request)
                case "token":
                    return self._token(request)
                case "verify":
                    return self._verify(request)
                case "run":
                    return self._run(request)
                case "bye":
                    self.ended = True
                    return {"ok": True}
            raise Invalid("the op is unknown")
        except DriverError as error:
            return {"ok": False, "error": error.kind, "reason": _one_line(error)}
        except BaseException as error:  # a panic in a library's Rust code is no Exception
            return {"ok": False, "error": "failed", "reason": _one_line(error)}

    def _hello(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("protocol") != PROTOCOL:
            raise Unsupported(f"this driver speaks protocol {PROTOCOL} only")
        return {
            "ok": True,
            "protocol": PROTOCOL,
            "library": self._driver.library,
            "version": version(self._driver.distribution),
            "language": "python",
            "runtime": f"{platform.python_implementation()} {platform.python_version()}",
            "counts": [],
            "by_driver": self._driver.by_driver,
            "extras": self._driver.extras,
            "practices": ["defaults", "documented"] if self._driver.knows_defaults else [],
            # `key_text` and `key_texts` serve every operation.
            "takes_key_text": True,
            "offers": self._driver.offers,
        }

    def _prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        self._operation = None
        self._operation = operation_of(self._driver, Prepare.read(request))
        return {"ok": True}

    def _token(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._operation is None or self._operation.token is None:
            raise Invalid("token needs a prepared sign, encrypt or round-trip")
        return {"ok": True, "token": self._operation.token(request.get("index"))}

    def _verify(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._operation is None or not self._operation.verifiers:
            raise Invalid("verify needs a prepared verify, decrypt or verify-signature")
        token = request.get("token")
        if not isinstance(token, str):
            raise Invalid("verify needs a token")
        try:
            claims = self._operation.verifiers[request.get("verifier", 0)](token)
        except BaseException as error:  # also a panic, see above
            return {"ok": True, "accepted": False, "reason": _one_line(error)}
        return {"ok": True, "accepted": True, "claims": _written(claims)}

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._operation is None:
            raise Invalid("run needs a prepared operation")
        iterations, threads = request.get("iterations"), request.get("threads")
        if not _within(iterations, CHECKSUM_MAX) or not _within(threads, THREADS_MAX):
            raise Invalid(f"run needs 1 or more iterations on 1 to {THREADS_MAX} threads")
        elapsed, checksum = measure(self._operation, iterations, threads)
        if checksum > CHECKSUM_MAX:
            raise Invalid("the checksum does not fit a JSON number; ask for fewer iterations")
        return {
            "ok": True,
            "elapsed_ns": elapsed,
            "checksum": checksum,
            "bytes": None,
            "allocs": None,
        }


def lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yields each line, and `None` for a line beyond the limit, which is discarded."""
    while line := stream.readline(LINE_BYTES_MAX + 1):
        if line.endswith(b"\n") or len(line) <= LINE_BYTES_MAX:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LINE_BYTES_MAX)
        yield None


def _parse(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise Invalid(f"the line is longer than {LINE_BYTES_MAX} bytes")
    try:
        request = json.loads(line)
    except ValueError:
        request = None  # answered below, without quoting the line
    if not isinstance(request, dict):
        raise Invalid("the line is not a request")
    return request


def _written(claims: Any) -> Any:
    """Returns the claims, or `None` where JSON cannot express them: NaN, an unpaired surrogate, too
    deep.
    """
    try:
        json.dumps(claims, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        return None
    return claims


def _within(number: object, most: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= most


def _one_line(error: BaseException) -> str:
    reason = " ".join(str(error).split()) or type(error).__name__
    return reason if len(reason) <= REASON_LENGTH_MAX else reason[:REASON_LENGTH_MAX] + "…"
