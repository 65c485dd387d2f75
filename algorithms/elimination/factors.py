"""Elimination: a graph factored once, and distances from the factor in a fraction of a search's time.

The distances d = e_s ⊕ dA from a source are the solution of a linear system, d = e_s A*. Over a semiring where a* = 1
for every a that is no better than 1, Gauss's elimination makes two triangular matrices, U with the arcs to later
vertices in some order, and L with those to earlier ones [1, 2]:

    for x = 0, 1, …:  w_yz = w_yz ⊕ w_yx ⊗ w_xz     for all y, z after x
    A* = U* L*                                       U, L: the upper and lower triangle of W
    d = e_s U* L*                                    rising to later vertices, and then falling

Where to U leads arcs depends on the order and the pattern alone; the numbers depend on the weights. In an order by
nested dissection, roads and grids keep few arcs [3]. U* leads from s up the elimination tree, whose height is that of
the separators, and L* down to all vertices, each arc once. That is a customizable contraction hierarchy [4], in any
semiring. A diagonal w_xx better than 1 is a cycle that improves every time.

[1] B. A. Carré, An algebra for network routing problems, IMA J. Applied Mathematics 7(3), 1971.
[2] G. Rote, A systolic array algorithm for the algebraic path problem, Computing 34, 1985.
[3] P. Sao, R. Kannan, P. Gera, R. Vuduc, A supernodal all-pairs shortest path algorithm, PPoPP 2020 (SuperFW).
[4] J. Dibbelt, B. Strasser, D. Wagner, Customizable contraction hierarchies, ACM J. Exp. Algorithmics 21, 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

from formats import CSR, Matrix
from formats.arrays import (
    Array,
    DenseRows,
    DenseVector,
    IntegerRows,
    IntegerVector,
    all_of,
    as_indices,
    index_dtype,
    to_device,
)
from formats.display import table
from formats.storage.orientation import compressed
from semiring import Law, MinPlus, Semiring, assign, ewise_add, extract, mxm, select, vxm
from semiring.algebra.semirings import find_semiring
from semiring.vectors import densified, empty_rows, fill, unit
from semiring.verbs.checks import as_vertex, check_graph, starting_points
from semiring.verbs.explanation import details, explained, running_as

from ..equations.bellman_ford import bellman_ford
from ..equations.sssp import sssp
from ..shared.parents import as_weights
from ..shared.signatures import Distance, Vertices
from ..shared.single_source import check_domain, fill_trees, order_matters, tree_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from formats.places import Device

    from .cpu.engine import Analysis, Engine
    from .cuda.engine import Engine as EngineOfGPU

MOST_ARCS = 10
"""Arcs of a factor for each edge, beyond which a sweep takes as long as a search."""

SMALL = 1 << 20
"""Maximum arcs of a factor that is made whether or not it pays."""


# --- the equations ----------------------------------------------------------------------------------------------------


def eliminated(A: Matrix, s: Semiring) -> Matrix:
    """W, whose triangles are U and L, for vertices in the order of their numbers; as the fused loops find it."""
    W: Any = select(A, "offdiag")
    for x in range(A.nrows):
        later = range(x + 1, A.nrows)
        arriving, leaving = extract(W, later, [x]), extract(W, [x], later)
        W = assign(W, mxm(arriving, leaving, s), later, later, accum=s.add)  # w_yz = w_yz ⊕ w_yx ⊗ w_xz
    return W


def substituted(W: Matrix, source: int, s: Semiring) -> DenseVector:
    """d = e_s U* L*."""
    d: Any = densified(unit(W, source, s), s)
    for triangle in (select(W, "triu", 1), select(W, "tril", -1)):
        for _ in range(W.nrows):
            d = ewise_add(d, vxm(d, triangle, s), s)  # d = d ⊕ d U, and then d = d ⊕ d L
    return d


# --- what users call --------------------------------------------------------------------------------------------------


class Symbolic:
    """The predicted size and layout of a factor, for a pattern and an order: `symbolic_factor` makes it.

    Attributes:
        order: (n,) the vertices in the order of elimination, in which subtrees of the elimination tree lie together.
        how: the method that found it: "METIS", "cuts of levels", or "given".
        entries: arcs to later vertices; there are as many to earlier ones.
        operations: products that elimination takes.
        levels: vertices on the longest way up the elimination tree.

    Example:
        >>> from formats import from_edges
        >>> S = symbolic_factor(from_edges([0, 1, 2], [1, 2, 3]), order=[0, 3, 1, 2])
        >>> S.entries, S.levels, S.how
        (3, 3, 'given')
    """

    def __init__(self, A: CSR, known: Analysis) -> None:
        self._A, self._known = A, known
        self.order: IntegerVector = known.tree.order
        self.how = known.how
        self.entries, self.operations = known.prediction.arcs, known.prediction.operations
        self.levels = known.prediction.height

    def predicted_nbytes(self, dtype: DTypeLike = "float64") -> int:
        """Bytes of a factor with numbers of a dtype, and of what its elimination takes beside it, about.

        Args:
            dtype: of the weights.

        Returns:
            Their number.
        """
        itemsize = self._A.values.dtype.type(0).astype(dtype).itemsize
        known = self._known.prediction
        return known.nbytes(itemsize, self._A.nnz) + itemsize * known.room + 80 * self._A.nrows

    def numeric(self, A: Matrix, semiring: Semiring | str = MinPlus) -> Factor:
        """The factor of a matrix with this pattern, or with a part of it.

        Args:
            A: (n, n), A[u, v] = weight of the edge u -> v.
            semiring: as `factor` takes it.

        Returns:
            A `Factor`.

        Raises:
            ValueError: an edge has no place in the pattern; and what `factor` raises.
        """
        return made(A, find_semiring(semiring), self)

    def __repr__(self) -> str:
        return (
            f"Symbolic({self._A.nrows:,} vertices, {self.entries:,} arcs, {self.levels:,} levels, "
            f"{self.operations:,} operations, order: {self.how})"
        )


class Factor:
    """A factored graph, which answers questions about best paths: `factor` makes it.

    Attributes:
        symbolic: the order and the pattern.
        semiring: what a path's length is and which is better.
        A: the matrix, by its rows.

    Example:
        >>> from algorithms.data import rome99
        >>> from formats import read
        >>> F = factor(read(rome99))
        >>> F.distance(0, 7), F.path(0, 7), F.solve(0)[7]
        (4698, [0, 1, 3, 4, 7], np.int32(4698))
    """

    def __init__(self, A: CSR, semiring: Semiring, symbolic: Symbolic, engine: Engine | EngineOfGPU) -> None:
        self.A, self.semiring, self.symbolic = A, semiring, symbolic
        self._engine, self._vertices = engine, range(A.nrows)

    @property
    def nbytes(self) -> int:
        """Bytes of the factor, without those of the matrix."""
        return self._engine.nbytes

    def refactor(self, A: Matrix) -> Factor:
        """The factor of other weights: nothing but numbers is made anew where the pattern is the same.

        Args:
            A: (n, n), whose edges have a place in the factor's pattern.

        Returns:
            A new `Factor`; this one stays as it is.

        Raises:
            ValueError: an edge has no place in the pattern; and what `factor` raises.

        Example:
            >>> from formats import from_edges
            >>> A = from_edges([0, 1], [1, 2], [5.0, 2.0])
            >>> factor(A).refactor(A.with_values(A.values * 2)).distance(0, 2)
            14.0
        """
        return made(A, self.semiring, self.symbolic, self._engine)

    def to(self, *, device: Device) -> Factor:
        """The factor of the same weights on another device: its numbers are made anew there.

        Args:
            device: "cpu", "cuda", or "cuda:1".

        Returns:
            A `Factor`; itself if it is there.

        Raises:
            DeviceUnavailable: there is no such device.
            OutOfDeviceMemory: it does not fit.

        Example:
            >>> from formats import from_edges
            >>> factor(from_edges([0, 1], [1, 2], [5, 2])).to(device="cpu").distance(0, 2)
            7
        """
        A = self.A.to(device=device)
        return self if A is self.A else made(A, self.semiring, self.symbolic)

    def write(self, file: str | PathLike[str], *, labels: Array | Sequence[str] | None = None) -> None:
        """Write the factor to a file, with its matrix, for `Factor.read`.

        Args:
            file: where to; the suffix is free, as in "roads.factor".
            labels: (n,) the vertices' own ids or names, for the command line.

        Raises:
            ValueError: the semiring has no name by which it is found again.

        Example:
            >>> import tempfile
            >>> from formats import from_edges
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     factor(from_edges([0, 1], [1, 2], [5, 2])).write(f"{folder}/roads.factor")
            ...     Factor.read(f"{folder}/roads.factor").distance(0, 2)
            7
        """
        from .cpu.archive import save

        s, numbers = self.semiring, self._engine.on_host.queries.numbers
        try:
            known = find_semiring(s.name) == s
        except ValueError:
            known = False
        if not known:
            raise ValueError(f"{s!r} is not found by its name again: factors of your own semirings stay in memory")
        up = numbers.up.take(range(0)) if numbers.up is numbers.down else numbers.up
        parts = {"semiring": s.name, "order": self.symbolic.order, "how": self.symbolic.how, "up": up}
        rows: Any = self.A.to(device="cpu")
        A = {"indptr": rows.indptr, "indices": rows.indices, "values": rows.values}
        named = {} if labels is None else {"labels": labels}
        save(file, parts | A | {"down": numbers.down} | named)

    @classmethod
    def read(cls, file: str | PathLike[str]) -> Factor:
        """The factor that `write` has written.

        Args:
            file: where it is.

        Returns:
            A `Factor` that gives the same answers.

        Raises:
            ValueError: the file holds no factor, or one of another version.
            OutOfHostMemory: it does not fit.
            OSError: the file cannot be read.
        """
        return read_labelled(file)[0]

    @overload
    def solve(self, source: int, *, return_parents: Literal[False] = False, exact: bool = False) -> DenseVector: ...
    @overload
    def solve(
        self, source: int, *, return_parents: Literal[True], exact: bool = False
    ) -> tuple[DenseVector, IntegerVector]: ...
    @overload
    def solve(
        self, source: None = None, *, sources: Vertices, return_parents: Literal[False] = False, exact: bool = False
    ) -> DenseRows: ...
    @overload
    def solve(
        self, source: None = None, *, sources: Vertices, return_parents: Literal[True], exact: bool = False
    ) -> tuple[DenseRows, IntegerRows]: ...
    def solve(
        self,
        source: int | None = None,
        *,
        sources: Vertices | None = None,
        return_parents: bool = False,
        exact: bool = False,
    ) -> DenseVector | DenseRows | tuple[DenseVector, IntegerVector] | tuple[DenseRows, IntegerRows]:
        """Distances from a source to all vertices.

        Sums of floats are added in another order than those of `sssp`: of a path of k edges and length Σ|w| they differ
        by at most 2 k ε Σ|w|, with ε the dtype's. Integers, and floats whose sums are exact, have the same bits.

        Args:
            source: the vertex to start from.
            sources: several sources, (k,) integers, instead of one: the answer then has a row for each.
            return_parents: also return the shortest-path tree, by the rule of `shortest_path_tree`. Of rounded sums it
                is found with the distances by a search, as `exact` does.
            exact: give the bits of `sssp` also where sums are rounded, by a search from each source.

        Returns:
            (n,) distances, with the semiring's zero (inf, INT_MAX) where no path leads. With `return_parents` also (n,)
            integers: each vertex's parent in the tree, -1 for none.

        Raises:
            OverflowError: a finite distance does not fit the dtype.
            ValueError: the source is no vertex.
            TypeError: both or neither of source and sources are given.
        """
        A, s, rounded = self.A, self.semiring, self._engine.rounded
        starts = starting_points(A, source, sources)
        if rounded and (exact or return_parents):
            found: Any = sssp(A, source, s, sources=sources, return_parents=return_parents)
            return found
        d, parent = empty_rows(A, len(starts), "solve", A.dtype, index_dtype(A.nrows) if return_parents else None)
        with running_as("solve", A) as run:
            run.implementation, run.why = "fused", f"{len(starts)} sources by the factor"
            self._engine.solve(starts, d)
        if return_parents:
            if self._engine.lengths:
                fill_trees(A, starts, (d, parent), s)
            else:
                fill(parent, (tree_of(A, row, start, s) for row, start in zip(d, starts, strict=True)))
        if source is not None:
            [d], parent = d, None if parent is None else next(iter(parent))
        return (d, parent) if return_parents else d

    def distance(self, u: int, v: int) -> Distance:
        """The distance between two vertices, by two climbs of the elimination tree.

        Args:
            u, v: from where, and to where.

        Returns:
            A number of Python's; the semiring's zero (inf, INT_MAX) if no path leads.

        Raises:
            OverflowError: the distance does not fit the dtype.
            ValueError: one of the two is no vertex.
        """
        known = self._vertices
        if not (type(u) is type(v) is int and u in known and v in known):  # asked first: a pair takes microseconds
            u, v = as_vertex(self.A, u), as_vertex(self.A, v, "target")
        return self._engine.distance(u, v)

    def path(self, u: int, v: SupportsIndex) -> list[int]:
        """The vertices of a best path between two vertices.

        Args:
            u, v: from where, and to where.

        Returns:
            The vertices in order, u first and v last; [u] where these are one.

        Raises:
            OverflowError: the length does not fit the dtype.
            ValueError: one of the two is no vertex, or no path leads.
        """
        start, end = as_vertex(self.A, u), as_vertex(self.A, v, "target")
        found = self._engine.path(start, end)
        if found is None:
            raise ValueError(f"no path leads from vertex {start} to {end}")
        return found

    def distances(self, sources: Vertices, targets: Vertices) -> DenseRows:
        """A table of distances: the part of the factor above the targets is swept, for many sources side by side.

        Args:
            sources: (k,) from where.
            targets: (m,) to where.

        Returns:
            (k, m) distances, as `solve` has them.

        Raises:
            OverflowError: a finite distance does not fit the dtype.
            ValueError: one of these is no vertex.

        Source: D. Delling, A. Goldberg, R. Werneck, Faster batched shortest paths in road networks, ATMOS 2011.
        """
        A = self.A
        starts, ends = starting_points(A, None, sources), as_indices(targets, "targets", A.nrows)
        A.place.check_room(f"a table of {len(starts):,} × {len(ends):,} distances", len(starts) * len(ends) * 8)
        out = A.xp.empty((len(starts), len(ends)), A.dtype)
        with running_as("distances", A) as run:
            run.implementation, run.why = "fused", f"a table of {len(starts)} × {len(ends)} by the factor"
            self._engine.table(starts, ends, out)
        return out

    def nearest(self, targets: Vertices) -> tuple[DenseVector, IntegerVector]:
        """For each vertex, which of several targets is the nearest, and how far it is: one sweep for all targets.

        Args:
            targets: (k,) to where.

        Returns:
            (n,) the distance from each vertex to its nearest target, the semiring's zero where no path leads; and (n,)
            that target, -1 for none. Of several the smallest, where lengths are sums.

        Raises:
            OverflowError: a finite distance does not fit the dtype.
            ValueError: one of these is no vertex.
        """
        ends = to_device(as_indices(targets, "targets", self.A.nrows), "cpu")
        with running_as("nearest", self.A) as run:
            run.implementation, run.why = "fused", f"{len(ends)} targets by the factor"
            return self._engine.nearest(ends)

    def __repr__(self) -> str:
        return f"Factor({self.semiring.name}, {self.A.dtype}, {self.nbytes:,} bytes, {self.symbolic!r})"

    def _repr_html_(self) -> str:
        S, entries = self.symbolic, self.A.nnz
        rows = [
            ("vertices", f"{self.A.nrows:,}"),
            ("edges", f"{entries:,}"),
            ("arcs", f"{S.entries:,} to later vertices, {S.entries / max(entries, 1):.3g} for each edge"),
            ("levels of the tree", f"{S.levels:,}"),
            ("operations", f"{S.operations:,}"),
            ("order", S.how),
            ("bytes", f"{self.nbytes:,}"),
        ]
        return table(f"factor, {self.semiring.name}, {self.A.dtype}", rows)


def made(A: Matrix, s: Semiring, symbolic: Symbolic, before: Engine | EngineOfGPU | None = None) -> Factor:
    """The factor of a matrix by a pattern.  before: of the same pattern; see `engine`."""
    rows, n = prepared(A, s), len(symbolic.order)
    if rows.nrows != n:
        raise ValueError(f"the pattern is of {n:,} vertices, the matrix of {rows.nrows:,}")
    rows.place.check_room(f"a factor of {symbolic.entries:,} arcs", symbolic.predicted_nbytes(rows.dtype))
    with running_as("factor", rows) as run:
        run.implementation, run.why = "fused", "elimination runs as compiled loops, or on a GPU as kernels, alone"
        kept = before if before is not None and before.A.place == rows.place else None
        F = Factor(rows, s, symbolic, engine_for(rows)(symbolic._known, rows, s, kept))
        if explained():
            details(order=symbolic.how, arcs=symbolic.entries, operations=symbolic.operations, levels=symbolic.levels)
            details(nbytes=F.nbytes)
    if F._engine.bad >= 0:
        bellman_ford(rows, F._engine.bad, s)  # raises NegativeCycle, but where only rounding gains
    return F


def engine_for(A: CSR) -> Callable[..., Engine | EngineOfGPU]:
    """Returns the function that makes a factor's numbers where A is."""
    if A.place.on_host:
        from .cpu.engine import engine

        return engine
    from .cuda.engine import engine as engine_of_gpu

    return engine_of_gpu


def read_labelled(file: str | PathLike[str]) -> tuple[Factor, Any]:
    """Returns the factor of a file, and the ids or names of its vertices; None if the file has none."""
    from formats.io.damage import refusing_damage

    from .cpu.archive import NO_FACTOR, load
    from .cpu.engine import analysis, engine_of

    A, parts = load(file)
    with refusing_damage(str(file), NO_FACTOR):
        s = find_semiring(str(parts["semiring"]))
        rows = prepared(A, s)
        known = analysis(rows, as_indices(parts["order"], "order", A.nrows))
        if not all_of(known.tree.order == parts["order"]):
            raise ValueError("its order is no postorder of its elimination tree")
        known.how = str(parts["how"])
        engine = engine_of(known, rows, s, parts["up"], parts["down"])
    return Factor(rows, s, Symbolic(rows, known), engine), parts.get("labels")


def elimination_order(A: Matrix) -> IntegerVector:
    """The vertices of a graph in an order of elimination with little fill: nested dissection of A ∪ Aᵀ.

    METIS finds it, if pymetis is installed (`pip install 'semiring[factor]'`), else cuts of our own, with more fill.

    Args:
        A: (n, n), of which the pattern counts alone.

    Returns:
        (n,) int32, the vertex that is eliminated first, and so on.

    Raises:
        ValueError: the matrix is not square.

    Example:
        >>> from formats import from_edges
        >>> elimination_order(from_edges([0, 0, 0], [1, 2, 3])).tolist()[-2:].count(0)
        1

    Source: A. George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10(2), 1973.
    """
    return symbolic_factor(A).order


def symbolic_factor(A: Matrix, *, order: Vertices | None = None) -> Symbolic:
    """The order of elimination, and what a factor will take, before any of its numbers.

    Args:
        A: (n, n), of which the pattern counts alone.
        order: (n,) the vertices in the order of elimination; None for one that is found, see `elimination_order`.

    Returns:
        A `Symbolic`, whose `numeric(A)` makes a factor.

    Raises:
        ValueError: the matrix is not square, or the order does not hold each vertex once.

    Example:
        >>> from formats import from_edges
        >>> S = symbolic_factor(from_edges([0, 1, 2], [1, 2, 3], [5, 2, 1]))
        >>> S.entries, S.numeric(from_edges([0, 1, 2], [1, 2, 3], [5, 2, 1])).distance(0, 3)
        (3, 8)

    Source: J. R. Gilbert, E. G. Ng, B. W. Peyton, SIAM J. Matrix Anal. Appl. 15(4), 1994 (the entries of a factor).
    """
    from .cpu.engine import analysis

    check_graph(A)
    rows = on_host(A)
    return Symbolic(rows, analysis(rows, None if order is None else as_indices(order, "order", A.nrows)))


def factor(
    A: Matrix,
    semiring: Semiring | str = MinPlus,
    *,
    order: Vertices | Symbolic | None = None,
    force: bool = False,
) -> Factor:
    """Factor a graph once, to answer many questions about its best paths quickly.

    It pays for roads, grids and other graphs with small separators. Others fill up, and are refused.

    Args:
        A: (n, n), A[u, v] = weight of the edge u -> v, of any sign. On a GPU, so is the factor: order and pattern are
            found on the host.
        semiring: what a path's length is and which is better, or its name: min_plus, max_plus, max_min, min_max,
            max_times, lor_land, or your own. ⊕ selects, ⊗ has a unit, is associative and distributes over ⊕.
        order: (n,) the vertices in the order of elimination, or a `Symbolic`; None for one that is found.
        force: factor also where the fill does not pay.

    Returns:
        A `Factor`.

    Raises:
        NegativeCycle: a cycle improves paths for ever; the error has it.
        OutOfHostMemory: the factor does not fit.
        OverflowError: weights of any sign are so large that their sums may not fit int64, or of floats their dtype.
        ValueError: the fill would not pay, and the message has the prediction; the matrix is not square; or the
            semiring is not one that elimination is right for.
        TypeError: the semiring is not defined on A's dtype.

    Example:
        >>> from formats import from_edges
        >>> F = factor(from_edges([0, 0, 1], [1, 2, 2], [5.0, 9.0, -3.0]))
        >>> F.solve(0).tolist(), F.distance(1, 0), F.nearest([2])[0].tolist()
        ([0.0, 5.0, 2.0], inf, [2.0, -3.0, 0.0])

    Source: Carré 1971 [1]; Sao, Kannan, Gera, Vuduc 2020 [3]; Dibbelt, Strasser, Wagner 2016 [4].
    """
    s = find_semiring(semiring)
    rows = prepared(A, s)
    symbolic = order if isinstance(order, Symbolic) else symbolic_factor(rows, order=order)
    if symbolic.entries > max(SMALL, MOST_ARCS * rows.nnz) and not force:
        raise ValueError(
            f"a factor would have {symbolic.entries:,} arcs for {rows.nnz:,} edges, in "
            f"{symbolic.predicted_nbytes(rows.dtype):,} bytes, and take {symbolic.operations:,} operations: this graph "
            "has no small separators, so searches pay: sssp(A, sources=…). force=True factors it all the same"
        )
    return made(rows, s, symbolic)


def on_host(A: Matrix) -> CSR:
    """The rows of a matrix on the host, with vertices that int32 can count."""
    if A.nrows >= 2**31 - 1:
        raise ValueError(f"elimination takes fewer than 2^31 vertices, got {A.nrows:,}")
    rows: Any = compressed(A, 0).to(device="cpu")
    return rows


def prepared(A: Matrix, s: Semiring) -> CSR:
    """The rows of A as the semiring measures paths in them; ValueError where elimination is not right."""
    A = as_weights(A, s)
    check_graph(A)
    check_domain(A, s)
    s.unit(A.dtype)
    if why := order_matters(s, A.dtype):
        raise ValueError(why)
    if Law.ASSOCIATIVE not in s.laws:
        raise ValueError(f"{s.name} does not declare that ⊗ is associative; pass Law.ASSOCIATIVE in laws= if it is")
    rows: Any = compressed(A, 0)
    return rows
