"""The edges of undirected graphs: each once, as a list, and as a matrix of keys by which they compare."""

from __future__ import annotations

from typing import Any

from formats import COO, Matrix
from formats.arrays import Array, namespace
from formats.matrix.facts import Fact
from formats.preparation.weights import edge_keys
from formats.storage.orientation import compressed, is_symmetric
from semiring import ewise_add, select
from semiring.vectors import element, unweighted
from semiring.verbs.checks import check_graph

LOOPS: Fact[int] = Fact("number of self-loops")
BOTH_WAYS: Fact[Matrix] = Fact("the pattern of the edges in both directions, without self-loops")


def undirected_edges(A: Matrix, *, symmetrize: bool = False) -> COO:
    """The edges of an undirected graph, each once, u < v, sorted by (u, v); self-loops are left out.

    A: (n, n), with every edge in both directions; or any, with `symmetrize`, of two directions the lighter.
    ValueError that names an edge without its reverse.
    """
    both_ways = is_symmetric(A)
    if not both_ways and not symmetrize:
        u, v = one_way_edge(A)
        raise ValueError(
            f"the graph must be undirected: its edge {u} -> {v} has no reverse of the same weight "
            "(symmetrize=True takes the lighter of both directions)"
        )
    E: Any = select(compressed(A, 0), "triu", 1)
    if not both_ways:
        E = ewise_add(E, select(compressed(A, 1).T, "triu", 1), "min" if A.dtype != bool else "land")
    listed: Any = E.to(COO)
    return listed


def one_way_edge(A: Matrix) -> tuple[int, int]:
    """The first edge without a reverse of the same weight."""
    (u, v, w), (s, t, x) = A.to_edges(), A.T.to_edges()
    at = int(((u != s) | (v != t) | (w != x)).argmax())
    here, reverse = (element(u, at), element(v, at)), (element(t, at), element(s, at))
    return here if here <= reverse[::-1] else reverse


def without_loops(A: Matrix) -> Matrix:
    """`A` itself if it has no self-loops, which is looked up once, else its pattern without them."""
    P = unweighted(A)
    return select(P, "offdiag") if A.keep(LOOPS, lambda: select(P, "diag").nnz) else A


def undirected_pattern(A: Matrix, symmetrize: bool = False) -> Matrix:
    """The pattern of an undirected graph, each edge in both directions, without self-loops; made once.

    A: (n, n), with every edge in both directions; or any, with `symmetrize`.  ValueError that names an edge without its
    reverse.
    """
    check_graph(A)
    if is_symmetric(A, pattern=True):
        return A.keep(BOTH_WAYS, lambda: unweighted(without_loops(A)))
    if not symmetrize:
        u, v = one_way_edge(A.pattern())
        raise ValueError(
            f"the graph must be undirected: its edge {u} -> {v} has no reverse (symmetrize=True lets edges count both "
            "ways)"
        )
    return A.keep(BOTH_WAYS, lambda: _both_ways(unweighted(A)))


def _both_ways(P: Matrix) -> Matrix:
    return select(ewise_add(compressed(P, 0), compressed(P, 1).T, "lor"), "offdiag")


def edges_where(E: COO, flags: Array) -> COO:
    """The edges of a list at which the Boolean array `flags` is true."""
    places = namespace(flags).flatnonzero(flags)
    return COO.trusted(E.rows.take(places), E.cols.take(places), E.values.take(places), E.shape, E.major)


def keyed(E: COO, like: Matrix) -> Matrix:
    """The edges with the key of each as its value (see `edge_keys`), in the format of `like`."""
    return E.revalued(edge_keys(E.values)).to(type(like), **like.options)
