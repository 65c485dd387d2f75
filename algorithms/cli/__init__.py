"""The command line: `semiring` and its commands, a module for each algorithm.

Vertex ids are the file's own. Results go to stdout, errors to stderr in one sentence with exit code 2.
"""

import sys
from importlib.metadata import version

__all__ = ["main"]


def main() -> None:
    """Run the command line, of which the version alone needs nothing."""
    if sys.argv[1:] == ["--version"]:
        print(version("semiring"))
        sys.exit()
    from .commands import run

    run()
