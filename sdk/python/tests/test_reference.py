"""The reference page."""

import importlib
import os
from pathlib import Path

import pytest
import reference

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"


def test_page_is_what_the_docstrings_say() -> None:
    if os.environ.get("JETON_WRITE"):
        PAGE.write_text(reference.page())
    assert PAGE.read_text() == reference.page(), "run `JETON_WRITE=1 cargo xtask sdk python`"


@pytest.mark.parametrize("module", ["jeton", "jeton.fastapi", "jeton.starlette", "jeton.testing"])
def test_page_has_every_public_name(module: str) -> None:
    text = PAGE.read_text()
    for name in importlib.import_module(module).__all__:
        if not name.startswith("__"):
            assert f"### `{name}`\n" in text or f"| `{name}` |" in text or f"`jeton.{name}`" in text, name
