"""The native module. Its classes are the base classes of the package's classes."""

from typing import Any, TypeVar, overload

from ._keys import Key as PublicKey
from ._remote import RemoteKeySet
from ._verifier import Token

T = TypeVar("T")
_Self = TypeVar("_Self")

VERSION: str

def _unverified(token: Token, /) -> str:
    """Returns JSON text: what a token says, which is not verified."""

class _Handle:
    def close(self) -> None:
        """Closes the object. Calls that are running finish. Later calls raise `InvalidUse`."""
    @property
    def closed(self) -> bool:
        """Whether `close` was called."""

class FixedClock:
    def __new__(cls: type[_Self], microseconds: int) -> _Self: ...
    def set_microseconds(self, microseconds: int) -> None: ...

class Key(_Handle):
    def __new__(
        cls: type[_Self],
        source: Key | str | bytes | bytearray | memoryview,
        format: str | None = None,
        alg: str | None = None,
        kid: str | None = None,
        enc: str | None = None,
        password: str | None = None,
        rounds: int | None = None,
    ) -> _Self: ...
    @staticmethod
    def _generate(alg: str, settings: str) -> Key: ...
    def _public(self) -> Key: ...
    def _export(self, what: str) -> bytes: ...
    def _sign_with_header(self, header: str, payload: bytes) -> str: ...
    @property
    def alg(self) -> str:
        """The algorithm: a JWA name, or a PASETO version and purpose."""
    @property
    def kid(self) -> str | None:
        """The key id. The id of a PASETO key is derived from the key."""
    @property
    def kind(self) -> str:
        """`symmetric`, `private` or `public`."""
    @property
    def is_paseto(self) -> bool:
        """Whether it is a PASETO key."""
    def warm_up(self) -> None:
        """Signs once and discards the signature, because the first signature of a process takes tens of milliseconds.

        A thread does this when it generates or imports its first private key. After `os.fork`, call it in the child.
        """

class KeySet(_Handle):
    def __new__(cls: type[_Self], source: list[Key] | list[PublicKey] | KeySet) -> _Self: ...
    @staticmethod
    def _import(data: str | bytes | bytearray | memoryview, settings: str) -> KeySet: ...
    def _export(self, what: str) -> str: ...
    @property
    def is_paseto(self) -> bool:
        """Whether the keys are PASETO keys."""

class RemoteKeys(_Handle):
    def __new__(cls: type[_Self], settings: str) -> _Self: ...
    def _next(self) -> str | None: ...
    def _respond(self, id: int, status: int, headers: str, body: bytes) -> None: ...
    def _ready(self) -> None: ...

class Prepared(_Handle):
    """A token without its signature, for an external signer such as a KMS. `Issuer.prepare` creates it."""

    @property
    def message(self) -> bytes:
        """The bytes to sign."""
    @property
    def digest(self) -> bytes:
        """The hash of `message`, for signers that expect a digest. With EdDSA, sign `message`."""
    @property
    def alg(self) -> str:
        """The algorithm."""
    def attach(self, signature: bytes | bytearray | memoryview, /, *, der: bool = False) -> str:
        """Adds the signature, verifies it with the public key, and returns the token. Call it once.

        Set `der` if the signer returns ECDSA signatures in DER. Most key management services do.
        """

class Issuer(_Handle):
    def __new__(
        cls: type[_Self], key: Key | None, encryption: Key | None, clock: FixedClock | None, settings: str
    ) -> _Self: ...
    def issue(self, claims: Any, /) -> str:
        """Issues a token with these claims: a dict, a dataclass or a pydantic model.

        The members of the header are those of the issuer: pass `headers` when you create it.
        """
    def issue_json(self, claims: str | bytes | bytearray | memoryview, /) -> str:
        """Issues a token with claims in JSON text, which must be one object."""
    def issue_bytes(self, data: bytes | bytearray | memoryview, /) -> str:
        """Signs or encrypts bytes, with an issuer of the format `jws`, `jwe` or `paseto-bytes`."""
    def prepare(self, claims: Any, /) -> Prepared:
        """Prepares a token for an external signer. The issuer must have the public key.

        Sign `message` or `digest` of the result, and pass the signature to `attach`.
        """
    def prepare_bytes(self, data: bytes | bytearray | memoryview, /) -> Prepared:
        """Prepares a JWS over bytes for an external signer."""

class Verifier(_Handle):
    @property
    def _remote(self) -> RemoteKeySet | None: ...
    @property
    def _is_slow(self) -> bool: ...
    def __new__(
        cls: type[_Self],
        key: Key | None,
        set: KeySet | None,
        decryption: KeySet | None,
        remote: RemoteKeys | None,
        clock: FixedClock | None,
        settings: str,
    ) -> _Self: ...
    @overload
    def verify(self, token: Token, /) -> dict[str, Any]: ...
    @overload
    def verify(self, token: Token, /, type: None) -> dict[str, Any]: ...
    @overload
    def verify(self, token: Token, /, type: type[T]) -> T:
        """Verifies a token and returns its claims, as a dict or as `type`."""
    def verify_json(self, token: Token, /) -> str:
        """Verifies a token and returns its claims as JSON text."""
    def _header(self, token: Token, /) -> str | None:
        """Returns the header of a token that this verifier has verified, as JSON text, or None for a PASETO."""
    def _verify_complete(self, token: Token, /) -> tuple[dict[str, Any], dict[str, Any]]: ...
    def verify_bytes(self, token: Token, /, *, content: bytes | bytearray | memoryview | None = None) -> bytes:
        """Verifies or decrypts a token and returns its payload. `content` is the content of a detached JWS."""
