"""Names of vertices: distinct hashable things, numbered from 0, and columns of names as columns of numbers."""

from __future__ import annotations

import difflib
import operator
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from ..arrays import Array, as_values, check_not_masked, fits, index_dtype
from ..io.compaction import compact
from .hashing import MANY, numbered_texts

Where: TypeAlias = Callable[[int], str]
"""A function that gives what an error calls the row of a number: "row 3", or "cities.csv:5"."""

BLOCK = 1 << 16
ALIKE = 50_000
"""With more names than this, one spelled alike is looked for among as many that begin alike."""


class Names:
    """The names of the vertices 0, 1, …, and the number of each.

    Args:
        names: distinct hashable things, none of them None or NaN; or their number n, for the names 0 to n-1.

    Raises:
        ValueError: a name is missing, or given twice.
        TypeError: a name is not hashable.

    Example:
        >>> names = Names(["Paris", "Lyon"])
        >>> names[1], names.index("Lyon"), "Nice" in names, list(names)
        ('Lyon', 1, False, ['Paris', 'Lyon'])
    """

    __slots__ = ("_listed", "_number")

    def __init__(self, names: Iterable[Hashable] | int) -> None:
        if isinstance(names, int):
            self._listed: Sequence[Any] = range(names)
            return
        if _is_whole(names) and _ascend(names):
            starts = names.size == 0 or (names[0] == 0 and names[-1] == names.size - 1)
            self._listed = range(names.size) if starts else names.tolist()
            return
        found = distinct(names if hasattr(names, "__len__") else list(names), "name", "place {}".format)
        if len(found.names) < len(found.codes):
            repeated = int((found.codes != np.arange(found.codes.size)).argmax())
            raise ValueError(f"names must be distinct: {found.names[found.codes[repeated]]!r} is given twice")
        self._listed = found.names

    @classmethod
    def of(cls, number: dict[Any, int]) -> Names:
        """The names of a dictionary, whose values are 0, 1, … in order."""
        names = cls.__new__(cls)
        names._listed, names._number = list(number), number
        return names

    def index(self, name: object, what: str = "name") -> int:
        """The number of a name; ValueError says `what` is none, and which name is like it."""
        try:
            if isinstance(self._listed, range):
                return self._listed.index(name)  # type: ignore[arg-type]
            return self._numbers()[composed(name)]
        except (KeyError, ValueError):
            raise ValueError(f"{what} {name!r} is not a vertex{self._like(name)}") from None
        except TypeError:
            raise TypeError(f"{what} must be the name of a vertex, got {name!r}") from None

    def indices(self, names: Sequence[Any]) -> Array:
        """The numbers of several names; KeyError or ValueError for one that there is not."""
        look_up: Callable[[Any], int]
        look_up = self._listed.index if isinstance(self._listed, range) else self._numbers().__getitem__
        return np.fromiter(map(look_up, names), index_dtype(len(self)), len(names))

    def _numbers(self) -> dict[Any, int]:
        try:
            return self._number
        except AttributeError:
            self._number: dict[Any, int] = {name: i for i, name in enumerate(self._listed)}
            return self._number

    def _like(self, name: object) -> str:
        """Hints at a name that is like a missing one, or else at how many there are."""
        for other in (str(name), _as_integer(name)):
            if other in self:
                return f": did you mean {other!r}?"
        if not isinstance(name, str):
            return self._extent()
        near: Iterable[Any] = self
        if len(self) > ALIKE:
            start, n = name[:1].casefold(), len(name)
            texts = (each for each in self if isinstance(each, str))
            near = islice((each for each in texts if each[:1].casefold() == start and abs(len(each) - n) < 3), ALIKE)
        return did_you_mean(name, near) or self._extent()

    def _extent(self) -> str:
        if not len(self):
            return ": the graph has none"
        return f": its {len(self):,} names are {self[0]!r}" + (f" to {self[-1]!r}" if len(self) > 1 else "")

    def __len__(self) -> int:
        return len(self._listed)

    def __getitem__(self, number: int) -> Any:
        return self._listed[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._listed)

    def __contains__(self, name: object) -> bool:
        try:
            return composed(name) in (self._listed if isinstance(self._listed, range) else self._numbers())
        except TypeError:
            return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self._listed[:3]))
        return f"<{len(self):,} names{': ' * bool(shown)}{shown}{', …' * (len(self) > 3)}>"


class Coded(NamedTuple):
    """A column of names: the distinct ones as they first occur, and for each row the place of its own among them."""

    codes: Array
    names: list[Any]


def did_you_mean(name: object, names: Iterable[Any]) -> str:
    """Returns the end of an error, ": did you mean 'Paris'?" where a name is like that one, else nothing."""
    known = {str(each).casefold(): each for each in names}
    alike = difflib.get_close_matches(str(name).casefold(), known, 1)
    return f": did you mean {known[alike[0]]!r}?" if alike else ""


def numbered(
    src: Any, dst: Any, what: tuple[str, str], where: Where, names: Names | None = None
) -> tuple[Array, Array, Names]:
    """Two columns of names as columns of numbers, and the names: those given, or those that occur.

    Integers ascend; other names come as they first occur, those of `src` first.  what: the columns' names, for errors.
    ValueError for a name that is missing, or is not among the names given.
    """
    src, dst = as_column(src), as_column(dst)
    if names is None and (whole := _signed(src, dst)):
        return _integers(*whole)
    coded = [distinct(column, label, where) for column, label in zip((src, dst), what, strict=True)]
    if names is None:
        names = _ordered(dict.fromkeys(chain(coded[0].names, coded[1].names)))
    ends = []
    for (codes, own), label in zip(coded, what, strict=True):
        try:
            places = names.indices(own)
        except (KeyError, ValueError):
            bad = next(k for k, name in enumerate(own) if name not in names)
            row = int((codes == bad).argmax())
            names.index(own[bad], f"{where(row)}: {label}")
            raise
        ends.append(places.take(codes))
    return ends[0], ends[1], names


def as_column(column: Any, what: str = "a column") -> Any:
    """A column without the library that it is from: an array, pandas's own Series, or a list; TypeError for no column.

    what: its name, for the error.
    """
    if isinstance(column, np.ndarray):
        check_not_masked(column, what)
    if isinstance(column, list | tuple | range | Coded) or (isinstance(column, np.ndarray) and column.ndim):
        return column
    if type(column).__module__.partition(".")[0] == "pandas" and hasattr(column, "factorize"):
        whole = getattr(column.dtype, "kind", "") in "iu" and isinstance(column.dtype, np.dtype)
        return column.to_numpy() if whole else column
    if hasattr(column, "to_numpy"):
        return column.to_numpy()
    if not isinstance(column, Iterable) or isinstance(column, np.ndarray):
        raise TypeError(f"{what} must be a list or an array, got {column!r}")
    return list(column)


def length(column: Any) -> int:
    """How many rows a column has."""
    return len(column.codes if isinstance(column, Coded) else column)


def distinct(column: Any, what: str, where: Where) -> Coded:
    """The distinct names of a column, as they first occur; ValueError for one that is missing."""
    column = as_column(column)
    if not isinstance(column, Coded) and len(column) >= MANY and (texts := _texts(column)) is not None:
        column = texts
    if not isinstance(column, Coded):
        column = _factorized(column) if hasattr(column, "factorize") else _looked_up(column, what)
    column = _composed(column)
    kinds = set(map(type, column.names))
    for place, name in enumerate(column.names if kinds - {str, int} else ()):
        if _is_missing(name):
            raise ValueError(f"{what} in {where(int((column.codes == place).argmax()))} is missing, got {name!r}")
    return column


def composed(name: Any) -> Any:
    """A text in Unicode's normal form NFC, in which letters that look alike are equal; anything else as it is."""
    return unicodedata.normalize("NFC", name) if isinstance(name, str) and not name.isascii() else name


def _composed(column: Coded) -> Coded:
    names = list(map(composed, column.names))
    return column if names == column.names else renamed(column, names)


def renamed(column: Coded, names: Sequence[Any]) -> Coded:
    """The column with other names in place of its own, of which some may be equal."""
    number: dict[Any, int] = {}
    places = np.array([number.setdefault(name, len(number)) for name in names], np.int64)
    return Coded(places.take(column.codes), list(number))


def _texts(column: Any) -> Coded | None:
    """A long column of nothing but text, by compiled loops; None if it has anything else."""
    if hasattr(column, "factorize") and getattr(column.dtype, "storage", "python") == "python":
        column = column.to_numpy()
    if not isinstance(column, list | tuple) and not (isinstance(column, np.ndarray) and column.dtype.hasobject):
        return None
    found = numbered_texts(column)
    return None if found is None else Coded(*found)


def _factorized(series: Any) -> Coded:
    """A column of pandas."""
    codes, names = series.factorize()
    if len(codes) and codes.min() < 0:
        codes, names = np.where(codes < 0, len(names), codes), [*names.tolist(), None]
        return Coded(codes, names)
    return Coded(codes, names.tolist())


def _looked_up(column: Any, what: str) -> Coded:
    """A column of any hashable things, each looked up in a dictionary."""
    number: defaultdict[Any, int] = defaultdict()
    number.default_factory = number.__len__
    try:
        codes = np.fromiter(map(number.__getitem__, _things(column)), index_dtype(len(column)), len(column))
    except TypeError as error:
        raise TypeError(f"a {what} must be hashable, as text, a number or a tuple is: {error}") from None
    return Coded(codes, list(number))


def _things(column: Any) -> Iterable[Any]:
    """The elements of a column as Python's own."""
    if not isinstance(column, np.ndarray):
        return column
    if column.ndim != 1:
        raise ValueError(f"a column of names must be one-dimensional, got {column.ndim} dimensions")
    if column.dtype.kind not in "biufUST":
        return column
    return chain.from_iterable(column[k : k + BLOCK].tolist() for k in range(0, column.size, BLOCK))


def _is_whole(column: Any) -> TypeGuard[Array]:
    """True if it is an array of integers."""
    return isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "iu"


def _signed(*columns: Any) -> list[Array] | None:
    """Columns of integers as signed ones, which NumPy mixes without rounding; None if they are others, or too large."""
    whole = all(_is_whole(each) and (each.dtype != np.uint64 or fits(each, np.int64)) for each in columns)
    return [as_values(each) for each in columns] if whole else None


def _ascend(numbers: Array) -> bool:
    """True if each number is larger than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())


def _integers(src: Array, dst: Array) -> tuple[Array, Array, Names]:
    """Columns of integers, which ascend as names."""
    if min(src.min(initial=0), dst.min(initial=0)) < 0 or max(src.max(initial=0), dst.max(initial=0)) >= 1 << 62:
        labels, places = np.unique(np.concatenate((src, dst)), return_inverse=True)
        src, dst = places[: src.size], places[src.size :]
    else:
        labels, src, dst = compact(src, dst)
    return src, dst, Names(labels)


def _ordered(found: dict[Any, None]) -> Names:
    """The names found, integers in ascending order."""
    whole = set(map(type, found)) == {int}
    names = sorted(found) if whole else list(found)
    if whole and names == list(range(len(names))):
        return Names(len(names))
    return Names.of({name: number for number, name in enumerate(names)})


def _is_missing(name: Any) -> bool:
    """True for None, NaN and pandas's values for nothing."""
    return name is None or type(name).__name__ in ("NAType", "NaTType") or (isinstance(name, float) and name != name)


def _as_integer(name: object) -> object:
    """Text as the integer that it writes, if it writes one."""
    return int(name) if isinstance(name, str) and name.removeprefix("-").isdecimal() else None
