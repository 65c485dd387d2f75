"""`python -m algorithms.cli` is `semiring`."""

from . import main

main()
