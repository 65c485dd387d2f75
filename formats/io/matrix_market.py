"""Matrix Market files, `.mtx`, or of any suffix with this banner: any shape, rows and columns counted from 1.

    %%MatrixMarket matrix coordinate real general
    % a comment
    3 4 2             rows, columns, entries
    1 2 0.5           row, column, value; no value where the field is `pattern`

The field is real (or double), integer, unsigned-integer or pattern; the symmetry general, symmetric (or hermitian, the
same where nothing is complex) or skew-symmetric, all but the first with one triangle in the file. Exponents may be
Fortran's, as in 1.5D+01, and the banner may begin with one %. Repeated entries keep the least value, as everywhere in
this package; the definition leaves them open and other readers add them up.

A dense file, `array` instead of `coordinate`, has "rows columns", and then the values column by column, one a line. It
cannot say which entries are absent. Its zeros are taken for such, as SciPy and NetworkX take those of dense arrays.

Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial Design, NISTIR 5935,
1996, https://math.nist.gov/MatrixMarket/formats.html
"""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO

import numpy as np

from ..arrays import Array
from ..matrix.base import Matrix
from .edges import Edges, check_found, check_header
from .kind import FileKind
from .lines import FORTRAN_REAL, INTEGER, LOWEST, EdgeLine
from .reading import read_columns, read_edge_lines
from .source import Source
from .writing import write_lines

COMMENT = b"%"
ENTRY = {  # by field
    "real": EdgeLine("row column value", COMMENT, weight=FORTRAN_REAL, always_real=True),
    "integer": EdgeLine("row column integer", COMMENT, weight=INTEGER),
    "pattern": EdgeLine("row column", COMMENT, weight=None),
}
ENTRY["double"] = ENTRY["real"]
ENTRY["unsigned-integer"] = replace(ENTRY["integer"], lowest=0, below="is negative, where the banner says unsigned")
SYMMETRIES = ("general", "symmetric", "hermitian", "skew-symmetric")
SIZE = rb"(\d{1,18})\s+(\d{1,18})"


def read(source: Source) -> Edges:
    layout, field, symmetry = _read_banner(source)
    if layout == "array":
        (nrows, ncols), promised = source.header(SIZE, "rows columns", COMMENT), None
    else:
        nrows, ncols, promised = source.header(SIZE + rb"\s+(\d{1,18})", "rows columns entries", COMMENT)
    size_line = source.line_number
    if symmetry != "general" and nrows != ncols:
        raise source.error(f"a {symmetry} matrix must be square, this one is {nrows} x {ncols}", size_line)
    entry = ENTRY[field]
    if symmetry == "skew-symmetric":  # -2**63 cannot be negated
        entry = replace(entry, lowest=LOWEST + 1, below="has no counterpart of the other sign in 64 bits")
    values: Array | None
    if promised is None:
        rows, cols, values = _read_dense(source, entry, (nrows, ncols), symmetry)
    else:
        check_header(source, size_line, max(nrows, ncols), promised)
        rows, cols, values = read_edge_lines(source, entry, first=1, shape=(nrows, ncols))
        check_found(source, size_line, promised, found=len(rows))
    labels, both_ways = range(1, max(nrows, ncols) + 1), symmetry in ("symmetric", "hermitian")
    entries = Edges(rows, cols, values, (nrows, ncols), labels, both_ways)
    return entries.mirrored(negated=True) if symmetry == "skew-symmetric" else entries


def _read_banner(source: Source) -> tuple[str, str, str]:
    """Returns (layout, field, symmetry) from the first line that is not blank."""
    source.skip(b"")
    line = source.line() or b""
    match line.decode("ascii", "replace").lower().split():
        case "%%matrixmarket" | "%matrixmarket", "matrix", "coordinate" | "array" as layout, field, symmetry:
            if field == "complex":
                raise source.error("complex numbers are no weights: write their real parts", source.line_number)
            if field not in ENTRY:
                raise source.error(f"values must be {', '.join(ENTRY)}, got {field[:60]!r}", source.line_number)
            no_values = field == "pattern" and (layout == "array" or symmetry == "skew-symmetric")
            if symmetry not in SYMMETRIES or no_values:
                raise source.error(f"a {field} {layout} cannot be read as {symmetry[:60]!r}", source.line_number)
            return layout, field, symmetry
    raise source.mismatch("%%MatrixMarket matrix coordinate FIELD SYMMETRY", line, source.line_number)


def _read_dense(source: Source, entry: EdgeLine, shape: tuple[int, int], symmetry: str) -> tuple[Array, Array, Array]:
    """Reads (rows, columns, values) of a dense file, without its zeros."""
    (nrows, ncols), size_line = shape, source.line_number
    below = int(symmetry == "skew-symmetric")  # whose diagonal is left out
    promised = nrows * ncols if symmetry == "general" else nrows * (nrows + 1 - 2 * below) // 2
    check_header(source, size_line, max(shape), promised)
    (values,) = read_columns(source, replace(entry, expected=entry.expected.split()[-1], ids=0))
    check_found(source, size_line, promised, values.size, "values")
    at = np.flatnonzero(values)
    if symmetry == "general":
        cols, rows = np.divmod(at, max(nrows, 1))
    else:
        lengths = np.arange(nrows - below, -below, -1)
        starts = np.cumsum(lengths) - lengths
        cols = np.searchsorted(starts, at, side="right") - 1
        rows = at - starts[cols] + cols + below
    return rows, cols, values[at]


def write(stream: BinaryIO, A: Matrix, labels: Array | None) -> None:
    rows, cols, values = A.to_edges()
    field = "real" if A.dtype.kind == "f" else "integer"
    stream.write(f"%%MatrixMarket matrix coordinate {field} general\n{A.nrows} {A.ncols} {len(values)}\n".encode())
    write_lines(stream, "{} {} {}\n", rows + 1, cols + 1, values)


KIND = FileKind(
    name="mtx",
    description="Matrix Market: 'i j value', from 1, or a dense array",
    suffixes=(".mtx",),
    read=read,
    write=write,
    by_lines=True,
    banner=rb"(?i)[ \t]*%%?MatrixMarket\b",
    whole=rb"\S+\s+\S+\s+(?i:array)\s",
)
