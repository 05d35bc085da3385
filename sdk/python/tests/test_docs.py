"""Runs the Python blocks of the README and the documentation, and the examples."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1]
PAGES = [FOLDER / "README.md", *sorted((FOLDER / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_of_a_page_run(page: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("example", sorted((FOLDER / "examples").glob("*.py")), ids=lambda path: path.name)
def test_example_runs(example: Path) -> None:
    runpy.run_path(str(example), run_name="__main__")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_to_a_file(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_quick_start_has_ten_lines() -> None:
    block = re.findall(r"^```python\n(.*?)^```$", (FOLDER / "README.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    lines = [line for line in block.splitlines() if line.strip()]
    first = next(number for number, line in enumerate(lines) if line.startswith("key ="))
    assert len(lines[first:]) <= 10
