import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))

from subject import tests_of

SubjectTest = tests_of(__file__, takes_empty_keys=("HS",))
