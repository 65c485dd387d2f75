"""Random programs of the language that `fusible` compiles, as Python's source, each reproduced by its seed.

    python -m tests.random_programs 20261122     # prints a program, and how much of it has an effect
    python -m tests.random_programs 0 200        # how many of those programs run, and what they do

A statement is drawn from a grammar, and tried on the state that the statements before it have left: it stays if it runs
without an exception, keeps every variable's type, and leaves no NaN; one without an effect seldom stays. A loop is run
as a whole when it is complete, and likewise stays or not. So nearly all programs run to their end, as written.

Consecutive seeds share a kind, which says semirings, dtypes and formats, as each has machine code of its own.
"""

from __future__ import annotations

import linecache
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np

import semiring
import semiring.vectors
from formats import Matrix, SparseVector, from_edges
from formats.arrays import Device, is_array, to_device
from semiring import MONOIDS, BinaryOp, Semiring

from .strategies import FORMATS, OPTIONS

PER_KIND = 20
"""Consecutive seeds with the same semirings, dtypes and formats."""
TRIES = 12
"""Statements that are tried for a place before it stays empty."""
MADE_SMALL = 3
"""Programs that differ of which only the statements are told that matter."""
IDLE_KEPT = 0.1
"""Share of the statements without an effect, as far as the state so far tells, that stay."""

MinDiff = Semiring(MONOIDS["min"], BinaryOp("absdiff", scalar=lambda a, b: abs(a - b)))
MaxHalf = Semiring(MONOIDS["max"], BinaryOp("less_one", scalar=lambda a, b: min(a, b) - 1))
OWN = ("MinDiff", "MaxHalf")
"""Semirings with operators of the user's own."""

SEMIRINGS = {
    "b": ["LorLand", '"any_pair"', '"lor_first"'],
    "i": ["MinPlus", "MaxMin", "MinFirst", "PlusTimes", '"plus_pair"', '"max_first"', '"min_second"', "MinMax", *OWN],
    "f": ["MinPlus", "MaxMin", "MinFirst", "PlusTimes", '"max_second"', '"plus_first"', '"min_max"', *OWN],
}
"""Semirings by the kind of the dtype."""
ORDERED = {"b": "LorLand", "i": "MinPlus", "f": "MaxPlus"}
"""Semirings of which one at least a program has, as ⊕ orders values."""

# --- the language -----------------------------------------------------------------------------------------------------


def alternatives(text: str) -> dict[str, list[str]]:
    """The alternatives of each name, from lines of `name = one ; another`."""
    found: dict[str, list[str]] = {}
    for line in text.strip("\n").splitlines():
        name, texts = line.split(" = ", 1)
        found.setdefault(name, []).extend(texts.split(" ; "))
    return found


VARIABLES = {
    "X": ["x", "y", "z"],  # dense
    "P": ["p", "q"],  # dense, of Booleans
    "F": ["f", "g"],  # sparse
    "H": ["h"],  # sparse, of Booleans
    "E": ["e"],  # sparse, of int64
    "J": ["j"],  # sparse, each entry its own index
    "C": ["c"],  # dense, of int64
    "S": ["a"],  # a scalar of the vectors' dtype
    "K": ["k"],  # a Python integer
    "L": ["l"],  # dense, written at some places
    "R": ["r"],  # dense, of Booleans, written at some places
    "W": ["w"],  # dense, of int64, which nothing changes
}
NAMES = [name for names in VARIABLES.values() for name in names]

PROLOGUE = """
z = x.copy()
q = x > {n}
g = present(y, {o})
h = one_hot(A, A.nrows // 2)
e = ones(f)
j = nonzero(p)
c = degrees(A).copy()
k = 0
l = densified(g, {o})
r = p.copy()
w = hashed(all_vertices(A), {n}) % 5 - 1
"""

EXPRESSIONS = alternatives("""
n = 0 ; 1 ; 1 ; 2 ; 2 ; 3 ; 5
matrix = A ; A ; A ; B ; A.T ; A.T ; B.T
cmp = < ; < ; <= ; > ; >= ; == ; !=
quoted = "<" ; "<=" ; ">" ; "!=" ; "==" ; better({o}) ; no_worse({o})
binary = "min" ; "max" ; "plus" ; "second" ; "first" ; "minus" ; "times" ; {s}
monoid = "min" ; "max" ; "plus" ; {s}
number = {n} ; {n} ; {S} ; {K}
function = "ainv" ; "abs" ; "one" ; lambda v: v + 1 ; lambda v: np.minimum(v, 3) ; lambda v: v * 2 - 1
flags = {P} ; {P} ; {P} ; ~{P} ; {P} & {P} ; {P} | ~{P} ; {P} ^ {P}
flags = {X} {cmp} {number} ; {X} {cmp} {X} ; {C} {cmp} {n} ; ({X} > {n}) & {P}
mask = {flags} ; {flags} ; {F} ; {H} ; {J} ; {F}.pattern() ; {E}
rule =  ;  ; , mask={mask} ; , mask={mask} ; , mask={mask}, complement=True
write = {rule} ; {rule}, accum={binary} ; , mask={mask}, replace=True ; , mask={mask}, accum={binary}, replace=True
write = , mask={mask}, complement=True, accum={binary} ; , mask={mask}, complement=True, replace=True
array = {X} + {number} ; {X} - {number} ; {X} * {number} ; {X} // 2 ; {X} / 2 ; {X} + {X} ; {X} - {X} ; -{X}
array = abs({X}) ; np.minimum({X}, {X}) ; np.maximum({X}, {number}) ; np.where({flags}, {X}, {X}) ; {X} * {P}
array = either({flags}, {X}, {number}) ; densified({F}, {o}) ; full({X}, {n}, {X}.dtype) ; {X}.copy()
array = all_vertices(A).astype({X}.dtype)
sparse = masked({X}, {flags}) ; masked({X}, {F}) ; masked({X}, {J}) ; present({X}, {o}) ; first_entry({F})
sparse = select({F}, {quoted}, {number}{rule}) ; select({F}, {quoted}, {X}{rule}) ; unit(A, {n} % A.nrows, {o})
sparse = apply({F}, {function}{rule}) ; ewise_add({F}, {F}, {binary}{rule}) ; ewise_mult({F}, {F}, {binary}{rule})
sparse = ewise_mult({F}, {X}, {binary}{rule}) ; select({F}, lambda v, i: (v + i) % 3 > 0)
sparse = vxm({F}, {matrix}, {s}{rule}) ; vxm({F}, {matrix}, {s}{rule}) ; mxv({matrix}, {F}, {s}{rule})
sparse = select(vxm({F}, {matrix}, {s}), {quoted}, {X}) ; apply({F}, {binary}, right={n})
dense = vxm({X}, {matrix}, {s}{rule}) ; mxv({matrix}, {X}, {s}{rule}) ; ewise_add({X}, {F}, {s}{rule})
dense = ewise_add({X}, {X}, {binary}{rule}) ; ewise_mult({X}, {X}, {binary}{rule}) ; apply({X}, {function}{rule})
dense = select({X}, {quoted}, {number}, semiring={s}{rule}) ; apply({X}, {binary}, left={n})
counts = {C} + 1 ; {C} + {P} ; hashed(all_vertices(A), {K}) % 7 ; np.maximum({C} - {n}, 0) ; {C} * {P}
counts = vxm({E}, A, "plus_pair").to_dense(0) ; degrees(A).copy() ; np.where({flags}, {C}, {n})
value = reduce({X}, {monoid}) ; reduce({F}, {monoid}) ; {X}.max() ; {X}.min() ; {X}[{n} % A.nrows] ; -{S}
integer = {K} + 1 ; {F}.nnz ; nvals({P}) ; nvals({J}) ; int({C}.sum()) ; max({K}, {n}) ; int(element({X}, 0))
integer = int(reduce({C}, "max")) ; {K} % 5 ; min({K} * 2, 9) ; len({F})
condition = not is_empty({F}) ; {F}.nnz > {n} ; ({flags}).any() ; nvals({P}) > {n} ; {K} % 2 == 0 ; {K} {cmp} {n}
condition = {S} {cmp} {n} ; (is_empty({J}) or {K} > 1) ; {F}.nnz {cmp} {H}.nnz ; not ({flags}).all() and {C}.sum() > {n}
statement = {F} = {sparse} ; {F} = {sparse} ; {F} = {sparse} ; {F} = {sparse} ; {X} = {dense} ; {X} = {dense}
statement = {X} = {array} ; {X} = {array} ; {X} = {dense} ; {P} = {flags} ; {P} = {flags} ; {C} = {counts}
statement = {S} = {value} ; {K} = {integer} ; {K} += 1 ; {X} = {X} ; {F}, {F} = {F}, {F} ; {X}, {X} = {X}, {X}
statement = vxm({F}, {matrix}, {s}, out={F}{write}) ; mxv({matrix}, {X}, {s}, out={X}{write})
statement = vxm({F}, {matrix}, {s}, out={X}{write}) ; ewise_mult({F}, {F}, {binary}, out={F}{write})
statement = ewise_add({X}, {F}, {s}, out={X}{write}) ; ewise_add({X1}, {F}, {s}, out={X1})
statement = select({F}, {quoted}, {X}, out={F}{write}) ; apply({X}, {function}, out={X}{write})
statement = assign({X}, {number}, mask={mask}) ; assign({X}, {number}{write}) ; assign({F}, {n}, mask={mask})
statement = assign({P}, {flags}{rule}) ; assign({X}, {X}, mask={mask}) ; {P} &= {flags} ; {P} |= {flags}
statement = scatter({X}, {F}) ; scatter({X}, {mask}, {n}) ; scatter({P}, {F}, True) ; scatter({P}, {J}, False)
statement = scatter({X}, {flags}, {X}) ; scatter_add({X}, {F}) ; scatter_sub({C}, {E}) ; scatter_add({C}, {E})
statement = {X}[{flags}] = {number} ; {X}[{n} % A.nrows] = {n} ; {C}[{flags}] += 1 ; {X} += {number} ; {C} -= {flags}
statement = {E} = ones({F}) ; {E} = vxm(ones({F}), {matrix}, "plus_pair"{rule}) ; {J} = nonzero({flags})
statement = {J} = nonzero({F}) ; {H} = one_hot(A, {n} % A.nrows) ; {H} = ones(nonzero({flags}), bool)
statement = {H} = ones({F}, bool) ; {H} = vxm({H}, {matrix}, "any_pair"{rule})
statement = scatter({L}, {F}) ; scatter({L}, {mask}, {n}) ; scatter_add({L}, {F}) ; {L}[{n} % A.nrows] = {number}
statement = scatter({R}, {mask}, False) ; scatter({R}, {J}, False) ; scatter({R}, {H}, True) ; {R}[{flags}] = False
statement = ewise_add({L}, {F}, {o1}, out={L}) ; {J} = nonzero({R} & ({flags})) ; {J} = nonzero({W} == {K})
sparse = present({L}, {o}) ; present(select({L}, {quoted}, {n}, semiring={o1}), {o1}) ; masked({X}, {R})
sparse = masked({L}, {flags} & {R}) ; masked({L} + {n}, {W} == {K} - 1) ; masked({X}, ({W} == {n}) & {P})
flags = {R} & {P} ; {L} > 0 ; {W} == {K}
value = reduce({L}, {monoid}) ; reduce({L}, {o})
integer = nvals({R}) ; nvals({R} & {P}) ; int({W}[{n} % A.nrows])
condition = {R}.any() ; nvals({R}) > {n} ; ({L} != 0).any()
statement = {F1}, {X1} = relaxed({F1}, {X1}, {matrix}) ; {K}, {P1} = counted({flags}, {P1})
""")
"""The alternatives for each expression. One that is named with a digit is the same in all of a statement's places."""

EXPRESSIONS["statement"] += [
    "{F1} = select(vxm({F1}, {matrix}, {o1}), better({o1}), {X1})\newise_add({X1}, {F1}, {o1}, out={X1})",
    'scatter({P1}, {H1}, True)\n{H1} = vxm({H1}, {matrix}, "any_pair", mask={P1}, complement=True)',
    "t = vxm({X1}, {matrix}, {s1}{rule})\n{P} = t {cmp} {X1}\n{X1} = ewise_add({X1}, t, {s1})",
    "t = gather({X}, {J1})\n{J1} = indices(gather({J1}.indices, t {cmp} {n}), A.nrows)",
    't = masked({X1}, {flags})\n{S} = reduce(t, {monoid})\n{F} = select(t, "==", {S})',
]

HELPERS = """
def relaxed(f, d, M):
    t = vxm(f, M, {o1})
    f = select(t, better({o1}), d)
    d = ewise_add(d, f, {o1})
    return f, d


def counted(flags, old):
    both = flags | old
    return nvals(both), both
"""

LOOPS = [
    ("for {i} in range({bound}):",),
    ("for {i} in range({bound}):", "{K1} = {K1} + {i}"),
    ("for {i} in count():", "if {i} >= {bound} or {condition}:\n    break"),
    ("while {i} < {bound} and {condition}:", "{i} += 1"),
    ("while not is_empty({F}) and {i} < {bound}:", "{i} += 1"),
    ("while True:", "{i} += 1", "if {i} > {bound}:\n    break"),
]
"""Loops: their heads, and the statements that they begin with."""


@dataclass
class Node:
    """A statement: its lines without those inside, and these.

    ends: true of a statement without which a loop would not end.  simple: false where it has some inside.
    """

    head: str
    body: list[Node] = field(default_factory=list)
    ends: bool = False

    @property
    def simple(self) -> bool:
        return not self.body and not self.head.endswith(":")


def lines(nodes: Iterable[Node], indent: str = "") -> Iterator[tuple[str, Node]]:
    """Yields the program's lines, and which statement each is of."""
    for node in nodes:
        yield from ((indent + line, node) for line in node.head.splitlines())
        if node.head.endswith(":"):
            yield from lines(node.body or [Node("pass")], indent + "    ")


# --- state ------------------------------------------------------------------------------------------------------------

State = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A matrix's dtype, the vectors', two formats, and semirings as the source spells them."""

    matrix: np.dtype
    vectors: np.dtype
    formats: tuple[type[Matrix], ...]
    semirings: list[str]

    @classmethod
    def of(cls, seed: int) -> Kind:
        rng = np.random.default_rng([seed // PER_KIND, 1])
        matrix = np.dtype(rng.choice(["bool", "int32", "int64", "float32", "float64"]))
        vectors = np.dtype(rng.choice(["bool", "int32", "int64"])) if matrix.kind == "b" else matrix
        by_pattern = vectors != matrix
        known = SEMIRINGS[vectors.kind]
        if by_pattern:
            known = ["MinFirst", '"max_first"', '"plus_pair"', '"plus_first"']
        chosen = [known[k] for k in rng.permutation(len(known))[:2]]
        ordered = "MinFirst" if by_pattern else ORDERED[vectors.kind]
        formats = tuple(FORMATS[k] for k in rng.permutation(len(FORMATS))[:2])
        return cls(matrix, vectors, formats, [ordered, *chosen])


def arguments(seed: int, kind: Kind) -> State:
    """What a program is called with: two matrices, vectors of both sorts, and a scalar."""
    rng = np.random.default_rng([seed, 2])
    n = int(rng.choice([1, 2, 5, 12, 30, 60, 200]))

    def numbers(size: int, dtype: np.dtype = kind.vectors) -> Any:
        drawn = rng.integers(-2 if rng.random() < 0.3 else 0, 7, size)
        return (drawn / 2 if dtype.kind == "f" and rng.random() < 0.5 else drawn).astype(dtype)

    def matrix(fmt: type[Matrix]) -> Matrix:
        m = int(n * rng.choice([0.5, 1.5, 3, 6])) + 1
        u, v = rng.integers(0, n, (2, m))
        A = from_edges(u, v, numbers(m, kind.matrix), shape=n, dup="max")
        return A.to(fmt, **OPTIONS.get(fmt, {}))

    some = np.sort(rng.permutation(n)[: 1 + n // 3])
    return {
        "A": matrix(kind.formats[0]),
        "B": matrix(kind.formats[1]),
        "x": numbers(n),
        "y": numbers(n),
        "p": rng.random(n) < 0.5,
        "f": SparseVector(some, numbers(some.size), n),
        "a": kind.vectors.type(rng.integers(1, 4)),
    }


def copied(state: State) -> State:
    """The state with arrays of its own, where two names of one array stay two names of one."""
    memo: dict[int, Any] = {}

    def own(x: Any) -> Any:
        if id(x) not in memo:
            if isinstance(x, SparseVector):
                memo[id(x)] = SparseVector.trusted(x.indices.copy(), x.values.copy(), x.size)
            else:
                memo[id(x)] = x.copy() if isinstance(x, np.ndarray) else x
        return memo[id(x)]

    return {name: own(x) for name, x in state.items()}


def placed(x: Any, device: Device) -> Any:
    """A matrix, a vector or an array on a device; a scalar as it is."""
    if isinstance(x, Matrix | SparseVector):
        return x.to(device=device)
    return to_device(x, device) if isinstance(x, np.ndarray) else x


def bits(x: Any) -> Any:
    """The bits of a value, to compare it: dtype, shape and bytes of its arrays."""
    if isinstance(x, tuple | list):
        return tuple(bits(part) for part in x)
    if isinstance(x, SparseVector):
        return "sparse", x.size, bits(x.indices), bits(x.values)
    if isinstance(x, Matrix):
        return type(x).__name__, x.shape, bits(x.arrays)
    array = np.asarray(to_device(x, "cpu") if is_array(x) else x)
    return array.dtype.str, array.shape, array.tobytes()


def typed(state: State) -> dict[str, Any]:
    """The type of every variable: dense or sparse, and of which dtype; of a scalar Python's."""
    return {
        name: (type(x), x.dtype, x.size) if isinstance(x, SparseVector | np.ndarray) else type(x)
        for name, x in state.items()
        if name in NAMES
    }


def sound(state: State) -> bool:
    """False if there is a NaN, of which verbs promise nothing."""
    arrays = (np.asarray(getattr(state[name], "values", state[name])) for name in NAMES if name in state)
    return not any(np.isnan(array).any() for array in arrays if array.dtype.kind == "f")


# --- programs ---------------------------------------------------------------------------------------------------------


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass
class Program:
    """A program, with what it is called with."""

    seed: int
    kind: Kind
    helpers: str
    nodes: list[Node]

    @property
    def source(self) -> str:
        body = "\n".join(f"    {line}" for line, _ in lines(self.nodes))
        given = ", ".join(arguments(self.seed, self.kind))
        found = ", ".join(name for name in NAMES if re.search(rf"\b{name}\b", given + body))
        helpers = "".join(f"{text}\n\n\n" for text in self.helpers.split("\n\n\n") if text[4:11] in body)
        return f"{helpers}def program({given}):\n{body}\n    return {found}\n"

    @property
    def function(self) -> Callable[..., Any]:
        """The program as a function whose source `inspect` finds."""
        name = f"<random program {self.seed}, {crc32(self.source.encode()):x}>"
        linecache.cache[name] = len(self.source), None, self.source.splitlines(keepends=True), name
        module = ModuleType(f"random_program_{self.seed}")
        module.__dict__.update(meanings())
        exec(compile(self.source, name, "exec"), module.__dict__)
        return module.program

    def run(self, function: Callable[..., Any], device: Device = "cpu") -> Any:
        """The bits of what a function returns, and of what it leaves in its arguments; or the exception's type."""
        given = {name: placed(x, device) for name, x in copied(arguments(self.seed, self.kind)).items()}
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = function(*given.values())
        except Exception as error:
            return type(error).__name__
        return bits(answer), bits(tuple(given.values()))

    def results(self, *decorators: Decorator) -> list[Any]:
        """The results as written, and of the decorated functions."""
        return [self.run(self.function), *(self.run(decorate(self.function)) for decorate in decorators)]

    @property
    def removable(self) -> list[Node]:
        """The statements without those that end loops, what is around others before these."""
        nodes = {id(node): node for _, node in lines(self.nodes)}
        return [node for node in nodes.values() if not node.ends and node.head != "pass"]

    def __str__(self) -> str:
        return f"seed {self.seed}, {self.kind}:\n{self.source}"

    def without(self, node: Node) -> Program:
        """The program without one statement."""

        def left(nodes: list[Node]) -> list[Node]:
            return [Node(each.head, left(each.body), each.ends) for each in nodes if each is not node]

        return Program(self.seed, self.kind, self.helpers, left(self.nodes))


def meanings() -> State:
    """What the names in a program mean."""
    names = [name for name in dir(semiring.vectors) if not name.startswith("_")]
    found = {name: getattr(semiring.vectors, name) for name in names} | {
        n: getattr(semiring, n) for n in semiring.__all__
    }
    return found | {"np": np, "count": count, "MinDiff": MinDiff, "MaxHalf": MaxHalf}


class Writer:
    """Draws a program, statement by statement, and runs each as soon as it is drawn."""

    def __init__(self, seed: int) -> None:
        self.seed, self.kind = seed, Kind.of(seed)
        self.rng = np.random.default_rng([seed, 3])
        self.loops = 0
        kind = self.kind
        self.words = EXPRESSIONS | VARIABLES | {"s": kind.semirings, "o": [s for s in kind.semirings if s[0] != '"']}
        self.helpers = self.drawn(HELPERS.strip("\n"))
        self.globals = meanings()
        exec(self.helpers, self.globals)
        self.state = copied(arguments(seed, self.kind))

    def program(self) -> Program:
        nodes = []
        for text in PROLOGUE.strip().splitlines():
            nodes.append(Node(self.drawn(text)))
            self.execute(nodes[-1:])
        self.types = typed(self.state)
        nodes += self.block(int(self.rng.integers(1, 4)), depth=2)
        for _ in range(int(self.rng.integers(1, 3))):
            nodes += self.loop(depth=0)
            nodes += self.block(int(self.rng.integers(0, 2)), depth=2)
        return Program(self.seed, self.kind, self.helpers, nodes)

    def drawn(self, text: str, same: dict[str, str] | None = None) -> str:
        """The text with all expressions in braces drawn."""
        same = {} if same is None else same

        def expression(found: re.Match[str]) -> str:
            name = found[1]
            if name not in same or name in self.words:
                choices = self.words[name.rstrip("0123456789")]
                same[name] = self.drawn(choices[self.rng.integers(len(choices))], same)
            return same[name]

        return re.sub(r"\{(\w+)\}", expression, text)

    def execute(self, nodes: list[Node]) -> None:
        """Run statements on the state."""
        text = "\n".join(line for line, _ in lines(nodes))
        with np.errstate(all="ignore"):
            exec(compile(text, "<drawn>", "exec"), self.globals, self.state)

    def block(self, size: int, depth: int) -> list[Node]:
        """About so many statements, which have been run once."""
        nodes: list[Node] = []
        for _ in range(size):
            chance = self.rng.random()
            if depth < 2 and chance < 0.12:
                nodes += self.loop(depth)
            elif chance < 0.25:
                nodes += self.branch(depth)
            else:
                nodes += self.statement()
        return nodes

    def statement(self) -> list[Node]:
        for _ in range(TRIES):
            node = Node(self.drawn("{statement}"))
            if self.accepted([node]):
                return [node]
        return []

    def accepted(self, nodes: list[Node]) -> bool:
        """Run statements; False, and the state as it was, if they are not to stay."""
        before = copied(self.state)
        try:
            self.execute(nodes)
        except Exception:
            self.state = before
            return False
        self.state.pop("t", None)
        keeps = all(typed(self.state).get(name) == kind for name, kind in self.types.items())
        changed = any(bits(self.state[name]) != bits(before[name]) for name in NAMES)
        if keeps and sound(self.state) and (changed or self.rng.random() < IDLE_KEPT):
            return True
        self.state = before
        return False

    def branch(self, depth: int) -> list[Node]:
        """An `if`, now and then with `elif` or `else`; its parts are all run once, and then as they are meant."""
        before = copied(self.state)
        nodes = [Node(self.drawn("if {condition}:"), self.block(int(self.rng.integers(1, 3)), max(depth, 1)))]
        for head, chance in (("elif {condition}:", 0.2), ("else:", 0.4)):
            if self.rng.random() < chance:
                nodes.append(Node(self.drawn(head), self.block(1, 2)))
        self.state = before
        return nodes if all(node.body for node in nodes) and self.accepted(nodes) else []

    def loop(self, depth: int) -> list[Node]:
        """A loop that goes round at least twice, as the state is."""
        before = copied(self.state)
        for _ in range(TRIES):
            i, nodes = self.some_loop(depth)
            if nodes and self.accepted(nodes) and self.state[i] >= 1 + nodes[-1].head.startswith("while"):
                return nodes
            self.state = copied(before)
        return []

    def some_loop(self, depth: int) -> tuple[str, list[Node]]:
        """Draws (its counter, a loop with what begins it), which may end early, or a round of it."""
        before = copied(self.state)
        same = {"i": f"i{self.loops}", "bound": str(self.rng.integers(2, 7))}
        self.loops += 1
        head, *ends = (self.drawn(text, same) for text in LOOPS[self.rng.integers(len(LOOPS))])
        self.state[same["i"]] = 1
        body = self.block(int(self.rng.integers(3, 8)), depth + 1)
        self.state = before
        if self.rng.random() < 0.3:
            leave = self.drawn("if {condition}:\n    ") + str(self.rng.choice(["break", "continue"]))
            body.insert(int(self.rng.integers(len(body) + 1)), Node(leave))
        start = [] if head.startswith("for") else [Node(same["i"] + " = 0")]
        return same["i"], [*start, Node(head, [*(Node(text, ends=True) for text in ends), *body])] if body else []


def program(seed: int) -> Program:
    """The program of a seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Writer(seed).program()


# --- what tests ask ---------------------------------------------------------------------------------------------------


def differing(seeds: Iterable[int], decorate: Decorator) -> list[str]:
    """The programs whose decorated function does not give what they give as written; the first ones are made small."""
    found = [p for p in map(program, seeds) if len(set(p.results(decorate))) > 1]
    return [str(reduced(p, decorate) if k < MADE_SMALL else p) for k, p in enumerate(found)]


def reduced(p: Program, decorate: Decorator) -> Program:
    """The program without what it needs not in order to run as written, and to differ; its end is looked at first."""
    before = 0
    while before != len(p.removable):
        before = len(p.removable)
        for at in reversed(range(before)):
            if at < len(p.removable) and still_differs(smaller := p.without(p.removable[at]), decorate):
                p = smaller
    return p


def still_differs(p: Program, decorate: Decorator) -> bool:
    try:
        written, decorated = p.results(decorate)
    except SyntaxError:  # an `else` without its `if`
        return False
    return written != decorated and not isinstance(written, str)


SHARES = (
    ("run", "statements"),
    ("run again", "statements"),
    ("effective", "statements"),
    ("empty", "frontiers"),
    ("constant", "states"),
)
"""Counts of `effects`, and those that they are shares of."""


def effects(p: Program) -> Counter[str]:
    """How many statements there are, are run, and change something; what loops and frontiers do."""
    found: Counter[str] = Counter()
    nodes = {id(node): node for _, node in lines(p.nodes) if node.simple}
    ran: Counter[int] = Counter()
    effective: set[int] = set()
    last: State = {}

    def saw(identity: int, state: State) -> None:
        ran[identity] += 1
        now = {name: bits(x) for name, x in state.items() if name not in ("A", "B")}
        if any(last.get(name) != value for name, value in now.items()):
            effective.add(identity)
        last.clear()
        last.update(now)
        found["frontiers"] += 1
        found["empty"] += is_zero(state.get("f"))
        found["states"] += 1
        found["constant"] += all(is_zero(state.get(name)) for name in ("x", "y", "z"))

    watched = Program(p.seed, p.kind, p.helpers, _watched(p.nodes))
    function = watched.function
    function.__globals__["saw"] = saw
    if isinstance(watched.run(function), str):
        found["failed"] += 1
    found["statements"] += len(nodes)
    found["run"] += len(ran)
    found["run again"] += sum(times > 1 for times in ran.values())
    found["effective"] += len(effective)
    return found


def is_zero(x: Any) -> bool:
    """True for a sparse vector without entries, and a dense one without two different numbers."""
    return x is None or (x.nnz == 0 if isinstance(x, SparseVector) else x.size > 1 and bool((x == x[0]).all()))


def _watched(nodes: list[Node]) -> list[Node]:
    """The statements, with a look at the state after each simple one."""
    found = []
    for node in nodes:
        found.append(Node(node.head, _watched(node.body), node.ends))
        if node.simple and not node.head.startswith("if"):
            found.append(Node(f"saw({id(node)}, locals())"))
    return found


def tell(seeds: range) -> None:
    """Print one program, or what many do."""
    if len(seeds) == 1:
        print(program(seeds[0]).source)
    total = sum((effects(program(seed)) for seed in seeds), Counter[str]())
    print(f"{len(seeds)} programs of {total['statements']} statements, {total['failed']} end in an exception")
    for what, of in SHARES:
        print(f"{total[what] / total[of]:.0%} of the {of}: {what}")


if __name__ == "__main__":
    first, number = (*map(int, sys.argv[1:]), 1)[:2]
    tell(range(first, first + number))
