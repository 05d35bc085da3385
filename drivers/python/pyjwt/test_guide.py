"""Runs docs/guide/add-a-library.md. Its code blocks become a driver in a separate drivers folder, and
the tests of that driver run. The guide's library is PyJWT, so this test runs where PyJWT is
installed.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVERS = HERE.parents[1]
GUIDE = (DRIVERS.parent / "docs" / "guide" / "add-a-library.md").read_text()
# A heading that ends with a file name, and the first block after it.
FILES = re.findall(r"^## [^\n]*`([\w.]+)`\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


class GuideTest(unittest.TestCase):
    def test_guide_names_all_four_files(self):
        names = [name for name, _ in FILES]
        self.assertEqual(names, ["driver.toml", "requirements.txt", "driver.py", "test_driver.py"])

    def test_guide_manifest_matches_the_driver(self):
        guide = tomllib.loads(dict(FILES)["driver.toml"])
        real = tomllib.loads((HERE / "driver.toml").read_text())
        for member in ("protocol", "version", "needs", "inputs", "build", "run"):
            self.assertEqual(guide[member], real[member])

    def test_guide_packages_are_installed(self):
        installed = (HERE / "requirements.txt").read_text().splitlines()
        for line in dict(FILES)["requirements.txt"].splitlines():
            self.assertIn(line, installed)

    def test_guide_test_file_matches_the_driver(self):
        self.assertEqual(dict(FILES)["test_driver.py"], (HERE / "test_driver.py").read_text())

    def test_guide_driver_passes_its_tests(self):
        with tempfile.TemporaryDirectory() as temporary:
            drivers = Path(temporary)
            shutil.copytree(DRIVERS / "testdata", drivers / "testdata")
            shutil.copytree(HERE.parent / "harness", drivers / "python" / "harness")
            folder = drivers / "python" / "example"
            folder.mkdir()
            for name, text in FILES:
                (folder / name).write_text(text)
            command = [sys.executable, "-W", "ignore", "-m", "unittest", "discover"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Ran 6 tests", done.stderr)
