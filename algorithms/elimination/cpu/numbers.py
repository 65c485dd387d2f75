"""The numbers of a factor: elimination by supernodes, each of which hands its update on to its parent.

    for each supernode, from the leaves to the roots, with W the arcs between its positions and its rows:
        W = W ⊕ the updates of its children
        for each x in it:  w_yz = w_yz ⊕ w_yx ⊗ w_xz    for all later y ≠ z         x is eliminated
        its update is what that makes of w_yz for two of its rows

The update is a dense matrix, so the innermost loops run along neighbouring numbers [1]. Subtrees are eliminated by one
thread each, and what lies above them by the thread that calls.

[1] I. S. Duff, J. K. Reid, The multifrontal solution of indefinite sparse symmetric linear equations, ACM Trans. Math.
    Softw. 9(3), 1983.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from formats.progress import Bar
from semiring import Law, Semiring
from semiring.cpu.compiler.references import interrupted
from semiring.cpu.kernels import compiled
from semiring.cpu.threads import get_threads, run

from .algebra import Algebra, algebra
from .plan import Plan
from .trees import ONE


@dataclass(frozen=True)
class Numbers:
    """The numbers of a factor's arcs.

    up, down: to later positions, and from these; one array where both are alike.  known: what they are computed with.
    bad: a position on a cycle that improves, -1 if there is none.  loop: an edge that is one.
    """

    up: np.ndarray
    down: np.ndarray
    known: Algebra
    bad: int
    loop: int

    @property
    def nbytes(self) -> int:
        return self.down.nbytes * (1 if self.up is self.down else 2)


def eliminated(plan: Plan, slots: np.ndarray, weights: np.ndarray, s: Semiring, lengths: bool) -> Numbers:
    """Returns the numbers for weights, in the order of the slots.  lengths: true if none makes a path better."""
    dtype = weights.dtype
    known = algebra(s, dtype, lengths)
    weights, p = weights.view(known.dtype), plan.pattern
    up = np.full(int(p.starts[-1]), known.zero, known.dtype)
    down = up.copy()
    eliminate, scatter = elimination(s, dtype, lengths)
    loop = int(scatter(slots, np.ascontiguousarray(weights), up, down))
    symmetric = Law.COMMUTATIVE in s.laws and np.array_equal(up, down)
    if symmetric:
        up = down
    updates = np.empty(plan.work.room, known.dtype)
    most = int(np.diff(p.row_starts).max(initial=0))
    tree, bad = (*plan.children, plan.work.offsets), list[int]()

    def of(todo: np.ndarray) -> None:
        scratch = np.empty(most, np.int32), np.empty(most * most, known.dtype)
        bad.append(eliminate(todo, p.arrays, tree, (up, down), updates, scratch, symmetric))

    with Bar("factor", len(plan.subtrees) + 1, lambda: len(bad)) as bar:
        for start in range(0, len(plan.subtrees), max(1, 2 * get_threads())):
            turn = range(start, min(start + 2 * get_threads(), len(plan.subtrees)))
            run(lambda first, last: of(plan.subtrees[first]), [(k, k + 1) for k in turn])
            bar.update()
        of(plan.work.top)
    return Numbers(up, down, known, max(bad), loop)


def positions_in(rows, own, count, within, parent):
    """Where each row of a child is among its parent's positions and rows; how many are positions."""
    first, last, k, stop = parent
    start, inner = k, 0
    for i in range(count):
        y = rows[np.uintp(own + i)]
        if y < last:
            within[i] = y - first
            inner += 1
        else:
            while k < stop and rows[np.uintp(k)] < y:
                k += 1
            within[i] = last - first + k - start
    return inner


def relaxations(known: Algebra) -> tuple[Any, Any, Any]:
    """Makes y_j ⊕= a ⊗ x_j and y_j ⊕= x_j ⊗ b of runs of elements, and y_at ⊕= t, for compiled code."""
    compose, better = known.compose, known.better

    def relax_from(y, at, x, start, count, a):
        for j in range(np.uintp(count)):
            t = compose(a, x[np.uintp(start) + j])
            before = y[np.uintp(at) + j]
            y[np.uintp(at) + j] = t if better(t, before) else before

    def relax_to(y, at, x, start, count, b):
        for j in range(np.uintp(count)):
            t = compose(x[np.uintp(start) + j], b)
            before = y[np.uintp(at) + j]
            y[np.uintp(at) + j] = t if better(t, before) else before

    def keep_better(y, at, t):
        before = y[np.uintp(at)]
        y[np.uintp(at)] = t if better(t, before) else before

    return relax_from, relax_to, keep_better


def taking(keep_better: Any) -> Any:
    """Makes the loop that adds the update of a child to a supernode's arcs and to its own update."""

    def take_update(update, within, count, inner, starts, node, numbers, symmetric):
        (updates, base), (first, width, size), (up, down, total) = update, node, numbers
        for i in range(count):
            row, li = base + i * count, np.int64(within[i])
            start = i + 1 if symmetric else 0
            if li < width:
                to = starts[np.uintp(first + li)] - li - 1
                for j in range(start, i):
                    lj = np.int64(within[j])
                    keep_better(down, starts[np.uintp(first + lj)] + li - lj - 1, updates[np.uintp(row + j)])
                for j in range(i + 1, count):
                    keep_better(up, to + within[np.uintp(j)], updates[np.uintp(row + j)])
                continue
            for j in range(start, inner):
                lj = np.int64(within[j])
                keep_better(down, starts[np.uintp(first + lj)] + li - lj - 1, updates[np.uintp(row + j)])
            to = (li - width) * size - width
            for j in range(max(start, inner), count):
                keep_better(total, to + within[np.uintp(j)], updates[np.uintp(row + j)])

    return take_update


def inner_elimination(known: Algebra, relax_from: Any, relax_to: Any) -> Any:
    """Makes the loop that eliminates the positions of a supernode for one another."""
    zero, unit, compose, better = known.zero, known.unit, known.compose, known.better

    def within_supernode(first, width, size, starts, up, down, bad, symmetric):
        for x in range(width):
            if interrupted():
                break
            row = starts[np.uintp(first + x)] - x - 1
            for p in range(x + 1, width):
                to, count = starts[np.uintp(first + p)], width + size - p - 1
                a, b = down[np.uintp(row + p)], up[np.uintp(row + p)]
                if a != zero:
                    relax_from(up, to, up, row + p + 1, count, a)
                if b != zero and not symmetric:
                    relax_to(down, to, down, row + p + 1, count, b)
                if bad < 0 and better(compose(a, b), unit):
                    bad = np.int64(first + p)
        return bad

    return within_supernode


@lru_cache(maxsize=64)
def elimination(s: Semiring, dtype: np.dtype, lengths: bool) -> tuple[Any, Any]:
    """Makes the loop over supernodes and the loop over weights for a semiring and a dtype."""
    known = algebra(s, dtype, lengths)
    zero, unit, better = known.zero, known.unit, known.better
    relax_from, relax_to, keep_better = relaxations(known)
    take_update, within_supernode = taking(keep_better), inner_elimination(known, relax_from, relax_to)

    @compiled
    def eliminate(todo, arrays, tree, numbers, updates, scratch, symmetric):
        """Eliminate supernodes, ascending; the first position that lies on an improving cycle, -1 if none does.

        tree: the first child of each supernode, the next child of its parent, and where its update lies.  numbers: of
        the arcs to later positions, and to earlier ones.  scratch: places of rows, and an update.
        """
        (firsts, row_starts, rows, starts), (child, sibling, offsets) = arrays, tree
        (up, down), (within, total), bad = numbers, scratch, np.int64(-1)
        for k in range(todo.size):
            if interrupted():
                break
            s = np.uintp(todo[k])
            first, last = np.int64(firsts[s]), np.int64(firsts[s + ONE])
            own, size, width = row_starts[s], row_starts[s + ONE] - row_starts[s], last - first
            for i in range(size * size):
                total[np.uintp(i)] = zero
            c = child[s]
            while c >= 0:
                its = np.uintp(c)
                count = row_starts[its + ONE] - row_starts[its]
                inner = positions_in(rows, row_starts[its], count, within, (first, last, own, own + size))
                update, node = (updates, offsets[its]), (first, width, size)
                take_update(update, within, count, inner, starts, node, (up, down, total), symmetric)
                c = sibling[its]
            bad = within_supernode(first, width, size, starts, up, down, bad, symmetric)
            for i in range(size):
                if interrupted():
                    break
                start = i if symmetric else 0
                for p in range(width):
                    at = starts[np.uintp(first + p)] + width - p - 1
                    a = down[np.uintp(at + i)]
                    if a != zero:
                        relax_from(total, i * size + start, up, at + start, size - start, a)
                if bad < 0 and better(total[np.uintp(i * size + i)], unit):
                    bad = np.int64(rows[np.uintp(own + i)])
            base = offsets[s]
            for i in range(size * size):
                updates[np.uintp(base + i)] = total[np.uintp(i)]
        return bad

    @compiled
    def scatter(slots, weights, up, down):
        """The weights of edges to their arcs, which hold the zero before; the last self-loop that improves, or -1."""
        loop = np.int64(-1)
        for e in range(slots.size):
            slot = slots[e]
            if slot >= 0 and weights[e] != zero:
                if slot & 1:
                    keep_better(down, slot >> 1, weights[e])
                else:
                    keep_better(up, slot >> 1, weights[e])
            elif slot < 0 and better(weights[e], unit):
                loop = np.int64(e)
        return loop

    return eliminate, scatter
