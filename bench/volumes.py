"""How many vertices travel in a search of an R-MAT graph, by how matrix and vectors are cut among p processes: counted.

    python -m bench.volumes 16

whole     strips of rows, whole vectors: what a process finds travels to all others
cut       strips of rows, vectors cut likewise: what a process finds travels to its owner
blocks    √p × √p blocks, vectors cut: the frontier travels along a column of blocks, what is found along a row [1]

A search goes level by level from the vertex of most edges. What a process has found is a vertex that nobody had reached
before the level; each travels once from each process that finds it, in a message of its own to each that needs it. The
figures are of all levels, over the number of processes: what one process takes in.

[1] A. Buluç, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011.
"""

from __future__ import annotations

import sys

import numpy as np

from algorithms import bfs
from bench.graphs import rmat_both_ways
from formats.parts.partitioned import balanced

PROCESSES = (4, 16, 64, 256, 1024, 4096)


def pairs(process: np.ndarray, vertex: np.ndarray, n: int) -> np.ndarray:
    """The distinct (process, vertex), as one number each."""
    return np.unique(process.astype(np.int64) * n + vertex)


def volumes(scale: int, counts: tuple[int, ...] = PROCESSES) -> list[dict[str, float]]:
    """For each number of processes the vertices that one of them takes in, by the three ways."""
    A = rmat_both_ways(scale)
    n, (u, v, _) = A.nrows, A.to_edges()
    level = bfs(A, int(A.lengths().argmax()))
    found = (level[u] >= 0) & (level[v] == level[u] + 1)  # an edge from a frontier to what nobody had reached
    u, v, reached = u[found], v[found], level >= 0
    rows = []
    for p in counts:
        side = int(round(p**0.5))
        owner = np.searchsorted(balanced(A.indptr, p)[1:-1], np.arange(n), side="right")
        finder = pairs(owner[u], v, n)
        whole = finder.size * (p - 1)
        cut = np.count_nonzero(finder // n != owner[finder % n])
        block = owner[u] % side + side * (owner[v] // side)  # the block has its column from u and its row from v
        by_block = pairs(block, v, n)
        fold = np.count_nonzero(by_block // n != owner[by_block % n])
        expand = int(reached.sum()) * (side - 1)
        each = {"whole": whole / p, "cut": cut / p, "blocks": (fold + expand) / p}
        rows.append({"processes": p, "n": n, "nnz": A.nnz} | {name: round(x) for name, x in each.items()})
    return rows


if __name__ == "__main__":
    for row in volumes(int(sys.argv[1])):
        print(row)
