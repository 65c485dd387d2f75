"""The write rule of GraphBLAS, out⟨mask⟩ = accum(out, t), for vectors and for matrices.

    z = t, or accum(out, t) where both are present and whichever is present elsewhere
    out takes z where the mask allows; elsewhere it keeps what it has, or with replace becomes absent.

Without `out` the result is new, and absent where the mask does not allow. The product t is complete before `out` is
touched, so `out` may be one of the operands.

A mask allows the places where it holds a value that is not zero: a stored False allows nothing. `pattern()` of a vector
or a matrix makes a mask by structure, in which every entry is true.

Source: A. Buluç et al., The GraphBLAS C API Specification, version 2.0, 2021, section 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from formats import COO, CSR, Matrix, SparseVector
from formats.arrays import Array, all_of, check_not_masked, differs, is_array, namespace
from formats.matrix.facts import Fact
from formats.places import Place, place_of

from ..algebra.ops import BinaryOp
from ..algebra.semirings import Monoid, find_combiner
from . import merge, steps, strips
from .checks import check_accum, check_numbers, check_place, check_vector

Combiner = Monoid | BinaryOp
Rule: TypeAlias = Mapping[str, Any]
"""Those parameters of `Write` that a user has given, by name."""

FIRST = find_combiner("first", "mul")


@dataclass(slots=True, kw_only=True)
class Write:
    """The parameters of the write rule: `Verb` adds them, and this text, to each function that has `**rule`.

    Args:
        mask, complement, accum, out, replace: the write rule. Places in the mask (or out of it) are written, into `out`
            if it is given; accum combines what `out` holds with the result; replace makes the other places absent.
    """

    mask: Any = None
    complement: bool = False
    accum: Any = None
    out: Any = None
    replace: bool = False

    def with_operator(self) -> Any:
        """Itself, once `accum` is an operator; ValueError for an argument that would have no effect."""
        check_accum(self.accum, self.out, self.complement, self.mask)
        if self.accum is not None:
            self.accum = find_combiner(self.accum, "add")
        return self


@dataclass(slots=True)
class VectorWrite(Write):
    """How a verb's vector result t is written. Call it with t, a dense array of its own or a SparseVector.

    size, dtype, zero: the result's.  mask: a boolean array, or a SparseVector of entries that are all true.
    """

    size: int
    dtype: np.dtype
    zero: Any

    @classmethod
    def checked(cls, size: int, dtype: np.dtype, zero: Any, place: Place, rule: Rule) -> VectorWrite:
        """A write with every argument checked; ValueError or TypeError names the one that is wrong."""
        write = cls(size, dtype, zero, **rule)
        if not rule:
            return write
        mask, out = write.mask, write.out
        if mask is not None:
            check_vector("mask", mask, size, place)
            if not isinstance(mask, SparseVector) and mask.dtype != np.bool_:
                raise TypeError(f"a mask is a boolean array or a SparseVector, got an array of {mask.dtype}")
            if isinstance(mask, SparseVector) and not _all_true(mask.values):
                write.mask = merge.drop(mask, mask.dtype.type(0))
        if out is not None:
            check_vector("out", out, size, place)
            if out.dtype != dtype:
                raise TypeError(f"out must have the result's dtype {dtype}, got {out.dtype}")
            if is_array(out) and place.on_host and not out.flags.writeable:
                raise ValueError("out is read-only")
            if write.accum is not None:
                check_numbers("out", out)
        return write.with_operator()

    @property
    def allowed(self) -> Array | None:
        """Boolean array of the positions that may be written; None where all may."""
        if self.mask is None:
            return None
        mask = self.mask
        if isinstance(mask, SparseVector):
            structure = mask.place.xp.zeros(self.size, bool)
            structure[mask.indices] = True
            return ~structure if self.complement else structure
        return ~mask if self.complement else mask

    def allows(self, indices: Array) -> Array | None:
        """For each of these positions: may it be written? None where all may. The cost is theirs, not the mask's."""
        if self.mask is None:
            return None
        mask = self.mask
        inside = merge.contains(mask.indices, indices) if isinstance(mask, SparseVector) else mask.take(indices)
        return ~inside if self.complement else inside

    def __call__(self, t: Array | SparseVector) -> Array | SparseVector:
        if isinstance(self.out, SparseVector) or (self.out is None and isinstance(t, SparseVector)):
            return self._sparse(t if isinstance(t, SparseVector) else SparseVector.from_dense(t, self.zero))
        if isinstance(t, SparseVector):
            return self._scatter(t)
        return self._dense(t)

    def _dense(self, t: Array) -> Array:
        return _written(t, self.allowed, self.accum, self.out, self.replace, self.zero)

    def _scatter(self, t: SparseVector) -> Array:
        """A sparse result into a dense `out`, at the cost of the result's entries where nothing else changes."""
        allowed, out = self.allowed, self.out
        indices, values = t.indices, t.values
        if allowed is not None:
            keep = allowed[indices]
            indices, values = indices[keep], values[keep]
        if self.accum is not None:
            values = merge.union_dense(out[indices], values, self.accum, self.zero)
        elif allowed is None:
            out[...] = self.zero
        else:
            out[allowed] = self.zero
        if self.replace and allowed is not None:
            out[~allowed] = self.zero
        out[indices] = values
        return out

    def _sparse(self, t: SparseVector) -> SparseVector:
        out = self.out
        if out is None:
            allowed = self.allows(t.indices)
            return t if allowed is None else _kept(t, allowed)
        z = t if self.accum is None else merge.accumulated(out, t, self.accum, self.zero)
        allowed, stays = self.allows(z.indices), self.allows(out.indices)
        if allowed is not None and stays is not None:
            z = _kept(z, allowed)
            if not self.replace:
                z = merge.accumulated(z, _kept(out, ~stays), FIRST, self.zero)  # no index is in both
        out.overwrite(z)
        return out


def _written(
    t: Array, allowed: Array | None, accum: Combiner | None, out: Array | None, replace: bool, zero: Any
) -> Array:
    """The write rule where all is dense; `t` is the product's own."""
    if out is None:
        if allowed is not None:
            t[~allowed] = zero
        return t
    if accum is not None:
        t = merge.union_dense(out, t, accum, zero)
    if allowed is None:
        out[...] = t
    else:
        namespace(t).copyto(out, t, where=allowed)
        if replace:
            out[~allowed] = zero
    return out


@dataclass(slots=True)
class DenseWrite(Write):
    """How a verb's dense result T of two dimensions is written. Call it with T, an array of its own.

    out: an array, which is written.
    allowed: a boolean array of the positions that may be written; None where all may.
    """

    zero: Any
    allowed: Array | None = None

    @classmethod
    def checked(cls, shape: tuple[int, int], dtype: np.dtype, zero: Any, place: Place, rule: Rule) -> DenseWrite:
        """A write with every argument checked; ValueError or TypeError names the one that is wrong."""
        write = cls(zero, **rule)
        mask, out = _checked(write.mask, shape, place), write.out
        if out is not None:
            if not is_array(out):
                raise TypeError(f"out must be an array, as the result is, got {type(out).__name__}")
            _check_out(out, shape, dtype, place)
            if place.on_host and not out.flags.writeable:
                raise ValueError("out is read-only")
            if write.accum is not None:
                check_numbers("out", out)
        allowed = mask
        if isinstance(mask, Matrix):
            rows, cols, _ = mask.to_edges()
            allowed = place.xp.zeros(shape, bool)
            allowed[rows, cols] = True
        write.allowed = ~allowed if mask is not None and write.complement else allowed
        return write.with_operator()

    def __call__(self, T: Array) -> Array:
        return _written(T, self.allowed, self.accum, self.out, self.replace, self.zero)


TRUE: Fact[Matrix | None] = Fact("the entries of a mask whose value is true")
"""None if all are: a matrix that keeps itself would not be freed at once."""


def _checked(mask: Any, shape: tuple[int, int], place: Place) -> Any:
    """A mask over positions of a matrix, if any, of entries that are all true; TypeError or ValueError for others."""
    if mask is None:
        return None
    if not isinstance(mask, Matrix) and not (is_array(mask) and mask.dtype == np.bool_):
        raise TypeError("a mask is a matrix or a two-dimensional boolean array")
    if mask.shape != shape:
        raise ValueError(f"mask must have the result's shape {shape}, got {mask.shape}")
    check_place("mask", mask, place)
    if not isinstance(mask, Matrix):
        check_not_masked(mask, "mask")
        return mask
    true = mask.keep(TRUE, lambda: _true_entries(mask))
    return mask if true is None else true


def _true_entries(mask: Matrix) -> Matrix | None:
    """The entries whose value is not zero; None if all are. A step of the group of a matrix in parts."""
    if all(mask.of_each(all(map(_all_true, mask.stored_parts)))):
        return None
    if isinstance(mask, COO):
        return mask.keeping(differs(mask.values, mask.dtype.type(0)))
    by_row: Any = mask if mask.in_parts else mask.to(CSR)
    return strips.by_strips(by_row, lambda part, _: steps.kept(part, differs(part.values, part.dtype.type(0))))


def _all_true(values: Array) -> bool:
    """True if no value is zero. A pattern, which is one value seen many times, is judged by that value."""
    values = values[:1] if values.strides == (0,) else values
    if isinstance(values, np.ndarray):
        return bool(values.all())
    with place_of(values).scope():
        return all_of(differs(values, values.dtype.type(0)))


def _check_out(out: Any, shape: tuple[int, int], dtype: np.dtype, place: Place) -> None:
    if out.shape != shape:
        raise ValueError(f"out must have the result's shape {shape}, got {out.shape}")
    if out.dtype != dtype:
        raise TypeError(f"out must have the result's dtype {dtype}, got {out.dtype}")
    check_place("out", out, place)


@dataclass(slots=True)
class MatrixWrite(Write):
    """How a verb's CSR result T is written: the same rule over positions of a matrix. Call it with T.

    Whoever has computed T where the mask allows, and nowhere else, says so by `masked`.

    mask: a matrix of entries that are all true, or a two-dimensional boolean array.  out: a CSR, or a matrix in parts,
    which becomes the result.
    """

    shape: tuple[int, int]
    dtype: np.dtype

    @classmethod
    def checked(cls, shape: tuple[int, int], dtype: np.dtype, place: Place, rule: Rule) -> MatrixWrite:
        """A write with every argument checked; ValueError or TypeError names the one that is wrong."""
        write = cls(shape, dtype, **rule)
        out, write.mask = write.out, _checked(write.mask, shape, place)
        if out is not None:
            if not isinstance(out, CSR) and not (isinstance(out, Matrix) and out.in_parts and out.major == 0):
                by_columns = " by columns" if getattr(out, "in_parts", False) else ""
                raise TypeError(f"out must be a CSR, got {type(out).__name__}{by_columns}")
            _check_out(out, shape, dtype, place)
        return write.with_operator()

    def __call__(self, T: Any, masked: bool = False) -> Any:
        if self.out is None and (masked or self.mask is None):
            return T
        if T.in_parts or (self.out is not None and self.out.in_parts):
            return strips.written(self, T, masked)
        if self.out is not None and self.accum is not None:
            T = steps.united(self.out, T, self.accum)
        if self.mask is not None:
            mask: Any = self.mask.to(CSR) if isinstance(self.mask, Matrix) else self.mask
            written: Any = T if masked and self.accum is None else steps.kept(T, self._allowed(T, mask))
            if self.out is not None and not self.replace:
                stays: Any = steps.kept(self.out, ~self._allowed(self.out, mask))
                written = steps.united(written, stays, FIRST)
            T = written
        if self.out is None:
            return T
        self.out.overwrite(T)
        return self.out

    def _allowed(self, A: CSR, mask: Any) -> Array:
        """True for each entry of `A` whose place the mask allows."""
        inside = steps.shared(A, mask) if isinstance(mask, CSR) else namespace(mask).ravel(mask)[merge.keys_of(A)]
        return ~inside if self.complement else inside


def _kept(v: SparseVector, keep: Array) -> SparseVector:
    places = namespace(keep).flatnonzero(keep)
    return SparseVector.trusted(v.indices.take(places), v.values.take(places), v.size)
