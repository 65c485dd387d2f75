"""Searches, components and forests on the CPU as compiled loops; what compiles is imported when it is called.

What is registered takes the arguments of the equations that it replaces, and gives their very answer.
"""

from __future__ import annotations

from typing import Any

from algorithms.equations.betweenness import betweenness_centrality
from algorithms.equations.bfs import bfs
from algorithms.equations.bfs_order import bfs_order
from algorithms.equations.boruvka import boruvka
from algorithms.equations.core_number import core_number
from algorithms.equations.distance_totals import distance_totals
from algorithms.equations.label_propagation import label_propagation
from algorithms.equations.pagerank import pagerank
from algorithms.equations.scc import scc
from algorithms.equations.topological import topological_components
from algorithms.equations.triangles import triangles
from algorithms.shared.entries import entry_places
from formats import CSR, CompressedCSR
from semiring.verbs.registry import Declined, Deferred

bfs.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.bfs:search"))

bfs.batch.implement(CSR, "cpu", most=64, needs=Deferred("algorithms.fused.cpu.searches:bytes_needed"))(
    Deferred("algorithms.fused.cpu.searches:searches")
)
scc.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.scc:strong_components"))
bfs_order.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.bfs_order:queued"))
entry_places.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.entries:places_at"))
topological_components.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.topological:numbered"))


@boruvka.implement(CSR, CompressedCSR, "cpu")
def _boruvka(A: CSR | CompressedCSR, symmetrize: bool, with_labels: bool) -> Any:
    from .forest import forest

    if A.major == 1:
        return Declined("its columns lie together, and rows are asked for first")
    return forest(A, symmetrize, with_labels)


core_number.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.cores:cores"))
triangles.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.triangles:counts"))
label_propagation.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.label_propagation:labels"))
distance_totals.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.distance_sums:totals"))
pagerank.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.pagerank:ranks"))
betweenness_centrality.implement(CSR, "cpu")(Deferred("algorithms.fused.cpu.betweenness:dependencies"))
