"""Storage formats: what a sparse matrix is made of, how it is read, and how one format becomes another."""

from .arrays import DTYPES, DeviceUnavailable, OutOfDeviceMemory
from .base import Matrix
from .convert import from_edges
from .coo import COO
from .csb import CSB
from .csc import CSC
from .csr import CSR
from .dense import Dense
from .ell import ELL
from .footprint import Footprint
from .interop import from_cupyx, from_graphblas, from_networkx, from_scipy
from .io import read, write
from .memory import OutOfHostMemory
from .packed import CompressedCSR
from .performance import PerformanceWarning
from .renumbering import inverse_permutation, permute, renumber, vertex_order
from .reordering import reorder_edges
from .segmented import SegmentedCOO
from .sell import SELL
from .vector import SparseVector
from .weights import NeighboursByWeight, by_weight, from_ranks, to_ranks

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
    "PerformanceWarning",
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
    "read",
    "renumber",
    "reorder_edges",
    "to_ranks",
    "vertex_order",
    "write",
]
