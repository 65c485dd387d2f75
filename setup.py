"""What pyproject.toml cannot say: a description without links that an index lacks, and a new folder for each build.

A build in an old folder would take modules into the wheel that are no longer there.
"""

import atexit
import re
import shutil
import tempfile
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent


def unlinked(found: re.Match[str]) -> str:
    """Of a link to a file of the repository the text, of a picture nothing; other links as they are."""
    picture, text, target = found.groups()
    if not (HERE / target.partition("#")[0]).exists():
        return found[0]
    return "" if picture else text


description = re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", unlinked, (HERE / "README.md").read_text(encoding="utf-8"))
build = tempfile.mkdtemp(prefix="semiring-build-")
atexit.register(shutil.rmtree, build, ignore_errors=True)
setup(
    long_description=description,
    long_description_content_type="text/markdown",
    options={"build": {"build_base": build}},
)
