"""Print, as constraints for pip, the lowest version of each dependency that pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
for dependencies in (project["dependencies"], *project["optional-dependencies"].values()):
    for dependency in dependencies:
        if found := re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", dependency):
            print("{}=={}".format(*found.groups()))
