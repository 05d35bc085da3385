"""The part of a Python driver that all libraries share. It speaks the driver protocol
(drivers/PROTOCOL.md) and times the operation that a driver prepared.

A driver is one file that fills in a `Driver` and calls `serve`.
"""

from .operations import Driver, offer
from .keys import KeyText, key_text, key_texts, keyed
from .options import options_of
from .pem import key_pem, secret_bytes
from .prepare import Invalid, Prepare, Unsupported, expiry_required
from .session import serve

__all__ = [
    "Driver",
    "Invalid",
    "KeyText",
    "Prepare",
    "Unsupported",
    "expiry_required",
    "key_pem",
    "key_text",
    "key_texts",
    "keyed",
    "offer",
    "options_of",
    "secret_bytes",
    "serve",
]
