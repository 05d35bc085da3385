"""docs/guide/add-a-library.md, followed to the letter: its blocks become a driver in a drivers folder of
its own, whose tests are then run. The library of the guide is PyJWT, so this runs where PyJWT is
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
# A heading that ends with a file's name, and the first block behind it.
FILES = re.findall(r"^## [^\n]*`([\w.]+)`\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


class GuideTest(unittest.TestCase):
    def test_it_names_all_four_files(self):
        names = [name for name, _ in FILES]
        self.assertEqual(names, ["driver.toml", "requirements.txt", "driver.py", "test_driver.py"])

    def test_it_is_built_and_run_as_the_drivers_are(self):
        guide = tomllib.loads(dict(FILES)["driver.toml"])
        real = tomllib.loads((HERE / "driver.toml").read_text())
        for member in ("protocol", "version", "needs", "inputs", "build", "run"):
            self.assertEqual(guide[member], real[member])

    def test_its_packages_are_those_that_are_installed_here(self):
        installed = (HERE / "requirements.txt").read_text().splitlines()
        for line in dict(FILES)["requirements.txt"].splitlines():
            self.assertIn(line, installed)

    def test_its_test_file_is_that_of_the_drivers(self):
        self.assertEqual(dict(FILES)["test_driver.py"], (HERE / "test_driver.py").read_text())

    def test_the_driver_it_makes_passes_its_tests(self):
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
        self.assertIn("Ran 5 tests", done.stderr)
