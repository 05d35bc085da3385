"""The build backend: maturin, with one line if Rust or a C compiler is missing.

Without `cargo`, maturin itself would download Rust.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

import maturin


def _checked(build: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*arguments: Any, **settings: Any) -> Any:
        if shutil.which("cargo") is None:
            sys.exit("pyjeton cannot be built: cargo not found: install Rust from https://rustup.rs")
        if not os.environ.get("CC") and shutil.which("cc") is None:
            sys.exit("pyjeton cannot be built: cc not found: install a C compiler, or set CC")
        return build(*arguments, **settings)

    return checked


get_requires_for_build_wheel = _checked(maturin.get_requires_for_build_wheel)
get_requires_for_build_editable = _checked(maturin.get_requires_for_build_editable)
prepare_metadata_for_build_wheel = _checked(maturin.prepare_metadata_for_build_wheel)
prepare_metadata_for_build_editable = _checked(maturin.prepare_metadata_for_build_editable)
build_wheel = _checked(maturin.build_wheel)
build_editable = _checked(maturin.build_editable)
get_requires_for_build_sdist = _checked(maturin.get_requires_for_build_sdist)
build_sdist = _checked(maturin.build_sdist)
