"""Building the package with pip, and loading its native module."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import jeton

FOLDER = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("programs", "line"),
    [
        ([], "pyjeton cannot be built: cargo not found: install Rust from https://rustup.rs"),
        (["cargo"], "pyjeton cannot be built: cc not found: install a C compiler, or set CC"),
    ],
    ids=["no-rust", "no-compiler"],
)
def test_missing_program_is_named_in_one_line(programs: list[str], line: str, tmp_path: Path) -> None:
    for name in programs:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("CC", "PYTHONPATH")}
    # The packages that build are those of the tests, so pip downloads nothing.
    install = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--dry-run", str(FOLDER)]
    run = subprocess.run(install, env={**environment, "PATH": str(tmp_path)}, capture_output=True, text=True)
    assert run.returncode == 1
    output = run.stdout + run.stderr
    assert "[1 lines of output]" in output and line in output


def test_damaged_native_module_is_named_in_one_line(tmp_path: Path) -> None:
    shutil.copytree(Path(jeton.__file__).parent, tmp_path / "jeton")
    (module,) = (tmp_path / "jeton").glob("_jeton*.so")
    module.write_text("no library")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", "import jeton"], env=environment, capture_output=True, text=True)
    line = run.stderr.splitlines()[-1]
    assert line.startswith(f"ImportError: jeton cannot load its native module: {module}: "), run.stderr
    assert "Supported: Linux on x86-64 and arm64, with glibc 2.28 or musl 1.2" in line and line.endswith("noexec")
