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

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from ..io.source import Source
from .names import did_you_mean
from .tables import Table

BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
DIRECTED = {"true": True, "false": False}
EDGEDEFAULT = {"directed": True, "undirected": False}
NUMERIC = ("int", "integer", "long", "float", "double", "real")
INTEGER = re.compile(r"\s*[-+]?[0-9]+\s*")


def read_graphml(source: Source, weight: str | None, columns: Iterable[str]) -> tuple[Table, list[str]]:
    """(the edges, undirected ones both ways; the names of all vertices).

    weight, columns: names of attributes. An edge without one has its default; where there is none, a weight of 1, as in
    NetworkX, and None in a column. ValueError names the file and, of an element, the line.
    """
    read = _Reader(source)
    read.all()
    asked = None if weight == "weight" and weight not in read.attributes() else weight
    weights = None if asked is None else read.column(asked, 1, as_number=True)
    more = {name: read.column(name, None) for name in columns}
    ends, again = (read.source, read.target), [k for k, both in enumerate(read.both_ways) if both]
    rows = [*range(len(read.source)), *again]
    table = Table(
        *(one + [other[k] for k in again] for one, other in (ends, ends[::-1])),
        None if weights is None else [weights[k] for k in rows],
        {name: [column[k] for k in rows] for name, column in more.items()},
        ("source", "target", f"attribute {weight!r}"),
        lambda row: f"{source.path}:{read.lines[rows[row]]}",
    )
    return table, list(read.nodes)


@dataclass
class Key:
    """An attribute. texts: of the edges that have it, by their number."""

    name: str
    kind: str
    of_edges: bool
    default: str | None = None
    texts: dict[int, str] = field(default_factory=dict)


class _Reader:
    """What the parser has found, element by element."""

    def __init__(self, file: Source) -> None:
        self.nodes: dict[str, None] = {}
        self.keys: dict[str, Key] = {}
        self.source: list[str] = []
        self.target: list[str] = []
        self.both_ways: list[bool] = []
        self.lines: list[int] = []
        self._file = file
        self._space: str | None = None  # the namespace of the outermost element, and so of all that count
        self._graphs: list[bool] = []  # of the graphs that are open: are edges directed?
        self._has_graph = False
        self._within: list[int | None] = []  # of the nodes and edges that are open, the number of an edge
        self._key: Key | None = None  # of the <key> or <data> that is open
        self._text: list[str] | None = None  # of the <data> or <default> that is open
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = lambda text: None if self._text is None else self._text.append(text)

    def all(self) -> None:
        """Read the file."""
        try:
            self._parser.ParseFile(self._file.stream)
        except expat.ExpatError as error:
            raise self._file.error(f"this is no XML: {expat.ErrorString(error.code)}", error.lineno) from error
        if not self._has_graph:
            raise self._error("expected a <graph>, got the end of the file")

    def attributes(self) -> list[str]:
        """The names of those that an edge has, itself or by default."""
        return list(dict.fromkeys(key.name for key in self.keys.values() if key.texts or key.default is not None))

    def column(self, name: str, absent: Any, as_number: bool = False) -> list[Any]:
        """An attribute of every edge."""
        if self.source and name not in self.attributes():
            known = self.attributes()
            listed = ", ".join(map(repr, known)) or "none"
            raise self._file.error(f"no edge has the attribute {name!r}{did_you_mean(name, known)}; there are {listed}")
        values = [absent] * len(self.source)
        for key in self.keys.values():
            if key.name != name:
                continue
            if key.default is not None:
                values = [self._value(key, key.default, as_number, None)] * len(values)
            for edge, text in key.texts.items():
                values[edge] = self._value(key, text, as_number, self.lines[edge])
        return values

    def _value(self, key: Key, text: str, as_number: bool, line: int | None) -> Any:
        """What a text says; ValueError if it is none of the attribute's kind, or no number where one is wanted."""
        if key.kind == "boolean" and text.strip().lower() in BOOLEANS:
            return BOOLEANS[text.strip().lower()]
        if key.kind != "boolean" and not as_number and key.kind not in NUMERIC:
            return text
        try:
            if "_" in text or float(text) != float(text):  # which Python takes for a separator of thousands
                raise ValueError(text)
            real = key.kind in ("float", "double", "real") or INTEGER.fullmatch(text) is None
            return float(text) if real else int(text)
        except ValueError:
            what = "a number" if key.kind in ("string", *NUMERIC) else f"a {key.kind}"
            raise self._file.error(f"expected {what} as {key.name!r}, got {text[:60]!r}", line) from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, name = tag.rpartition(" ")
        if self._space is None:
            if name != "graphml":
                raise self._error(f"expected <graphml>, got <{name[:60]}>")
            self._space = space
        if space != self._space:
            return

        def needed(attribute: str) -> str:
            if attribute not in attributes:
                raise self._error(f"<{name}> needs {attribute}=")
            return attributes[attribute]

        def chosen(attribute: str, choices: dict[str, bool], default: bool) -> bool:
            if attribute in attributes and attributes[attribute] not in choices:
                raise self._error(f"{attribute} must be {' or '.join(choices)}, got {attributes[attribute][:60]!r}")
            return choices[attributes[attribute]] if attribute in attributes else default

        match name:
            case "key":
                about = attributes.get("attr.name", needed("id")), attributes.get("attr.type", "string")
                self._key = self.keys[needed("id")] = Key(*about, attributes.get("for", "all") in ("all", "edge"))
            case "default" if self._key is not None and self._key.of_edges:
                self._text = []
            case "graph":
                if self._has_graph and not self._graphs:
                    raise self._error("a second <graph>: a file of one is read, so write each to a file of its own")
                self._has_graph = True
                self._graphs.append(chosen("edgedefault", EDGEDEFAULT, False))
            case "node":
                self.nodes.setdefault(needed("id"))
                self._within.append(None)
            case "edge":
                if not self._graphs:
                    raise self._error("an <edge> outside of a <graph>")
                self._within.append(len(self.source))
                self.source.append(needed("source"))
                self.target.append(needed("target"))
                self.both_ways.append(
                    not chosen("directed", DIRECTED, self._graphs[-1]) and self.source[-1] != self.target[-1]
                )
                self.lines.append(self._parser.CurrentLineNumber)
            case "data":
                if needed("key") not in self.keys:
                    raise self._error(f"there is no <key> of the id {attributes['key'][:60]!r}")
                if self._within and self._within[-1] is not None:
                    self._key, self._text = self.keys[attributes["key"]], []
            case "hyperedge":
                raise self._error("a <hyperedge>, of which a graph has none")

    def _end(self, tag: str) -> None:
        space, _, name = tag.rpartition(" ")
        if space != self._space:
            return
        if name in ("default", "data") and self._key is not None and self._text is not None:
            text, edge = "".join(self._text), self._within[-1] if self._within else None
            if name == "default":
                self._key.default = text
            elif edge is not None:
                self._key.texts[edge] = text
            self._text = None
        if name in ("key", "data"):
            self._key = None
        elif name in ("node", "edge"):
            self._within.pop()
        elif name == "graph":
            self._graphs.pop()
            if not self._graphs:
                self._add_ends()

    def _add_ends(self) -> None:
        """Number the ends of edges, too, that no <node> declares."""
        for u, v in zip(self.source, self.target, strict=True):
            self.nodes.setdefault(u)
            self.nodes.setdefault(v)

    def _error(self, message: str) -> ValueError:
        return self._file.error(message, self._parser.CurrentLineNumber)
