"""Storage formats: what a sparse matrix is made of, how it is read, and how one format becomes another."""

from typing import TYPE_CHECKING

from .arrays import DTYPES
from .edges import from_edges
from .gpu import DeviceUnavailable
from .lazily import lazily
from .matrix.base import Matrix
from .matrix.footprint import Footprint
from .memory import OutOfDeviceMemory, OutOfHostMemory
from .performance import PerformanceWarning
from .places import Place, set_memory_limit
from .storage.compressed import CSC, CSR
from .storage.coo import COO
from .storage.csb import CSB
from .storage.dense import Dense
from .storage.ell import ELL
from .storage.packed import CompressedCSR
from .storage.segmented import SegmentedCOO
from .storage.sell import SELL
from .vector import SparseVector

__all__ = [
    "COO",
    "CSB",
    "CSC",
    "CSR",
    "CompressedCSR",
    "DTYPES",
    "ELL",
    "SELL",
    "Dense",
    "DeviceUnavailable",
    "Footprint",
    "Matrix",
    "NeighboursByWeight",
    "OutOfDeviceMemory",
    "OutOfHostMemory",
    "ParticipantError",
    "Partitioned",
    "PerformanceWarning",
    "Place",
    "SegmentedCOO",
    "SparseVector",
    "by_weight",
    "from_cupyx",
    "from_edges",
    "from_graphblas",
    "from_networkx",
    "from_ranks",
    "from_scipy",
    "inverse_permutation",
    "permute",
    "open_mapped",
    "communicator",
    "partition",
    "read",
    "renumber",
    "reorder_edges",
    "set_memory_limit",
    "to_ranks",
    "vertex_order",
    "write",
]

if TYPE_CHECKING:
    from .interop import from_cupyx, from_graphblas, from_networkx, from_scipy
    from .io import open_mapped, read, write
    from .parts.group import ParticipantError
    from .parts.launchers import communicator
    from .parts.partitioned import Partitioned, partition
    from .preparation.renumbering import inverse_permutation, permute, renumber, vertex_order
    from .preparation.reordering import reorder_edges
    from .preparation.weights import NeighboursByWeight, by_weight, from_ranks, to_ranks
else:
    __getattr__, __dir__ = lazily(__name__)
