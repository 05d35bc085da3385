"""Installs what the requirements.txt of the current folder names: `python3 ../harness/build.py VENV`.
A venv that has the same packages for the same Python is kept.
"""

import subprocess
import sys
from pathlib import Path


def build(venv, requirements):
    """Makes the venv, unless its record is of these requirements. Says whether it was made."""
    wanted = f"{venv} by {sys.executable} {sys.version}\n{requirements.read_text()}"
    record = venv / "made-from.txt"
    if record.is_file() and record.read_text() == wanted:
        return False
    command, python = [sys.executable, "-m", "venv", "--clear", venv], venv / "bin" / "python"
    if pip_installs_elsewhere():
        # To unpack pip takes longer than all the rest.
        subprocess.run([*command, "--without-pip"], check=True)
        pip = [sys.executable, "-m", "pip", "--python", python]
    else:
        subprocess.run(command, check=True)
        pip = [python, "-m", "pip"]
    options = ["--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "install", *options, "-r", requirements], check=True)
    record.write_text(wanted)
    return True


def pip_installs_elsewhere():
    """Whether this Python has a pip with the option `--python`, which came with version 22.3."""
    try:
        import pip
    except ImportError:
        return False
    return int(pip.__version__.split(".")[0]) > 22


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve(), Path("requirements.txt"))
