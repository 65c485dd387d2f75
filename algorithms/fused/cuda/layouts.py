"""Declares the numbers and structs that kernels share with the host, and writes them into the CUDA text.

`kernels` puts `declared` before the `.cu` files of a unit, with what these mention, and `asserted` behind them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

CHUNK = 64
"""Edges of an entry of a deep kernel's queue."""

BATCH_PIECE = 256
"""Edges of a piece of a row, for paths from many sources."""

PIECE, PLANES = 64, 8
"""Edges of a piece of a row, for many searches, and planes of what they have visited."""

MAX_SEARCHES = 64
"""Searches that run together, at most: each has a bit in a word."""

LONG = 256
"""Edges above which a column is cut, and of a piece of it."""

GIANT_SAMPLE = 1024
"""Vertices whose trees show which is the giant one, a thread for each."""

BY_RULE, PULL = 0, 2
"""The choices of a search in each step: what Beamer's rule says, or a pull; any other number is a push."""

BOOL_WEIGHTS, INT32_WEIGHTS, INT64_WEIGHTS, FLOAT32_WEIGHTS = range(4)
"""The types of weights that one kernel reads; any other number is for float64."""

ALL_ENTRIES, UPPER, EVERY_OTHER = range(3)
"""The entries that a forest lists: all; those with u < v; or every other one.

Of each pair one entry is listed, half of them in the smaller end's row, for rows whose reverse entries lie with another
GPU.
"""

MAX_GPUS, LETTER_WORDS = 16, 3
"""GPUs that work together, at most, and words of 8 bytes that one tells another at a barrier."""

DEALERS = 61
"""Counters of vertices that are pulled, not a power of two: see pull_words."""

STRUCTS = """
union Slot { T value; unsigned long long bits; };  // a T in a place of eight bytes
struct Control {
    unsigned int arrived, done;
    unsigned long long steps, edges, thresholds;  // edges: deep: expanded vertices
    unsigned long long queue[3];  // wide: edges and vertices of the frontier; deep: entries
    Slot nearest[3];              // the best active value
    Slot threshold;
    unsigned long long before;    // edges of the step before
    unsigned long long saturated; // has a finite product become the zero?
    unsigned long long scanned;   // deep: did the step before look for active vertices?
    unsigned long long doublings; // of the width
    unsigned long long since[2];  // deep: steps and entries since the last change of the threshold
    unsigned long long crowded;   // deep: has it stopped for a step of too many entries?
    unsigned long long calm;      // wide: has it stopped after many steps of few edges?
};
struct Hop { I vertex, start, degree; unsigned int weight; };
struct Entry { T value; I vertex, start, degree; };
struct BatchPiece { unsigned long long near; I vertex, start, length; };  // near: the sources from which it is expanded
struct RowPiece { I vertex, start, length; };
struct TreeControl {
    unsigned int arrived, done;
    unsigned long long rounds;      // after round 0
    unsigned long long queue[3];
    unsigned long long unsettled;   // 1 + the last round that began with a reached vertex without a parent
    unsigned long long incomplete;  // is there such a vertex after round 0?
};
struct PullControl { unsigned long long listed, found, read, improved, saturated; };
struct SearchControl {
    unsigned int arrived, done;
    unsigned long long steps, pulls, unexplored, pulling;
    unsigned long long queue[3];
    unsigned long long found[3];
};
struct SearchesControl {
    unsigned int arrived, done;
    unsigned long long steps, pulls, pulling;
    unsigned long long first;    // plane whose levels are written
    unsigned long long last;     // plane of what is visited
    unsigned long long written;  // have all vertices a level, if only -1?
    unsigned long long frontier; // where it is
    long long before;            // pieces of the list of the one before, ALL_WORDS, or 0 if it was in no words
    unsigned long long begun;    // have the sources been placed?
    unsigned long long queue[3]; // pieces and, above them, edges
    unsigned long long again[3]; // the same of a list that is made from the words
    unsigned long long found[3]; // vertices that a pull has found
    unsigned long long live[3];  // searches that have a frontier
    unsigned int unlisted[3];    // has a block found more than it holds?
    unsigned int hits[3][128];   // by search: edges of the sample from its frontier, and from what it has seen
    unsigned int dealt[3][DEALERS];  // vertices that warps have taken to pull, 32 * PULLS_PER_THREAD at a time
    long long sources[MAX_SEARCHES];
};
struct StrongControl {
    unsigned int arrived, done;
    unsigned long long passes, pivot, smallest, rounds, left_to_colour;
    unsigned long long changed[3];
    unsigned long long queue[3];
    unsigned long long stage, chained;
};
struct TopologicalControl {
    unsigned int arrived, done;
    unsigned long long rounds, listed;
    unsigned int rose[4];  // has a height risen, by the round's number?
};
struct QueueControl {
    unsigned int arrived, done;
    unsigned long long steps, narrow;      // levels searched, and of these by one block
    unsigned long long begin, end, edges;  // of the next level: its places in the queue, and the edges that leave it
};
struct CoresControl { unsigned int arrived, done; unsigned long long steps; unsigned int marked[3]; };
struct PagerankControl { unsigned int arrived, done; unsigned long long rounds; double moved; };
struct Seen { double stuck, moved; };  // Σ x⟨r = 0⟩ of the new shares, and how far they have moved
struct BetweennessControl {
    unsigned int arrived, done;
    unsigned long long steps, phase, wave, begin, end;
    unsigned int found[3];
};
struct ForestControl {
    unsigned int arrived, pad;
    unsigned long long queue[3];
    unsigned long long rounds, listed, light, chosen;
};
struct ForestEdge { I a, b; unsigned long long key; };
struct StreamControl {
    unsigned int arrived, pad;
    unsigned long long count, rounds, queue[4];
    unsigned long long balance[2];  // of edges up and down: 0, with all but certainty, where each has its reverse
    unsigned long long lightest, heaviest, differing;  // listed weights, and the bits in which these differ
};
struct __align__(sizeof(J) == 4 ? 16 : 8) Edge {
    unsigned long long weight;  // ordered as weights are
    J u, v;                     // u < v; the sign of v: is the weight -0.0?
};
struct Letter { unsigned long long words[LETTER_WORDS], number; };
struct Meetings {
    unsigned long long number, released;
    unsigned long long lost;             // 1 + the GPU for which this one waited in vain
    unsigned long long arrived, patience;  // patience: nanoseconds
    Letter box[2][MAX_GPUS];
};
struct StripControl {
    unsigned int arrived, done;
    unsigned long long steps, edges, thresholds;
    unsigned long long queue[3];  // edges and vertices of the own frontier
    Slot nearest[3];              // the best active value that this GPU knows
    Slot threshold;
    Slot best, reached;           // what all know: the best active value, and what the target has
    unsigned long long before;    // edges of the step before, of all
    unsigned long long saturated, taken;  // taken: values that came from other GPUs
    unsigned long long sent[2][MAX_GPUS];  // to each GPU
    unsigned long long busiest;           // over all steps, edges of the GPU that has most
    unsigned long long doublings;         // of the width
    unsigned long long lost;
};
struct StripSearch {
    unsigned int arrived, done;
    unsigned long long steps, pulls, unexplored, pulling;
    unsigned long long queue[3];
    unsigned long long found[3];
    unsigned long long edges, vertices;   // of the frontier, of all
    unsigned long long after;             // what to list: 0 the source, 1 what a push marked, 2 what a pull found
    unsigned long long pushes, looked_at;  // looked_at: own edges that were pushed along
    unsigned long long lost;
};
struct StripForest {
    unsigned int arrived, done;
    unsigned long long queue[3];
    unsigned long long found, counts[MAX_GPUS];  // edges of this GPU's local forest, and of everybody's
    unsigned long long rounds, listed, light, chosen;
    unsigned long long outside;  // own rows out of the largest tree, and their entries
    unsigned long long lost;
};
struct StripEdge { I a, b; unsigned int weight, u, x; };  // an edge u < x between the trees a and b
"""
"""The structs, in which bounds of arrays are numbers, or named above."""

TYPES = {
    "unsigned int": np.uint32,
    "unsigned long long": np.uint64,
    "long long": np.int64,
    "double": np.float64,
    "Slot": np.uint64,
}
"""The types of fields, beside the unit's own I, J and T, and structs."""


@dataclass(frozen=True)
class Struct:
    """A struct of the CUDA text: `text` is its declaration, and `fields` what stands in its braces."""

    name: str
    text: str
    fields: str

    @cache  # noqa: B019  # there are as many structs as above
    def dtype(self, **types: Any) -> np.dtype:
        """Returns where the fields lie; `types` has those of I, J and T, where they are used."""
        known, found = {**TYPES, **types}, []
        for kind, names in re.findall(r"((?:unsigned |long )*\w+) ([^;]*);", re.sub(r"//.*", "", self.fields)):
            of = np.dtype(known[kind]) if kind in known else structs()[kind].dtype(**types)
            for name, bounds in re.findall(r"(\w+)((?:\[\w+\])*)", names):
                shape = tuple(numbers().get(bound) or int(bound) for bound in re.findall(r"\w+", bounds))
                found.append((name, of, shape))
        return np.dtype(found, align=True)

    def nbytes(self, **types: Any) -> int:
        """Returns the bytes of one."""
        return self.dtype(**types).itemsize

    @property
    def words(self) -> int:
        """The words of 8 bytes of one."""
        return self.nbytes() // 8

    def word(self, name: str) -> int:
        """Returns the word of 8 bytes in which a field begins."""
        fields: Any = self.dtype().fields
        return int(fields[name][1]) // 8

    def read(self, state: Any, *names: str) -> dict[str, int]:
        """Reads the values of fields of 8 bytes, by their names."""
        return {name: int(state[self.word(name)]) for name in names}


def numbers() -> dict[str, int]:
    """Returns the numbers above, by their names."""
    return {name: value for name, value in globals().items() if isinstance(value, int) and name.isupper()}


def structs() -> dict[str, Struct]:
    """Returns the structs above, by their names."""
    found = re.finditer(r"(?:struct|union) (?:__align__\(.*\) )?(\w+) {(.*?)};", STRUCTS, re.DOTALL)
    return {each[1]: Struct(each[1], each[0], each[2]) for each in found}


def __getattr__(name: str) -> Struct:
    try:
        return structs()[name]
    except KeyError:
        raise AttributeError(name) from None


def used(text: str) -> list[Struct]:
    """Returns the structs that CUDA text mentions, and those that these have as fields."""
    found, words = [], set(re.findall(r"\w+", text))
    for struct in reversed(structs().values()):
        if struct.name in words:
            found.append(struct)
            words.update(re.findall(r"\w+", struct.fields))
    return found[::-1]


def declared(text: str) -> str:
    """Returns the declarations of the numbers and the structs that CUDA text mentions."""
    declarations = "".join(f"{struct.text}\n" for struct in used(text))
    words = set(re.findall(r"\w+", text + declarations))
    sizes = (f"[[maybe_unused]] constexpr int {name} = {numbers()[name]};\n" for name in sorted(words & {*numbers()}))
    return "".join(sizes) + declarations


def asserted(text: str, **types: np.dtype) -> str:
    """Returns assertions that each struct that CUDA text mentions has the size that the host reckons with."""
    found = [struct for struct in used(text) if struct.name != "Slot"]
    return "".join(f"static_assert(sizeof({struct.name}) == {struct.nbytes(**types)});\n" for struct in found)
