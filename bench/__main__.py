"""`python -m bench NAME`, and `semiring bench NAME`."""

from __future__ import annotations

from .commands import app

if __name__ == "__main__":
    app()
