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

To call fifteen helpers takes half a millisecond, for each needs the interpreter's lock. So they stay for a while when
the leader has ended, and the next crew, a *generation* later, has the same gate. Who needs the pool's threads for
something else rings a bell (`threads`), at which they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from formats.system import in_a_forked_child

from ..kernels import interrupts
from .atomics import added, exchanged, let_others_run, loaded, nap, pause, stored
from .compiler.references import Helper, interrupted, operation, tools
from .kernels import compiled, inlined
from .threads import BELL, get_threads, is_within, ring, together

STATE, WORK, TAKEN, ENTERED, END, MEMBERS, GENERATION, PRESENT = 0, 16, 32, 48, 64, 65, 66, 80
"""Words of a gate, on lines of their own where several threads write them.

Its state; where the work and its arguments are; a counter for the work; how many helpers have come to this crew; not 0
once it has ended; how many threads it has at most; how many crews there were; how many helpers are at the gate."""

OPEN, NUMBER = 1 << 16, 17
"""The bit of a state that lets helpers in, and the first bit of the step's number."""

SPINS, YIELDS = 600, 50
"""How often a thread looks before it lets others run, and how often it does that before it sleeps."""

STAYS = SPINS + YIELDS + 20
"""How often a helper looks for the next crew before it leaves."""

_gates = list[tuple[np.ndarray, list[Any]]]()
"""Gates that nobody leads at, and whose call their helpers work for."""


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
def help_(gate, bell, stays):
    """Take part in all steps of a crew, and of those that follow before `stays` looks or the next bell."""
    thread, seen, looks, own, rung = 0, 0, 0, 0, loaded(bell, 0)
    added(gate, PRESENT, 1)
    while not interrupted():
        state, generation = loaded(gate, STATE), loaded(gate, GENERATION)
        if loaded(gate, END):
            if looks >= stays or loaded(bell, 0) != rung:
                added(gate, PRESENT, -1)
                if loaded(gate, END):  # else a leader may count on this helper
                    return
                added(gate, PRESENT, 1)
            looks = max(looks, SPINS) + 1
            wait(looks)
        elif generation != own:
            thread, own, looks = added(gate, ENTERED, 1) + 1, generation, 0
        elif state & OPEN == 0 or state >> NUMBER == seen or thread >= loaded(gate, MEMBERS):
            looks += 1
            wait(looks)
        elif exchanged(gate, STATE, state, state + 1):
            seen, looks = state >> NUMBER, 0
            perform(gate, thread)
            added(gate, STATE, -1)
    added(gate, PRESENT, -1)


@compiled
def _open(gate, members):
    """Let helpers come to a crew of so many threads; returns how many are there."""
    stored(gate, ENTERED, 0)
    stored(gate, MEMBERS, members)
    added(gate, GENERATION, 1)
    stored(gate, END, 0)
    return loaded(gate, PRESENT)


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
    helpers = min(threads, get_threads()) - 1
    if helpers < 1 or is_within():
        gate = np.zeros(PRESENT + 1, np.int64)
        gate[MEMBERS] = 1
        yield gate
        return
    try:
        gate, led = _gates.pop()
    except IndexError:
        gate, led = np.zeros(2 * PRESENT, np.int64), [None]
    led[0], first = getattr(interrupts.here, "call", None), None

    def help_it() -> None:
        interrupts.here.led = led
        try:
            help_(gate, BELL, STAYS)
        finally:
            del interrupts.here.led

    with together() as begin:

        def call(missing: int) -> None:
            for _ in range(missing - 1):
                if gate[END]:
                    return
                begin(help_it)
            help_it()

        try:
            missing = helpers - _open(gate, helpers + 1)
            if missing > 0:
                ring()
                first = begin(call, missing)
            yield gate
        finally:
            gate[END] = 1
            if first is not None:
                first.cancel()
            _gates.append((gate, led))


in_a_forked_child(_gates.clear)
