"""Calls that are wrong in a way that mypy sees, one a line: `test_public_surface.py` checks that it names each."""

# ruff: noqa: B018

import numpy as np

from algorithms import (
    Graph,
    all_pairs,
    bellman_ford,
    bfs,
    bfs_order,
    boruvka,
    core_number,
    count_shortest_paths,
    da2cf,
    delta_stepping,
    dijkstra,
    factor,
    fewest_edges,
    label_propagation,
    pagerank,
    path,
    scc,
    shortest_path_tree,
    shortest_simple_paths,
    sssp,
    topological_components,
    transitive_closure,
)
from formats import COO, CSR, SparseVector, from_edges, from_networkx, read, renumber
from semiring import (
    MinPlus,
    apply,
    assign,
    choose,
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

A = from_edges([0], [1])
g = Graph(A, ["a", "b"])
d = np.zeros(2)
X = np.zeros((2, 3))
s = SparseVector([0], [5.0], 2)

bellman_ford(A, sorce=0)  # wrong
bellman_ford(A, 0, shedule="sweep")  # wrong
da2cf(A, 0, delta=3)  # wrong
factor(A, ordering=None)  # wrong
factor(A).solve(sorce=0)  # wrong
delta_stepping(A, 0, delta="medium")  # wrong
dijkstra(A, 0, delta=3)  # wrong
sssp(A, "Rome")  # wrong
sssp(A, 0, return_parent=True)  # wrong
sssp(A, 0, delta="medium")  # wrong
bfs(A, 0, direction="down")  # wrong
bfs(A, 0, fuse=False)  # wrong
bfs(A, 0, max_levels=3)  # wrong
scc(A, weakly=True)  # wrong
scc(A, pivot="largest")  # wrong
boruvka(A, symmetrise=True)  # wrong
shortest_path_tree(A, d, 0)  # wrong
pagerank(A, 0.9)  # wrong
all_pairs(A, method="fast")  # wrong
fewest_edges(A, 0, sources=[1])  # wrong
count_shortest_paths(A, 0, dtype="int32")  # wrong
core_number(A, k=3)  # wrong
label_propagation(A, 5)  # wrong
transitive_closure(A, True)  # wrong
bfs_order(A, 0, True)  # wrong
topological_components(A, weak=True)  # wrong
shortest_path_tree(A, d, 0, MinPlus, ties="first")  # wrong
shortest_simple_paths(A, 0, 1)  # wrong
path(d)  # wrong
mxv(A, d, MinPlus, masked=d)  # wrong
mxv(A, d)  # wrong
vxm(d, A, MinPlus, complement="yes")  # wrong
mxm(A, d, MinPlus, out=d, replaces=True)  # wrong
ewise_add(d, d, "min", accumulate="min")  # wrong
apply(A, d, mask=3, accum=3)  # wrong
reduce(A, "plus", axes=0)  # wrong
select(A, "<", 3, col="3", column=3)  # wrong
read(3)  # wrong
labels = read("roads.gr", return_labels=True).nnz  # wrong
from_edges([0], [1], dup="mean")  # wrong
from_networkx(A.to_networkx()).labels  # wrong
renumber(A, "rmc")  # wrong
renumber(A).nnz  # wrong
A.to_dense().indices  # wrong
choose(A, "mvx")  # wrong
explain(sssp, A, 0, return_parent=True)  # wrong
explain(sssp, A, 0).result.nnz  # wrong
A.to(device="gpu")  # wrong
sssp(A, 0, return_parents=True).shape  # wrong
n, k = sssp(A, 0).shape  # wrong
sssp(A, 0, sources=[1])  # wrong
sssp(A)  # wrong
sssp(A, sources=3)  # wrong
sssp(A, 0, algorithm="dijkstras")  # wrong
bellman_ford(A, 0, return_parents=True)[0].indices  # wrong
dijkstra(A, sources=[0, 1]).nnz  # wrong
delta_stepping(A, 0, delta="modal")  # wrong
bfs(A, 0, return_parents=True).shape  # wrong
bfs(A, 0.5)  # wrong
scc(A).nnz  # wrong
boruvka(A).indptr  # wrong
F, label = boruvka(A)  # wrong
boruvka(A, return_labels=True).rows  # wrong
path(d, "Rome")  # wrong
A[0]  # wrong
A.get(0, 1).hex()  # wrong
mxv(A, d, MinPlus).nnz  # wrong
mxv(A, s, MinPlus).shape  # wrong
mxv(A, s, MinPlus, out=d).indices  # wrong
mxv(A, [0, 1], MinPlus)  # wrong
mxv(A, np.ones((2, 2)), MinPlus)  # wrong
vxm(A, d, MinPlus)  # wrong
rows, cols = vxm(d, A, MinPlus).shape  # wrong
mxm(A, A, MinPlus).to_frame()  # wrong
mxm(A, X, MinPlus).nnz  # wrong
mxm(X, A, MinPlus, out=A)  # wrong
mxm(A, d, MinPlus)  # wrong
mxm(A, X, MinPlus, return_argument=True).shape  # wrong
mxm(A, A, MinPlus, return_argument=True)[1].mean()  # wrong
mxv(A, d, MinPlus, return_argument="all")  # wrong
vxm(d, A, MinPlus, return_argument=True).shape  # wrong
reduce(A, "min", return_argument=True)  # wrong
reduce(d, "min", return_argument=True)[1].shape  # wrong
ewise_add(A, d, "min")  # wrong
ewise_add(s, s, "min").mean()  # wrong
ewise_union(A, 0, A, "minus")  # wrong
ewise_union(s, 0, A, 0, "minus")  # wrong
kronecker(A, A)  # wrong
diag(A, semiring=MinPlus)  # wrong
diag(A, 0.5)  # wrong
power(A, 2.5, MinPlus)  # wrong
ewise_mult(d, d, "min").nnz  # wrong
apply(A, np.sqrt).rows  # wrong
select(s, "<", 3).sum()  # wrong
select(A.to(COO), "<", 3).indptr  # wrong
reduce(A, "plus").shape[0]  # wrong
reduce(A, "plus", axis=2)  # wrong
reduce(A, "plus", axis=0).indices  # wrong
extract(A, 0).indptr  # wrong
extract(A, [0], [1]).size  # wrong
assign(d, 3, [0]).nnz  # wrong
transpose(A.to(COO)).indptr  # wrong
CSR.from_edges([0], [1])  # wrong
g.sssp("a", sorces=["b"])  # wrong
g.sssp(sources=["a"]).path("b")  # wrong
g.bfs("a").path("b").lenght  # wrong
g.components(week=True)  # wrong
g.spanning_forest()[0].wait  # wrong
Graph.from_edges(["a"], ["b"], weight=[1])  # wrong

bellman_ford(A, 0, return_parents=True, fused=False)
sssp(A, sources=[0, 1], delta=3.5, limit=9, target=1)
bfs(A, 0, direction="pull", max_level=3, mask=d)
mxv(A, d, "min_plus", mask=d, complement=True, accum="min", out=d, replace=True)
