"""GraphML, `.graphml`: vertices and edges with attributes, as NetworkX, igraph, Gephi, yEd and OSMnx write them.

    <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
      <key id="d0" for="edge" attr.name="km" attr.type="double"><default>1.5</default></key>
      <graph edgedefault="undirected">
        <node id="Paris"/> <node id="Lyon"/>
        <edge source="Paris" target="Lyon"> <data key="d0">465</data> </edge>

An edge may say for itself whether it is directed. Graphs within a node are parts of the one graph. A second graph and
hyperedges are refused. Attributes written as text, as all of OSMnx's are, are weights where they are numbers.

Source: U. Brandes, M. Eiglsperger, I. Herman, M. Himsolt, M. S. Marshall, GraphML Progress Report, GD 2001;
http://graphml.graphdrawing.org/specification.html
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from xml.parsers import expat

from ..io.source import Source
from .names import did_you_mean
from .tables import Table

BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
DIRECTED = {"directed": True, "undirected": False, "true": True, "false": False}
INTEGERS, REALS = ("int", "integer", "long"), ("float", "double", "real")
NEEDED = {"key": ("id",), "node": ("id",), "edge": ("source", "target"), "data": ("key",)}
DEFAULT = -1  # of an attribute's texts


def read_graphml(source: Source, weight: Any, columns: Iterable[str]) -> tuple[Table, list[str]]:
    """Reads (the edges, undirected ones both ways; the names of all vertices).

    weight, columns: names of attributes. An edge without one has its default; where there is none, a weight of 1, as in
    NetworkX, and None in a column. ValueError names the file and, of an element, the line.
    """
    read = _Reader(source)
    asked = None if weight == "weight" and weight not in read.attributes() else weight
    weights = None if asked is None else read.column(asked, 1, as_numbers=True)
    more = {name: read.column(name, None) for name in columns}
    rows = [*range(len(read.ends)), *(k for k, (u, v) in enumerate(read.ends) if read.both_ways[k] and u != v)]
    ends = [uv if k < len(read.ends) else uv[::-1] for k, uv in enumerate(read.ends[row] for row in rows)]
    table = Table(
        [u for u, _ in ends],
        [v for _, v in ends],
        None if weights is None else [weights[row] for row in rows],
        {name: [column[row] for row in rows] for name, column in more.items()},
        ("source", "target", f"attribute {weight!r}"),
        lambda k: f"{source.path}:{read.lines[rows[k]]}",
    )
    return table, list(dict.fromkeys(chain(read.nodes, *read.ends)))


@dataclass
class Key:
    """An attribute. texts: of the edges that have it, by their number."""

    name: str
    kind: str
    is_of_edges: bool
    texts: dict[int, str] = field(default_factory=dict)

    def value(self, text: str, as_number: bool) -> Any:
        """Reads a text's value; ValueError or KeyError if it is none of this kind, or no number where one is wanted."""
        if self.kind == "boolean":
            return BOOLEANS[text.strip().lower()]
        if not (as_number or self.kind in (*INTEGERS, *REALS)):
            return text
        number = float(text)
        beyond = abs(number) == math.inf and "i" not in text.lower()
        if beyond or number != number or "_" in text:  # which Python takes for a separator of thousands
            raise ValueError(text)
        return int(text) if self.kind not in REALS and text.strip().lstrip("+-").isdecimal() else number


class _Reader:
    """The parser's findings in a file, element by element."""

    def __init__(self, file: Source) -> None:
        self.nodes: list[str] = []
        self.ends: list[tuple[str, str]] = []
        self.both_ways: list[bool] = []
        self.lines: list[int] = []
        self._file, self._keys = file, dict[str, Key]()
        self._key: Key | None = None  # that is open
        self._space: str | None = None  # the namespace of the outermost element, and so of all that count
        self._graphs: list[bool] = []  # of those that are open: are edges directed?
        self._has_graph = False
        self._within: list[int | None] = []  # of the nodes and edges that are open, the number of an edge
        self._text: list[str] | None = None  # of the <data> or <default> that is open
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
        self._parser.CharacterDataHandler = lambda text: None if self._text is None else self._text.append(text)
        try:
            self._parser.ParseFile(file.stream)
        except expat.ExpatError as error:
            raise file.error(f"this is no XML: {expat.ErrorString(error.code)}", error.lineno) from error
        if not self._has_graph:
            raise self._error("expected a <graph>, got the end of the file")

    def attributes(self) -> list[str]:
        """The names of those that an edge has, itself or by default."""
        return list(dict.fromkeys(key.name for key in self._keys.values() if key.texts))

    def column(self, name: Any, absent: Any, as_numbers: bool = False) -> list[Any]:
        """An attribute of every edge."""
        known = self.attributes()
        if self.ends and name not in known:
            listed = ", ".join(map(repr, known)) or "none"
            raise self._file.error(f"no edge has the attribute {name!r}{did_you_mean(name, known)}; there are {listed}")
        values = [absent] * len(self.ends)
        for key in self._keys.values():
            for edge, text in sorted(key.texts.items()) if key.name == name else ():
                at = slice(edge, edge + 1) if edge != DEFAULT else slice(None)
                try:
                    values[at] = [key.value(text, as_numbers)] * len(values[at])
                except (ValueError, KeyError):
                    line = self.lines[edge] if edge != DEFAULT else None
                    what = "a boolean" if key.kind == "boolean" else "a number"
                    raise self._file.error(f"expected {what} as {name!r}, got {text[:60]!r}", line) from None
        return values

    def _start(self, tag: str, given: dict[str, str]) -> None:
        space, _, name = tag.rpartition(" ")
        if self._space is None:
            self._space = space
            if name != "graphml":
                raise self._error(f"expected <graphml>, got <{name[:60]}>")
        if space != self._space:
            return
        missing = [each for each in NEEDED.get(name, ()) if each not in given]
        if missing:
            raise self._error(f"<{name}> needs the attribute {missing[0]!r}")
        match name:
            case "key":
                about = given.get("attr.name", given["id"]), given.get("attr.type", "string")
                self._key = self._keys[given["id"]] = Key(*about, given.get("for", "all") in ("all", "edge"))
            case "default" if self._key is not None and self._key.is_of_edges:
                self._text = []
            case "graph":
                if self._has_graph and not self._graphs:
                    raise self._error("a second <graph>: write each to a file of its own")
                self._has_graph = True
                self._graphs.append(self._is_directed(given.get("edgedefault", "undirected")))
            case "node":
                self.nodes.append(given["id"])
                self._within.append(None)
            case "edge":
                if not self._graphs:
                    raise self._error("an <edge> outside of a <graph>")
                self._within.append(len(self.ends))
                self.ends.append((given["source"], given["target"]))
                self.both_ways.append(
                    not (self._is_directed(given["directed"]) if "directed" in given else self._graphs[-1])
                )
                self.lines.append(self._parser.CurrentLineNumber)
            case "data":
                if given["key"] not in self._keys:
                    raise self._error(f"there is no <key> of the id {given['key'][:60]!r}")
                if self._within and self._within[-1] is not None:
                    self._key, self._text = self._keys[given["key"]], []
            case "hyperedge":
                raise self._error("a <hyperedge>, of which a graph has none")

    def _end(self, tag: str) -> None:
        space, _, name = tag.rpartition(" ")
        if space != self._space:
            return
        if name in ("default", "data") and self._text is not None and self._key is not None:
            edge = self._within[-1] if name == "data" else DEFAULT
            self._key.texts[DEFAULT if edge is None else edge] = "".join(self._text)
            self._text = None
        if name in ("key", "data"):
            self._key = None
        elif name in ("node", "edge"):
            self._within.pop()
        elif name == "graph":
            self._graphs.pop()

    def _is_directed(self, text: str) -> bool:
        if text not in DIRECTED:
            raise self._error(f"expected {' or '.join(DIRECTED)}, got {text[:60]!r}")
        return DIRECTED[text]

    def _error(self, message: str) -> ValueError:
        return self._file.error(message, self._parser.CurrentLineNumber)
