"""The algebra of sparse matrices: semirings, and the verbs that compute in them on any format and device."""

from typing import TYPE_CHECKING

from . import import_conflicts  # isort: skip  # noqa: F401  # first: raises if `formats` is another project's
from formats.lazily import lazily

from .algebra.ops import OPERATORS, POSITIONS, UNARY_OPERATORS, BinaryOp, Saturating, UnaryOp
from .algebra.predicates import Predicate, better, differs, lost, nearer, no_worse, tight, within
from .algebra.semirings import (
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
from .verbs.composed import diag, ewise_union, kronecker, power
from .verbs.explanation import Explanation, explain
from .verbs.fusible import fusible
from .verbs.registry import Vector, Verb
from .verbs.verbs import apply, assign, ewise_add, ewise_mult, extract, mxm, mxv, reduce, select, transpose, vxm

__all__ = [
    "MONOIDS",
    "OPERATORS",
    "POSITIONS",
    "SEMIRINGS",
    "UNARY_OPERATORS",
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
    "diag",
    "differs",
    "ewise_add",
    "ewise_mult",
    "ewise_union",
    "explain",
    "extract",
    "fusible",
    "get_threads",
    "kronecker",
    "lost",
    "mxm",
    "mxv",
    "nearer",
    "no_worse",
    "power",
    "reduce",
    "select",
    "set_threads",
    "threads",
    "tight",
    "transpose",
    "vxm",
    "within",
]

if TYPE_CHECKING:
    from .algebra.laws import LawCheck, check_laws
    from .cpu.threads import get_threads, set_threads, threads
    from .tuning.choice import Choice, choose
    from .tuning.comparison import Comparison, compare

    __version__: str
else:  # so that a misspelt name of the module stays an error to a type checker
    _named, __dir__ = lazily(__name__)

    def __getattr__(name):
        """A name of the table, or the version, which is looked up when somebody asks."""
        if name != "__version__":
            return _named(name)
        from importlib.metadata import version

        return version("semiring")
