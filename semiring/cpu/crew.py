"""Threads that share the steps of compiled loops, without Python between the steps.

The calling thread leads: it runs a compiled loop, and opens a *gate* for each step that is worth sharing. Helpers, from
the pool of `threads`, wait at the gate in machine code. Who enters runs the step's work, as the leader does, and leaves
when there is none left; the leader closes the gate when it has none left itself, and goes on when nobody is inside. So
it waits for no helper that has not come: one that sleeps, or never starts as others have the pool, costs nothing.

    @inlined
    def work(thread, counter, x): ...          # takes pieces by `added(counter, 0, 1)` until none are left
    step = shared(work)

    @compiled
    def loop(gate, x): ...
        step(gate, (counter, x))               # all who come have run work(thread, counter, x)

    with crew(get_threads()) as gate:
        loop(gate, x)

Threads have numbers below `gate[MEMBERS]`, the leader 0; between steps it may lower that by `stored`, and raise it
again. What was written before a step its work sees, and what work wrote is seen after it. Work must not make arrays,
and looks at `interrupted()` if it is long.

The gate's first word has the number of the step, a bit while it is open, and how many helpers are inside. Helpers spin
for some 30 µs, then let others run, then sleep 50 µs at a time, so that those who wait take nothing from who works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .atomics import added, exchanged, let_others_run, loaded, nap, pause
from .compiler.references import Helper, interrupted, operation, tools
from .kernels import compiled, inlined
from .threads import get_threads, is_within, together

STATE, WORK, TAKEN, ENTERED, END, MEMBERS = 0, 16, 32, 48, 64, 65
"""Words of a gate, on lines of their own where several threads write them.

Its state; where the work and its arguments are; a counter for the work; how many helpers have come; not 0 once they are
to go; how many threads there are at most."""

OPEN, NUMBER = 1 << 16, 17
"""The bit of a state that lets helpers in, and the first bit of the step's number."""

SPINS, YIELDS = 600, 50
"""How often a thread looks before it lets others run, and how often it does that before it sleeps."""


@compiled
def wait(looks):
    """Let some time pass before another look, the more the more looks there were."""
    if looks < SPINS:
        pause()
    elif looks < SPINS + YIELDS:
        let_others_run()
    else:
        nap()


class Task(Helper):
    """A function f(gate, WORK, parts) for compiled code, by which helpers find work(thread, *parts)."""

    by_types = True

    @property
    def numbas(self) -> Any:
        from .compiler.compiler import task

        return task(*self.parts)


@operation
def perform(typing: Any, gate: Any, thread: Any) -> Any:
    """Run the work that a gate tells of."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ir, word = tools.ir, tools.ir.IntType(64)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        function, parts = (builder.load(builder.gep(data, [word(WORK + k)])) for k in range(2))
        kind = ir.FunctionType(ir.VoidType(), [word, word])
        builder.call(builder.inttoptr(function, kind.as_pointer()), [parts, args[1]])
        return context.get_dummy_value()

    return tools.types.void(gate, tools.types.int64), emit


@compiled
def help_(gate):
    """Take part in all steps, until the leader ends or was interrupted."""
    thread, seen, looks = added(gate, ENTERED, 1) + 1, 0, 0
    while loaded(gate, END) == 0 and not interrupted():
        state = loaded(gate, STATE)
        if state & OPEN == 0 or state >> NUMBER == seen or thread >= loaded(gate, MEMBERS):
            looks += 1
            wait(looks)
        elif exchanged(gate, STATE, state, state + 1):
            seen, looks = state >> NUMBER, 0
            perform(gate, thread)
            added(gate, STATE, -1)


def shared(work: Callable[..., Any]) -> Any:
    """Make step(gate, parts) for compiled code: the leader and all who come run work(thread, *parts)."""
    work = inlined(work)
    tell = Task(work)

    @inlined
    def step(gate, parts):
        if gate[MEMBERS] > 1:
            tell(gate, WORK, parts)
            added(gate, STATE, (1 << NUMBER) + OPEN)
        work(0, *parts)
        if gate[MEMBERS] > 1:
            looks, state = 0, added(gate, STATE, -OPEN)
            while state & (OPEN - 1):
                looks += 1
                wait(looks)
                state = loaded(gate, STATE)

    return step


@contextmanager
def crew(threads: int) -> Iterator[np.ndarray]:
    """Yield a gate at which up to `threads` - 1 helpers wait, until the block ends; none for work of the pool itself.

    The first helper calls the others, so that the leader need not.
    """
    gate, helpers = np.zeros(MEMBERS + 1, np.int64), min(threads, get_threads()) - 1
    gate[MEMBERS] = 1
    if helpers < 1 or is_within():
        yield gate
        return
    gate[MEMBERS] += helpers
    with together() as begin:

        def call_others() -> None:
            for _ in range(helpers - 1):
                if gate[END]:
                    return
                begin(help_, gate)
            help_(gate)

        first = begin(call_others)
        try:
            yield gate
        finally:
            gate[END] = 1
            first.cancel()
