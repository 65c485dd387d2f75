"""A loop of a program at run time: what it reads is looked at, and the loop runs compiled, or not at all.

What a loop changes is copied before, and written back once the compiled function has come to its end. So where it
cannot go on, the loop runs as written from where it began.
"""

from __future__ import annotations

import ast
import builtins
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from types import FunctionType
from typing import Any

import numpy as np

from formats import CSC, CSR, DTYPES, Matrix, SparseVector, host_pool
from formats.arrays import index_dtype, is_array, place_of
from formats.places import HOST, Place
from formats.storage.orientation import compressed

from .. import vectors
from ..cpu.compiler.references import interrupted
from ..cpu.crew import crew
from ..cpu.kernels import compiled
from ..cpu.threads import MIN_ENTRIES_FOR_THREADS, get_threads
from ..kernels.interrupts import interruptible
from ..verbs.operands import typed_matrix
from .apart import apart
from .fixpoints import Fixpoint, LevelSearch, is_writeable, recognised
from .functions import Translator
from .phases import by_value
from .translator import CAPACITY, FIRST_EXIT, RUN_AS_WRITTEN, TOO_LONG, Plan, Restart, assigned_in
from .values import WEAK, Constant, Dense, MatrixValue, Number, Sparse, Type, Unfit

MAX_ATTEMPTS = 24
"""How often a loop is translated anew as its types are found."""
REFUSED = "is refused by the compiler"
"""The beginning of the reason where there is no better one."""
MAX_LINES = 300
"""Lines of a compiled function: a longer one takes many seconds to compile."""
FEW_ROUNDS, SMALL = np.int64(1 << 10), 1 << 14
"""Rounds of loops that the main thread may run, with vectors and matrices of so many elements and entries in all."""
ROOMS = "array", "indices", "values", "scratch", "order", "flags"
"""Parameters of a compiled function that are arrays of its own."""
VALUES = 1 << 12
"""Number of lists of the places of each value of a vector, a power of two."""
LINE = 64
"""Bytes of a cache line, where each of them begins."""
SECONDS_PER_THING = 5e-9
"""Seconds of a round for each vertex and entry of its matrices, from which on a fixpoint in it has found much to do."""
MAX_REFUSED = 3
"""Rounds of a loop in one call after which it is not tried again."""
ON_GPU = "semiring.fusing.launch"
"""The module of loops on a GPU, which is imported when the first of them runs."""
SCALARS = {dtype.name: dtype.type for dtype in DTYPES}


def exits_of(loop: ast.AST) -> list[ast.stmt]:
    """The statements by which a loop leaves the function."""
    return [node for node in ast.walk(loop) if isinstance(node, ast.Return | ast.Raise)]


listing = compiled(by_value)


class Compiled:
    """A loop for arguments of certain types: the compiled function, and what it takes and gives."""

    def __init__(self, translator: Translator, text: str, exits: list[ast.stmt]) -> None:
        self.text, self.plan, self.wanted = text, translator.plan, translator.wanted
        self.parameters, self.inputs = list(translator.parameters.values()), translator.inputs
        self.names = list(translator.parameters)
        self.assumptions, self.told, self.notes = translator.assumptions, translator.told, translator.notes
        self.results = list(enumerate(dtype for _, dtype in translator.results()))
        self.given = {name for name in translator.inputs if translator.is_given(name)}
        self.exits = [exits.index(node) for node in translator.exits]
        self.kernel = self.made(translator)

    def made(self, translator: Translator) -> Any:
        """Compile the text."""
        scope = {**SCALARS, **translator.namespace, "uintp": np.uintp, "interrupted": interrupted, "sqrt": np.sqrt}
        scope |= {"INF": np.inf, "INT64_MIN": np.int64(-(2**63)), "__name__": __name__}
        exec(compile(apart(self.text), "<program>", "exec"), scope)
        return compiled(scope["program"])

    def holds(self) -> bool:
        """True if what was found in functions' scopes is still there."""
        return all(scope.get(name) is value for scope, name, value in self.assumptions)


class Region:
    """A loop of a user's function.  read: the names that the function reads outside."""

    def __init__(self, function: FunctionType, loop: Any, read: set[str], written: set[str]) -> None:
        self.function, self.loop, self.read, self.written = function, loop, read, written
        self.assigned = assigned_in([loop])
        self.exits = exits_of(loop)
        self.loads = sorted({node.id for node in ast.walk(loop) if isinstance(node, ast.Name)})
        self.known: dict[Any, Compiled | Unfit] = {}
        self.fixpoints: dict[Any, Fixpoint | LevelSearch | None] = {}
        self.inner: list[Region] = []
        self.refused, self.since = 0, 0.0
        self.told, self.notes = "", dict[int, list[str]]()
        self.lines = f"lines {loop.lineno}-{loop.end_lineno}"

    def __call__(self, local: dict[str, Any]) -> dict[str, Any] | None:
        """Run the loop compiled: what it gives its names, and which exit it takes; None if it must run as written."""
        if self.refused > MAX_REFUSED:
            return None
        values = self.values(local)
        key, inputs = described(values)
        if key not in self.fixpoints:
            self.fixpoints[key] = recognised(self.loop, values, self.assigned, self.read)
        fixpoint = self.fixpoints[key]
        if fixpoint is not None and (answer := fixpoint.run(values)) is not None:
            self.told = fixpoint.told
            return answer
        if fixpoint is None and self.is_around_fixpoints(values):
            self.told = "runs as written, around a fixpoint"
            return None
        if any(isinstance(x, Matrix) and (x.in_parts or x.streams) for x in values.values()):
            self.refuse("of strips, on several GPUs or from disk, only fixpoints are compiled: it goes verb by verb")
            return None
        found = self.known.get(key)
        backend = backend_of(place_of_all(values))
        if found is None or (isinstance(found, Compiled) and not found.holds()):
            found = self.known[key] = self.compiled(inputs, backend)
        if isinstance(found, Compiled):
            try:
                answer = backend.frame(found, values).run()
            except Exception as error:
                found = self.known[key] = refused(error)
        if isinstance(found, Unfit):
            self.refuse(f"it {found}")
            return None
        if answer is None:
            self.refuse("compiled it ended early, at what is an error as written, or what only NumPy does")
            return None
        self.refused = 0
        self.told = "compiled: " + (", ".join(found.told) or "element by element")
        self.notes = found.notes
        return answer

    def is_around_fixpoints(self, values: dict[str, Any]) -> bool:
        """True while each round has a fixpoint in it, and takes so long that its other statements do not count."""
        things = sum(x.nnz + x.nrows for x in values.values() if isinstance(x, Matrix))
        since, self.since = self.since, perf_counter()
        if since and self.since - since < SECONDS_PER_THING * things:
            return False
        known = dict.fromkeys(self.assigned) | values
        fixpoints = (recognised(each.loop, known, each.assigned, each.read) for each in self.inner)
        return things >= SMALL and any(isinstance(each, Fixpoint) for each in fixpoints)

    def refuse(self, why: str) -> None:
        """Tell why the loop runs as written."""
        self.refused += 1
        self.told = f"runs as written: {why}"

    def values(self, local: dict[str, Any]) -> dict[str, Any]:
        """The objects that the names of the loop stand for now."""
        found = {}
        function = self.function
        free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for name in self.loads:
            if name in local:
                found[name] = local[name]
            elif name in free:
                with suppress(ValueError):  # it has no value yet
                    found[name] = free[name].cell_contents
            elif name not in function.__code__.co_varnames and name not in self.assigned:
                for scope in (function.__globals__, vars(builtins)):
                    if name in scope:
                        found[name] = scope[name]
                        break
        return found

    def compiled(self, inputs: dict[str, Any], backend: Backend) -> Compiled | Unfit:
        """The loop for inputs of these types, or why there is none."""
        plan, before = Plan(), ""
        plan.elsewhere = self.written
        try:
            for _ in range(MAX_ATTEMPTS):
                changed = {name for name in plan.changed if name in inputs}
                t = backend.translator(self.loop, inputs, self.assigned | changed, self.read | changed, plan)
                try:
                    text = t.translate()
                except Restart:
                    continue
                if text.count("\n") > MAX_LINES:
                    raise Unfit(f"is long: compiled it would have {text.count(chr(10))} lines")
                if text == before:
                    return backend.compiled(t, text, self.exits)
                before = text
            raise Unfit("has variables whose types cannot be found")
        except Unfit as error:
            line = getattr(error, "line", None)
            return Unfit(f"{error}" if line is None else f"{error} (line {line})")
        except Exception as error:
            return refused(error)


def refused(error: Exception) -> Unfit:
    """Why a loop runs as written that the compiler should have taken, or should have refused with a reason."""
    return Unfit(f"{REFUSED}: {type(error).__name__}: {' '.join(str(error).split())[:200]}")


def described(values: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Returns what a compiled loop depends on, and what each name means to the translator."""
    inputs: dict[str, Any] = {}
    key: list[Any] = []
    capacity, place = 1, place_of_all(values)
    for name, value in values.items():
        if type(value) in WEAK:
            inputs[name] = Number(WEAK[type(value)], "", True)
            key.append((name, type(value)))
        elif is_array(value) and value.ndim == 1 and value.dtype in DTYPES and place_of(value) == place:
            inputs[name] = Dense(value.dtype, "", "")
            key.append((name, "dense", value.dtype))
            capacity = max(capacity, value.size)
        elif isinstance(value, SparseVector) and value.place == place:
            inputs[name] = Sparse(value.dtype, "", "", "", "", True)
            key.append((name, "sparse", value.dtype))
            capacity = max(capacity, value.size)
        elif isinstance(value, Matrix) and value.place == place and not value.in_parts and not value.streams:
            in_order = place.on_host and isinstance(value, CSR | CSC)
            inputs[name] = MatrixValue(name, value.dtype, (f"r_{name}_0", f"r_{name}_1"), False, in_order)
            key.append((name, type(value), value.dtype))
            capacity = max(capacity, *value.shape)
        elif isinstance(value, np.generic) and value.dtype in DTYPES:
            inputs[name] = Number(value.dtype, "", False)
            key.append((name, value.dtype))
        else:
            token = token_of(value)
            inputs[name] = Constant(value)
            key.append((name, token))
    dtype = index_dtype(capacity)
    inputs[CAPACITY] = Constant(dtype)
    return (tuple(key), dtype, place), inputs


@dataclass(frozen=True)
class Backend:
    """Makes compiled loops for one kind of place: what translates, compiles and runs them."""

    translator: type[Translator]
    compiled: type[Compiled]
    frame: type[Frame]


def backend_of(place: Place) -> Backend:
    """Returns what compiles loops whose vectors and matrices are in a place."""
    if place.on_host:
        return Backend(Translator, Compiled, Frame)
    return import_module(ON_GPU).ON_GPU


def place_of_all(values: dict[str, Any]) -> Place:
    """The place of the matrices and vectors that a loop reads: a GPU if any is there."""
    places = [place_of(x) for x in values.values() if is_array(x) or isinstance(x, Matrix | SparseVector)]
    return next((place for place in places if not place.on_host), HOST)


def token_of(value: Any) -> Any:
    """Something that is equal for objects of which a program is compiled alike."""
    if is_array(value) or isinstance(value, Matrix | SparseVector):
        return type(value), value.dtype
    if isinstance(value, FunctionType):
        cells = tuple(token_of(cell.cell_contents) for cell in value.__closure__ or ())
        return value.__code__, id(value.__globals__), cells
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return type(value), value


class Frame:
    """One run of a compiled loop. Its arrays lie in one block, but for those that the caller gets."""

    def __init__(self, compiled: Compiled, values: dict[str, Any]) -> None:
        self.compiled, self.now = compiled, values
        self.block, self.used = np.empty(0, np.uint8), 0
        self.xp: Any = np
        sizes = [x.size for x in values.values() if isinstance(x, SparseVector) or (is_array(x) and x.ndim == 1)]
        extents = [extent for x in values.values() if isinstance(x, Matrix) for extent in x.shape]
        self.most = max([1, *sizes, *extents])
        self.index = compiled.inputs[CAPACITY].value

    def run(self) -> dict[str, Any] | None:
        """The values of names after the loop; None if it must run as written."""
        changed = [self.now[name] for name in self.compiled.plan.changed if name in self.now]
        if self.shared(changed):
            return None
        code = TOO_LONG
        try:
            if self.is_small():
                named = self.arguments() | {"rounds": FEW_ROUNDS}
                code = self.called(named)
            if code == TOO_LONG:  # what changes is in arrays of the call's own, which are made anew
                named = self.arguments()
                code = self.carried_out(named)
        except OverflowError:  # a Python number that 64 bits do not hold
            return None
        if code in (RUN_AS_WRITTEN, TOO_LONG):
            return None
        numbers = (named["floats" if dtype.kind == "f" else "integers"][k] for k, dtype in self.compiled.results)
        found = self.results(named, numbers)
        found["exit"] = self.compiled.exits[code - FIRST_EXIT] if code >= FIRST_EXIT else None
        return found

    def carried_out(self, arguments: dict[str, Any]) -> Any:
        """Call the compiled function so that Ctrl-C ends it."""
        return interruptible(lambda: self.called(arguments))

    def is_small(self) -> bool:
        """True if a few rounds take so little that the main thread may run them, which hears no Ctrl-C meanwhile."""
        return self.most + max((x.nnz for x in self.now.values() if isinstance(x, Matrix)), default=0) < SMALL

    def arguments(self) -> dict[str, Any]:
        """The arguments of the compiled function, by name."""
        parameters = self.compiled.parameters
        lines = sum(told[0] in ROOMS for told in parameters) * (8 * (self.most + 1) // LINE + 1)
        self.block, self.used = host_pool.empty((lines * LINE,), np.uint8), 0
        self.listings: dict[str, np.ndarray] = {}
        return {
            name: getattr(self, told[0].replace(" ", "_"))(*told[1:])
            for name, told in zip(self.compiled.names, parameters, strict=True)
        }

    def called(self, arguments: dict[str, Any]) -> Any:
        """Call the compiled function, with a crew for products of dense vectors that are worth one."""
        if "gate" not in arguments:
            return self.compiled.kernel(*arguments.values())
        entries = max((x.nnz for x in self.now.values() if isinstance(x, Matrix)), default=0)
        with crew(get_threads() if entries >= MIN_ENTRIES_FOR_THREADS else 1) as gate:
            return self.compiled.kernel(*(arguments | {"gate": gate}).values())

    def shared(self, changed: list[Any]) -> bool:
        """True if a vector that the loop writes shares memory with another that it reads, or may not be written."""
        arrays = [x for x in self.now.values() if is_array(x) and isinstance(x, self.xp.ndarray)]
        for x in changed:
            if is_array(x):
                others = (y for y in arrays if y is not x)
                if not is_writeable(x) or any(self.xp.may_share_memory(x, y) for y in others):
                    return True
            if sum(x is y for y in self.now.values()) > 1:
                return True
        return False

    def results(self, arguments: dict[str, Any], numbers: Any) -> dict[str, Any]:
        """The values of names, in the order in which the compiled function gives what describes them."""
        found: dict[str, Any] = {}
        plan = self.compiled.plan
        for name in self.compiled.wanted:
            type_ = plan.types[name]
            is_set = name in self.compiled.inputs or bool(next(numbers))
            first, size = next(numbers), next(numbers) if type_.kind == "sparse" else None
            is_given = name in self.compiled.given
            renamed, count = (next(numbers), next(numbers)) if is_given else (0, 0)
            if not is_set:
                continue
            if type_.kind == "number":
                found[name] = type_.dtype.type(first)
                found[name] = found[name].item() if type_.weak else found[name]
                continue
            is_changed = name in plan.changed and name in self.now
            if renamed or not (is_given or is_changed):
                found[name] = self.vector(arguments, f"v_{name}", type_, int(first), size)
            if is_changed and renamed:
                old = self.now[name].size
                self.back(name, self.vector(arguments, f"o_{name}", type_, old if size is None else int(count), old))
            elif is_changed:
                self.back(name, self.vector(arguments, f"v_{name}", type_, int(first), size))
        return found

    def vector(self, arguments: dict[str, Any], name: str, type_: Type, count: int, size: Any) -> Any:
        """The vector in a variable's place."""
        if type_.kind == "dense":
            x = arguments[f"{name}_a"]
            return x if x.size == count and x.base is None else x[:count].copy()
        indices, values = (arguments[f"{name}_{part}"][:count] for part in "iv")
        order = slice(None) if type_.ordered else self.xp.argsort(indices, kind="stable")
        return SparseVector.trusted(indices[order].astype(index_dtype(int(size))), values[order].copy(), int(size))

    def back(self, name: str, value: Any) -> None:
        """Give the vector that a name stood for before the loop the elements that the loop wrote to it."""
        old = self.now[name]
        if isinstance(old, SparseVector):
            old.overwrite(value)
        else:
            self.xp.copyto(old, value)

    # What the compiled function takes, by the words of the translator

    def number(self, name: str) -> Any:
        value, type_ = self.now[name], self.compiled.inputs[name]
        return type_.dtype.type(value)

    def room(self, size: int, dtype: np.dtype) -> np.ndarray:
        """The next array in the block."""
        first, nbytes = self.used, size * dtype.itemsize
        self.used += -(-nbytes // LINE) * LINE
        return self.block[first : first + nbytes].view(dtype)

    def array(self, name: str | None, dtype: np.dtype, answer: bool = False) -> np.ndarray:
        """An array, with the elements of a vector.  answer: the caller gets it."""
        room = self.xp.empty(self.most, dtype) if answer else self.room(self.most, dtype)
        if name is not None:
            room[: self.now[name].size] = self.now[name]
        return room

    def size(self, name: str) -> np.int64:
        return np.int64(self.now[name].size)

    extent = size

    def count(self, name: str) -> np.int64:
        return np.int64(self.now[name].nnz)

    def indices(self, name: str | None) -> np.ndarray:
        room = self.room(self.most + 1, self.index)
        if name is not None:
            room[: self.now[name].nnz] = self.now[name].indices
        return room

    def values(self, name: str | None, dtype: np.dtype) -> np.ndarray:
        room = self.room(self.most + 1, dtype)
        if name is not None:
            room[: self.now[name].nnz] = self.now[name].values
        return room

    def given(self, name: str) -> np.ndarray:
        return self.xp.ascontiguousarray(self.now[name])

    def given_indices(self, name: str) -> np.ndarray:
        return self.xp.ascontiguousarray(self.now[name].indices, self.index)

    def given_values(self, name: str) -> np.ndarray:
        return self.xp.ascontiguousarray(self.now[name].values)

    def scratch(self, dtype: np.dtype, fill: Any) -> np.ndarray:
        room = self.room(self.most, dtype)
        if fill is not None:
            room.fill(fill)
        return room

    def found(self, floats: bool) -> np.ndarray:
        return self.xp.zeros(len(self.compiled.results), np.float64 if floats else np.int64)

    def rounds(self) -> np.int64:
        return np.int64(2**63 - 1)

    def gate(self) -> None:
        """The crew's gate takes this place."""

    def exact(self) -> np.ndarray:
        return np.ones(1, bool)

    def levels(self) -> np.ndarray:
        return np.zeros(3 * 64, np.int64)

    def sums(self, dtype: np.dtype) -> np.ndarray:
        return np.zeros(64, dtype)

    def flags(self) -> np.ndarray:
        return self.scratch(np.dtype(bool), False)

    def words(self) -> np.ndarray:
        return np.zeros(-(-self.most // 64), np.uint64)

    def capacity(self) -> np.int64:
        return np.int64(self.most)

    def order(self, name: str) -> np.ndarray:
        room, x = self.room(self.now[name].size, self.index), self.now[name]
        listing(np.ascontiguousarray(x), room, self.starts(name))
        return room

    def starts(self, name: str) -> np.ndarray:
        if name not in self.listings:
            self.listings[name] = np.zeros(VALUES + 1, np.int64)
        return self.listings[name]

    def nnz(self, name: str) -> np.int64:
        return np.int64(self.now[name].nnz)

    def reach(self, name: str, axis: int) -> np.int64:
        return np.int64(self.now[name].shape[axis])

    def degrees(self, name: str, transposed: bool) -> np.ndarray:
        A = self.now[name]
        return self.xp.ascontiguousarray(vectors.degrees(A.T if transposed else A), np.int64)

    def matrix(self, name: str, by_rows: bool, dtype: np.dtype, semiring: Any) -> tuple[np.ndarray, ...]:
        A = self.now[name]
        A = A if semiring is None else typed_matrix(A, semiring, dtype)
        lines: Any = compressed(A, 0 if by_rows else 1)
        return lines.indptr, lines.indices, lines.values
