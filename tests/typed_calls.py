"""Right calls, each with the type of its result: `test_public_surface.py` has mypy check them, and runs them."""

from collections.abc import Hashable
from typing import assert_type

import numpy as np

from algorithms import (
    Graph,
    all_pairs,
    bellman_ford,
    betweenness_centrality,
    bfs,
    bfs_order,
    boruvka,
    closeness_centrality,
    clustering,
    core_number,
    count_shortest_paths,
    da2cf,
    delta_stepping,
    diameter,
    dijkstra,
    eccentricity,
    factor,
    fewest_edges,
    harmonic_centrality,
    label_propagation,
    pagerank,
    path,
    scc,
    shortest_path_tree,
    shortest_simple_paths,
    sssp,
    symbolic_factor,
    topological_components,
    transitive_closure,
    triangles,
)
from algorithms.named.answers import Components, Distances, Edge, Path
from formats import (
    COO,
    CSR,
    ELL,
    Matrix,
    Partitioned,
    SparseVector,
    from_edges,
    from_networkx,
    partition,
    permute,
    renumber,
    to_ranks,
)
from formats.arrays import DenseRows, DenseVector, IntegerRows, IntegerVector
from semiring import (
    MaxMin,
    MinPlus,
    apply,
    assign,
    diag,
    ewise_add,
    ewise_mult,
    ewise_union,
    explain,
    extract,
    kronecker,
    mxm,
    mxv,
    power,
    reduce,
    select,
    transpose,
    vxm,
)

A = from_edges([0, 0, 1], [0, 1, 1], [5.0, 9.0, 3.0])
x = np.array([0.0, 1.0])
X = np.array([[0.0, 1.0], [2.0, 3.0]])
s = SparseVector([0], [5.0], 2)
yes = np.array([True, False])

assert_type(A, CSR)
assert_type(A.to(ELL), ELL)
assert_type(A.to_dense(), DenseRows)
assert_type(s.to_dense(9.5), DenseVector)
assert_type(permute(A.to(COO), [1, 0]), COO)
assert_type(renumber(A, "rcm"), tuple[CSR, IntegerVector])
assert_type(to_ranks(A), tuple[CSR, DenseVector])
assert_type(from_networkx(A.to_networkx()), CSR)
assert_type(from_networkx(A.to_networkx(), return_labels=True), tuple[CSR, list[Hashable]])
assert_type(A.to("coo"), Matrix)
assert_type(A.to(device="cpu"), CSR)
assert_type(A.get(1, 0), np.number | None)
assert_type(A.get(1, 0, 7), np.number | int)
assert_type(s.get(1, 7), np.number | int)
assert_type(A / 2, Matrix)
assert_type(abs(A), Matrix)
assert_type(A > 2, Matrix)
assert_type(s + s, SparseVector)
assert_type(2 * s, SparseVector)
assert_type(s >= 2, SparseVector)

assert_type(mxv(A, x, MinPlus), DenseVector)
assert_type(mxv(A, s, "min_plus"), SparseVector)
assert_type(mxv(A, x, MinPlus, mask=yes, complement=True, accum="min", out=x.copy(), replace=True), DenseVector)
assert_type(mxv(A, s, MinPlus, mask=s, out=x.copy()), DenseVector)
assert_type(vxm(x, A, MaxMin), DenseVector)
assert_type(vxm(s, A, MaxMin, mask=yes), SparseVector)
assert_type(mxm(A, A, MinPlus), CSR)
assert_type(mxm(A, A, MinPlus, mask=A, return_argument=True), tuple[CSR, CSR])
assert_type(mxm(A, X, MinPlus), DenseRows)
assert_type(mxm(X, A, MinPlus, mask=A, accum="min", out=X.copy()), DenseRows)
assert_type(mxm(X, X, MinPlus, mask=X > 0, complement=True, return_argument=True), tuple[DenseRows, IntegerRows])
assert_type(mxm(A, X, MinPlus, return_argument=True), tuple[DenseRows, IntegerRows])
assert_type(mxv(A, x, MinPlus, return_argument=True), tuple[DenseVector, IntegerVector])
assert_type(vxm(s, A, MinPlus, return_argument=True), tuple[SparseVector, SparseVector])
assert_type(mxv(A, x, MinPlus, out=s, return_argument=True), tuple[SparseVector, IntegerVector])

assert_type(ewise_add(A, A, "min"), CSR)
assert_type(ewise_add(x, x, "min"), DenseVector)
assert_type(ewise_add(x, s, MinPlus), DenseVector)
assert_type(ewise_add(s, x, MinPlus), DenseVector)
assert_type(ewise_add(s, s, "min"), SparseVector)
assert_type(ewise_add(x, s, MinPlus, out=x), DenseVector)
assert_type(ewise_union(A, 0, A, 1.5, "minus"), CSR)
assert_type(ewise_union(s, 0, s, 1.5, "minus"), SparseVector)
assert_type(ewise_union(s, 0, x, 1.5, "minus"), DenseVector)
assert_type(kronecker(A, A, "times"), CSR)
assert_type(diag(A.to(ELL), 1), SparseVector)
assert_type(diag(s), CSR)
assert_type(diag(x, semiring=MinPlus), CSR)
assert_type(power(A, 3, "min_plus"), CSR)
assert_type(ewise_mult(A, A, "plus"), CSR)
assert_type(ewise_mult(x, x, "plus"), DenseVector)
assert_type(ewise_mult(x, s, "plus"), SparseVector)
assert_type(ewise_mult(s, s, "plus"), SparseVector)

assert_type(apply(A.to(COO), np.sqrt), CSR)
assert_type(apply(x, "abs"), DenseVector)
assert_type(apply(s, "plus", right=2), SparseVector)
assert_type(select(A.to(COO), "<", 6), COO)
assert_type(select(A, "tril", -1, mask=A), CSR)
assert_type(select(x, "<", 6, semiring=MinPlus), DenseVector)
assert_type(select(s, "<", x), SparseVector)
assert_type(select(A.to(COO), lambda value, row, col: value > row), COO)
assert_type(select(s, lambda value, at: value > at), SparseVector)
assert_type(select(s, lambda value, at, least: value > least, 3, out=s), SparseVector)

assert_type(reduce(A, "min"), np.number)
assert_type(reduce(x, "plus"), np.number)
assert_type(reduce(s, MinPlus), np.number)
assert_type(reduce(A, "plus", axis=1), DenseVector)
assert_type(reduce(s, "min", return_argument=True), tuple[np.number, int])
assert_type(reduce(A, "min", axis=0, return_argument=True), tuple[DenseVector, IntegerVector])
assert_type(reduce(A, "plus", axis=0, accum="plus", out=x), DenseVector)

assert_type(extract(A, [1, 0], [1]), CSR)
assert_type(extract(A, range(1)), CSR)
assert_type(extract(A, 0), SparseVector)
assert_type(extract(A, 0, [1]), SparseVector)
assert_type(extract(A, None, 0), SparseVector)
assert_type(extract(A, cols=np.int64(1)), SparseVector)
assert_type(extract(x, [1]), DenseVector)
assert_type(extract(s, np.array([1])), SparseVector)

assert_type(assign(np.zeros(2), 7.0, [1]), DenseVector)
assert_type(assign(SparseVector([0], [5.0], 2), x, mask=yes), SparseVector)
assert_type(assign(A.astype("float64"), 7.0, [0], [1]), CSR)
assert_type(transpose(A.to(COO)), COO)
P = partition(A, parts=2)
assert_type(assign(P, 7, [0], [1], mask=A), Partitioned)
assert_type(mxm(P, A, MinPlus, out=P, accum="min"), Partitioned)
assert_type(ewise_add(P, A, "min", out=P), Partitioned)
assert_type(select(P, "<", 3, out=P), Partitioned)

assert_type(sssp(A, 0), DenseVector)
assert_type(sssp(A, 0, return_parents=True), tuple[DenseVector, IntegerVector])
assert_type(sssp(A, sources=[0, 1], algorithm="dijkstra"), DenseRows)
assert_type(sssp(A, sources=range(2), delta=3.5, return_parents=True), tuple[DenseRows, IntegerRows])
assert_type(factor(A).solve(0), DenseVector)
assert_type(factor(A, MaxMin).solve(0, return_parents=True), tuple[DenseVector, IntegerVector])
assert_type(factor(A, order=symbolic_factor(A)).solve(sources=[0, 1], exact=True), DenseRows)
assert_type(factor(A).distances([0], range(2)), DenseRows)
assert_type(factor(A).nearest([0]), tuple[DenseVector, IntegerVector])
assert_type(factor(A).path(0, 1), list[int])
assert_type(bellman_ford(A, 0, limit=9, target=1, fused=False), DenseVector)
assert_type(bellman_ford(A, 0, MaxMin, return_parents=True), tuple[DenseVector, IntegerVector])
assert_type(da2cf(A, sources=np.array([1])), DenseRows)
assert_type(dijkstra(A, 1, "min_plus", return_parents=False), DenseVector)
assert_type(delta_stepping(A, 0, delta="median"), DenseVector)
assert_type(delta_stepping(A, sources=[0], delta=2, return_parents=True), tuple[DenseRows, IntegerRows])
assert_type(bfs(A, 0, direction="pull"), IntegerVector)
assert_type(bfs(A, 0, return_parents=True, mask=yes), tuple[IntegerVector, IntegerVector])
assert_type(bfs(A, sources=[0, 1]), IntegerRows)
assert_type(bfs(A, sources=[0, 1], return_parents=True, max_level=2, target=1), tuple[IntegerRows, IntegerRows])
assert_type(scc(A, weak=True), IntegerVector)
assert_type(boruvka(A, symmetrize=True), COO)
assert_type(boruvka(A, symmetrize=True, return_labels=True), tuple[COO, IntegerVector])
assert_type(boruvka(A, symmetrize=True, return_places=True), tuple[COO, IntegerVector])
assert_type(
    boruvka(A, symmetrize=True, return_labels=True, return_places=True), tuple[COO, IntegerVector, IntegerVector]
)
assert_type(all_pairs(A), DenseRows)
assert_type(all_pairs(A, "max_min", return_parents=True), tuple[DenseRows, IntegerRows])
assert_type(fewest_edges(A, 0), tuple[DenseVector, IntegerVector])
assert_type(fewest_edges(A, 0, return_parents=True), tuple[DenseVector, IntegerVector, IntegerVector])
assert_type(fewest_edges(A, sources=[0]), tuple[DenseRows, IntegerRows])
assert_type(fewest_edges(A, sources=[0], return_parents=True), tuple[DenseRows, IntegerRows, IntegerRows])
assert_type(count_shortest_paths(A, 0, "min_plus"), tuple[DenseVector, DenseVector])
assert_type(count_shortest_paths(A, sources=range(2), dtype="float64"), tuple[DenseRows, DenseRows])
assert_type(pagerank(A, alpha=0.9, personalization=x), DenseVector)
assert_type(triangles(A, symmetrize=True), IntegerVector)
assert_type(clustering(A, symmetrize=True), DenseVector)
assert_type(label_propagation(A, max_iter=5), IntegerVector)
assert_type(betweenness_centrality(A, weighted=True, sources=[0], fused=False), DenseVector)
assert_type(closeness_centrality(A, weighted=True, wf_improved=False), DenseVector)
assert_type(harmonic_centrality(A, vertices=[0, 1]), DenseVector)
assert_type(eccentricity(A, vertices=[0]), DenseVector)
assert_type(diameter(from_edges([0, 1], [1, 0])), int | float)
assert_type(core_number(A, symmetrize=True, fused=False), IntegerVector)
assert_type(transitive_closure(A, reflexive=True), CSR)
assert_type(bfs_order(A, 0, both_ways=True), tuple[IntegerVector, IntegerVector])
assert_type(topological_components(A, fused=False), IntegerVector)
assert_type(shortest_simple_paths(A, 0, 1, 3, weighted=True), list[list[int]])
assert_type(shortest_path_tree(A, sssp(A, 0), 0, MinPlus), IntegerVector)
assert_type(path(bfs(A, 0, return_parents=True)[1], 1), list[int])
assert_type(explain(sssp, A, 0).result, DenseVector)
assert_type(explain(bfs, A, sources=[0], return_parents=True).result, tuple[IntegerRows, IntegerRows])
assert_type(MinPlus.zero(A.dtype), np.number)

g = Graph.from_edges(["a", "b"], ["b", "c"], [5.0, 3.0])
assert_type(g.sssp("a"), Distances)
assert_type(g.sssp(sources=["a", "b"]), dict[Hashable, Distances])
assert_type(g.bfs("a").path("c"), Path)
assert_type(g.components(), Components)
assert_type(g.spanning_forest()[0], Edge)
assert_type(g.index("a"), int)
