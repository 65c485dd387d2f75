"""Layout: what the plan of a product asks of a format, on every backend."""

from __future__ import annotations

from typing import ClassVar

from formats import Matrix
from formats.storage.orientation import compressed

GATHER_FROM = 1 / 8
"""Share of present elements from which a sparse operand is gathered as a dense one, where the matrix must be turned."""


class Layout:
    """The facts that the plan needs of a format: how its entries lie for a sparse operand."""

    turned: ClassVar[bool] = False
    """True if compressed rows or columns may be kept for a sparse x whose entries do not lie together here."""

    push_below: ClassVar[float] = float("inf")
    """Share of present elements below which a sparse x is pushed along the stored rows; 0 where there is no push."""

    @classmethod
    def along(cls, A: Matrix, axis: int) -> Matrix:
        """A with the entries of a row (axis 0) or column (1) together, in a format of the table: made once, kept."""
        return compressed(A, axis)
