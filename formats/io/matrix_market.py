"""Matrix Market coordinate files, `.mtx`: any shape, rows and columns counted from 1.

    %%MatrixMarket matrix coordinate real general
    % a comment
    3 4 2             rows, columns, entries
    1 2 0.5           row, column, value; no value where the field is `pattern`

The field is real, integer or pattern; the symmetry general, symmetric or skew-symmetric, the last two with one
triangle in the file. Repeated entries keep the least value, as everywhere in this package; the definition leaves them
open and other readers add them up. A dense file (`array`) cannot say which entries are absent, so it is refused.

Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial Design, NISTIR 5935,
1996, https://math.nist.gov/MatrixMarket/formats.html
"""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO

from ..arrays import Array
from ..matrix.base import Matrix
from .edges import Edges, check_found, check_header
from .kind import FileKind
from .lines import INTEGER, LOWEST, REAL, EdgeLine
from .reading import read_edge_lines
from .source import Source
from .writing import write_lines

COMMENT = b"%"
ENTRY = {  # by field
    "real": EdgeLine("row column value", COMMENT, weight=REAL, always_real=True),
    "integer": EdgeLine("row column integer", COMMENT, weight=INTEGER),
    "pattern": EdgeLine("row column", COMMENT, weight=None),
}
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


def read(source: Source) -> Edges:
    field, symmetry = _read_banner(source)
    nrows, ncols, nnz = source.header(rb"(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})", "rows columns entries", COMMENT)
    size_line = source.line_number
    if symmetry != "general" and nrows != ncols:
        raise source.error(f"a {symmetry} matrix must be square, this one is {nrows} x {ncols}", size_line)
    check_header(source, size_line, max(nrows, ncols), nnz)
    entry = ENTRY[field]
    if symmetry == "skew-symmetric":
        entry = replace(entry, lowest=LOWEST + 1)  # -2**63 cannot be negated
    rows, cols, values = read_edge_lines(source, entry, first=1, shape=(nrows, ncols))
    check_found(source, size_line, promised=nnz, found=len(rows))
    labels, symmetric = range(1, max(nrows, ncols) + 1), symmetry == "symmetric"
    entries = Edges(rows, cols, values, (nrows, ncols), labels, both_ways=symmetric)
    return entries.mirrored(negated=True) if symmetry == "skew-symmetric" else entries


def _read_banner(source: Source) -> tuple[str, str]:
    """(field, symmetry) from the first line."""
    line = source.line() or b""
    match line.decode("ascii", "replace").lower().split():
        case "%%matrixmarket", "matrix", "coordinate", field, symmetry:
            if field not in ENTRY:
                raise source.error(f"values must be {', '.join(ENTRY)}, got {field!r}", 1)
            if symmetry not in SYMMETRIES or (field == "pattern" and symmetry == "skew-symmetric"):
                raise source.error(f"a {field} matrix cannot be read as {symmetry!r}", 1)
            return field, symmetry
        case "%%matrixmarket", "matrix", "array", *_:
            raise source.error("a dense 'array' file does not say which entries are absent: use 'coordinate'", 1)
    raise source.mismatch("%%MatrixMarket matrix coordinate FIELD SYMMETRY", line, 1)


def write(stream: BinaryIO, A: Matrix, labels: Array | None) -> None:
    rows, cols, values = A.to_edges()
    field = "real" if A.dtype.kind == "f" else "integer"
    stream.write(f"%%MatrixMarket matrix coordinate {field} general\n{A.nrows} {A.ncols} {len(values)}\n".encode())
    write_lines(stream, "{} {} {}\n", rows + 1, cols + 1, values)


KIND = FileKind(
    name="mtx",
    description="Matrix Market coordinate matrix: 'i j value', from 1",
    suffixes=(".mtx",),
    read=read,
    write=write,
    by_lines=True,
)
