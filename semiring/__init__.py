"""The algebra of sparse matrices: semirings, and the verbs that compute in them on any format and device."""

from . import siblings  # isort: skip  # first: raises if `formats` is another project's
from .algebra import (
    MONOIDS,
    SEMIRINGS,
    AnyPair,
    Law,
    LorLand,
    MaxMin,
    MaxPlus,
    MinFirst,
    MinMax,
    MinPlus,
    MinSecond,
    Monoid,
    PlusTimes,
    Semiring,
)
from .choice import Choice, choose
from .comparison import Comparison, compare
from .explanation import Explanation, explain
from .laws import LawCheck, check_laws
from .ops import OPERATORS, BinaryOp, Saturating, UnaryOp
from .predicates import Predicate, better, differs, lost, nearer, no_worse, tight, within
from .registry import Vector, Verb, fusible
from .verbs import apply, assign, ewise_add, ewise_mult, extract, mxm, mxv, reduce, select, transpose, vxm

from . import generic, cpu, cuda, needs  # isort: skip  # registers the implementations of the verbs above
from .cpu.threads import get_threads, set_threads, threads

__all__ = [
    "MONOIDS",
    "OPERATORS",
    "SEMIRINGS",
    "AnyPair",
    "BinaryOp",
    "Choice",
    "Comparison",
    "Explanation",
    "Law",
    "LawCheck",
    "LorLand",
    "MaxMin",
    "MaxPlus",
    "MinFirst",
    "MinMax",
    "MinPlus",
    "MinSecond",
    "Monoid",
    "PlusTimes",
    "Predicate",
    "Saturating",
    "Semiring",
    "UnaryOp",
    "Vector",
    "Verb",
    "apply",
    "assign",
    "better",
    "check_laws",
    "choose",
    "compare",
    "cpu",
    "cuda",
    "differs",
    "ewise_add",
    "ewise_mult",
    "explain",
    "extract",
    "fusible",
    "generic",
    "get_threads",
    "lost",
    "mxm",
    "mxv",
    "nearer",
    "needs",
    "no_worse",
    "reduce",
    "select",
    "set_threads",
    "siblings",
    "threads",
    "tight",
    "transpose",
    "vxm",
    "within",
]
