"""Cores, and subgraphs of them."""

from __future__ import annotations

from typing import Any

import networkx as nx
from networkx.utils.backends import _registered_algorithms

from algorithms.equations.core_number import core_number as cores
from formats.arrays import to_device

from .answers import by_name
from .degrees import number_of_selfloops
from .graph import Converted


def core_number(G: Converted) -> dict[Any, int]:
    if number_of_selfloops(G):
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    if G.directed:
        raise NotImplementedError("edges of opposite directions, which count twice")
    return by_name(G, to_device(cores(G.matrix()), "cpu"))


numbers = core_number


def of_networkx(name: str) -> Any:
    """NetworkX's own subgraph, by our numbers of cores."""

    def subgraph(G: Converted, k: Any = None, core_number: Any = None) -> Any:
        plain = _registered_algorithms[name].orig_func
        return plain(G.networkx, k, numbers(G) if core_number is None else core_number)

    return subgraph


k_core, k_shell, k_crust, k_corona = map(of_networkx, ("k_core", "k_shell", "k_crust", "k_corona"))
