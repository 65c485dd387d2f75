"""`python -m bench spmv`: run a benchmark by name."""

from __future__ import annotations

from typing import Annotated

import typer

from . import spmv

app = typer.Typer(add_completion=False, help="Benchmarks; each verifies what it times.")


@app.callback()
def benchmarks() -> None:
    """Choose a benchmark."""


@app.command("spmv")
def spmv_command(
    scale: Annotated[int, typer.Option(help="log2 of the number of rows.", min=4)] = 20,
    repeats: Annotated[int, typer.Option(help="Timed runs of each contender.", min=1)] = 15,
) -> None:
    """SpMV over min-plus: CSR, COO and ELL beside bare python-graphblas."""
    spmv.run(scale, repeats)


if __name__ == "__main__":
    app()
