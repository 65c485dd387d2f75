"""A graph whose vertices have names: a matrix, the names, and what else is known of the edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from formats import COO, Matrix, from_networkx, from_scipy
from formats.arrays import Array, to_device
from formats.arrays import differs as different
from formats.edges import Duplicates, check_dup
from formats.interop import Weight
from formats.io import content_of, has_banner, listed
from formats.io.damage import refusing_damage
from formats.io.opening import Held, Readable, name_of, suffix_of
from formats.io.source import open_source
from formats.named.layout import GRAPHML, TEXT
from formats.named.names import Names
from formats.named.tables import Table, column_of, looked_up_by_row
from formats.storage.orientation import compressed, is_symmetric
from semiring import MinPlus, Semiring
from semiring.algebra.semirings import find_semiring
from semiring.vectors import arange
from semiring.verbs.checks import check_graph

from ..equations.bfs import bfs
from ..equations.boruvka import boruvka
from ..equations.scc import scc
from ..equations.sssp import sssp
from ..shared.errors import NegativeCycle
from ..shared.signatures import Distance, Name
from .answers import Components, Distances, Edges

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

    from formats.named.reading import Column


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Graph:
    """A graph whose vertices have names; they go in wherever a vertex does, and come out of every answer.

    Any algorithm of the package takes `g.matrix`; `g.index(name)` is the number of a vertex, `g.names[v]` its name.

    Attributes:
        matrix: (n, n), the weight of the edge u -> v at [u, v]; an undirected edge is there both ways.
        names: the names of the vertices in order, distinct and hashable; by default 0 to n-1.
        columns: more that is known of the edges, columns of a table by their names.
        rows: of each entry of the matrix, by rows, the row of that table.
        merged: how many rows of the table became one edge with an earlier one, as far as it is known.

    Raises:
        ValueError: the matrix is not square, or there is not one name for each vertex.

    Example:
        >>> g = Graph.from_edges(["Paris", "Dijon"], ["Dijon", "Lyon"], [315, 195], directed=False)
        >>> g, g.sssp("Paris")["Lyon"], g.sssp("Paris").path("Lyon").vertices
        (<Graph of 3 vertices, 4 entries>, 510, ['Paris', 'Dijon', 'Lyon'])
        >>> len(g), "Lyon" in g, list(g)
        (3, True, ['Paris', 'Dijon', 'Lyon'])
        >>> from algorithms import pagerank
        >>> g.names[pagerank(g.matrix).argmax()]
        'Dijon'
    """

    __networkx_backend__ = "semiring"  # so that NetworkX's functions take it

    matrix: Matrix
    names: Names
    columns: Mapping[str, Sequence[object]]
    rows: Array | None
    merged: int

    def __init__(
        self,
        matrix: Matrix,
        names: Names | Iterable[Hashable] | None = None,
        columns: Mapping[str, Sequence[object]] | None = None,
        rows: Array | None = None,
        merged: int = 0,
    ) -> None:
        check_graph(matrix)
        if not isinstance(names, Names):
            names = Names(matrix.nrows if names is None else names)
        if len(names) != matrix.nrows:
            raise ValueError(f"{matrix.nrows} vertices need as many names, got {len(names)}")
        if columns and (rows is None or len(rows) != matrix.nnz):
            raise ValueError("columns need rows: for each entry of the matrix the row of the table")
        parts = {"matrix": matrix, "names": names, "columns": columns or {}, "rows": rows, "merged": merged}
        for part, value in parts.items():
            object.__setattr__(self, part, value)

    @classmethod
    def from_pandas(
        cls,
        table: pandas.DataFrame | Mapping[str, Sequence[object]],
        source: Hashable,
        target: Hashable,
        weight: Hashable | None = None,
        *,
        directed: bool = True,
        columns: Iterable[str] = (),
        names: Iterable[Hashable] | None = None,
        dup: Duplicates = "min",
    ) -> Graph:
        """The graph of a table with a row for each edge: of pandas, Polars or Arrow, or a dict of columns.

        Names that are integers ascend; others come in the order in which they first occur.

        Args:
            table: the edges.
            source: the name of the column of the vertices that edges lead from.
            target: the name of the column of those that they lead to.
            weight: the name of the column of weights; None: every edge weighs 1.
            directed: False lets every edge count both ways.
            columns: more columns, which the legs of paths show.
            names: all vertices in order, also those without edges; by default those of the edges.
            dup: "min", "max", "sum", "first", "last", or "error", for edges given more than once.

        Returns:
            The graph, which says how many rows were merged with others.

        Raises:
            ValueError: there is no such column, a name is missing or not among `names`, or a weight is no number.
            TypeError: the table has no columns, or a name is not hashable.

        Example:
            >>> roads = {"a": ["Paris", "Dijon"], "b": ["Dijon", "Lyon"], "km": [315, 195], "road": ["A6", "A31"]}
            >>> g = Graph.from_pandas(roads, "a", "b", "km", directed=False, columns=["road"])
            >>> [(leg.target, leg.weight, leg.row) for leg in g.sssp("Paris").path("Lyon").legs]
            [('Dijon', 315, {'road': 'A6'}), ('Lyon', 195, {'road': 'A31'})]
        """
        ends = column_of(table, source), column_of(table, target)
        weights = None if weight is None else column_of(table, weight)
        more = {name: looked_up_by_row(column_of(table, name)) for name in columns}
        what = (f"source {source!r}", f"target {target!r}", f"weight {weight!r}")
        return cls._of(Table(*ends, weights, more, what), directed, names, dup)

    @classmethod
    def _of(
        cls, table: Table, directed: bool, names: Iterable[Hashable] | None = None, dup: Duplicates = "min"
    ) -> Graph:
        A, found, rows, merged = table.matrix(directed, None if names is None else Names(names), dup)
        return cls(A, found, table.columns, rows, merged)

    @classmethod
    def from_edges(
        cls,
        source: Iterable[Hashable],
        target: Iterable[Hashable],
        weights: Iterable[float] | None = None,
        *,
        directed: bool = True,
        names: Iterable[Hashable] | None = None,
        dup: Duplicates = "min",
    ) -> Graph:
        """The graph of edges between vertices of any hashable names.

        Args:
            source: (m,) the names of the vertices that edges lead from.
            target: (m,) the names of those that they lead to.
            weights: (m,) numbers; None: every edge weighs 1.
            directed: False lets every edge count both ways.
            names: all vertices in order, also those without edges; by default those of the edges.
            dup: "min", "max", "sum", "first", "last", or "error", for edges given more than once.

        Returns:
            The graph.

        Raises:
            ValueError: columns differ in length, a name is missing or not among `names`, or a weight is no number.
            TypeError: a name is not hashable.

        Example:
            >>> g = Graph.from_edges([(0, 0), (0, 1)], [(0, 1), (1, 1)])
            >>> dict(g.bfs((0, 0)))
            {(0, 0): 0, (0, 1): 1, (1, 1): 2}
        """
        return cls._of(Table(source, target, weights), directed, names, dup)

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph, weight: Weight | None = "weight", *, columns: Iterable[str] = ()
    ) -> Graph:
        """The graph of NetworkX, with its nodes as names.

        Args:
            graph: any NetworkX graph. Of parallel edges the lightest stays.
            weight: the name of an edge attribute, or a function, see `formats.from_networkx`.
            columns: more attributes, which the legs of paths show, None where an edge has no such attribute.

        Returns:
            The graph.

        Raises:
            ValueError: no edge has the attribute, or a weight is no number.
            TypeError: it is no graph.

        Example:
            >>> import networkx
            >>> Graph.from_networkx(networkx.path_graph(["Paris", "Dijon", "Lyon"])).bfs("Paris")["Lyon"]
            2
        """
        A, nodes = from_networkx(graph, weight, return_labels=True)
        attributes = list(columns)
        if not attributes:
            return cls(A, Names(nodes))
        if callable(weight):
            raise TypeError("columns need a weight by name")
        edges = list(graph.edges(data=True))
        source, target, data = ([edge[k] for edge in edges] for k in range(3))
        weights = None if weight is None else [each.get(weight, 1) for each in data]
        more = {name: [each.get(name) for each in data] for name in attributes}
        return cls._of(Table(source, target, weights, more), graph.is_directed(), nodes)

    @classmethod
    def from_scipy(
        cls, S: scipy.sparse.sparray | scipy.sparse.spmatrix, names: Iterable[Hashable] | None = None
    ) -> Graph:
        """The graph of a SciPy sparse array, whose stored zeros are edges, and repeated entries are added up.

        Args:
            S: (n, n), the weight of the edge u -> v at [u, v].
            names: (n,) of the vertices, by default 0 to n-1.

        Returns:
            The graph.

        Raises:
            ValueError: the array is not square, or there is not one name for each vertex.

        Example:
            >>> import scipy.sparse
            >>> g = Graph.from_scipy(scipy.sparse.csr_array([[0, 5], [0, 0]]), ["Paris", "Lyon"])
            >>> g.sssp("Paris")["Lyon"]
            5
        """
        return cls(from_scipy(S), names)

    @classmethod
    def read(
        cls,
        file: Readable,
        source: Column = 0,
        target: Column = 1,
        weight: Column | None = "auto",
        *,
        directed: bool = True,
        columns: Sequence[str] = (),
        separator: str | None = None,
        header: bool | None = None,
        comment: str | None = None,
        dup: Duplicates = "min",
        force: bool = False,
    ) -> Graph:
        """The graph in a file: of text with separators, GraphML, or of any kind that `formats.read` knows.

        In text, names are integers if every name is written as one. Blanks around a name do not count.

        Args:
            file: the file, also compressed (.gz, .bz2, .xz, .zst); "-" for standard input; or an open file.
            source: the column of the vertices that edges lead from, by its name in the heading or its place.
            target: the column of those that they lead to.
            weight: the column of weights, or in GraphML the attribute; "auto" takes the one that the heading calls so,
                or else the third if there is one, in GraphML "weight", and None takes none.
            directed: False lets every edge count both ways. GraphML also says so itself of its edges.
            columns: more columns, or attributes, which the legs of paths show.
            separator: one character; by default the comma, tab, semicolon or bar that the first line has most of.
            header: is the first line a heading? By default, if columns are asked for by name, or it is of words that
                are known, as `from` and `km`, or that stand above numbers. Where it cannot be told, an error asks.
                Known words also say which columns count, wherever they are.
            comment: what a comment begins with, "" where there are none. By default "#" or "%", if a line that begins
                so can be no edge; an error asks where it can.
            dup: "min", "max", "sum", "first", "last", or "error", for edges given more than once.
            force: also read what would take absurdly much memory, see `formats.read`.

        Returns:
            The graph, which says how many rows were merged with others.

        Raises:
            ValueError: the file is malformed, as `file:line: what was expected`, or has no such column.
            OSError: the file cannot be opened.

        See Also:
            `formats.read`: the matrix alone, of a file whose vertices are numbers.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     file = pathlib.Path(folder) / "cities.csv"
            ...     _ = file.write_text("from,to,km\\nParis,Dijon,315\\nDijon,Lyon,195\\n")
            ...     g = Graph.read(file)
            >>> g.sssp("Paris").path("Lyon").length
            510
        """
        from formats.named.reading import is_edge_list, read_table

        name = name_of(file)
        options = (source, target, weight, *columns, separator, header, comment)
        usual = options == (0, 1, "auto", None, None, None)
        if suffix_of(name) == GRAPHML:
            if source not in (0, "source") or target not in (1, "target") or (separator, header) != (None, None):
                raise ValueError(f"{name}: edges in GraphML have a source and a target, and no other columns of names")
            from formats.named.graphml import read_graphml

            with refusing_damage(name), open_source(name) as document:
                table, nodes = read_graphml(document, "weight" if weight == "auto" else weight, columns)
            return cls._of(table, directed, nodes, dup)
        if usual and isinstance(name, Held) and not suffix_of(name):
            with suppress(ValueError):  # it may be a table of names
                return cls._of_numbers(name, directed, dup, force)
        elif usual and suffix_of(name) not in TEXT:
            return cls._of_numbers(name, directed, dup, force)
        if has_banner(name):
            if not usual:
                raise ValueError(f"{name}: a Matrix Market file has no columns to choose from: give the file alone")
            return cls._of_numbers(name, directed, dup, force)
        if usual and is_edge_list(name):
            with suppress(ValueError):  # of which a later line may have other names than numbers
                return cls._of_numbers(name, directed, dup, force)
        table = read_table(name, source, target, weight, columns, separator, header, comment)
        return cls._of(table, directed, dup=dup)

    @classmethod
    def _of_numbers(cls, file: str, directed: bool, dup: Duplicates, force: bool) -> Graph:
        check_dup(dup)
        content = content_of(file, force=force)
        with refusing_damage(file):
            A = content.matrix(directed, None, dup)
        if A.nrows != A.ncols:
            raise ValueError(f"{file}: a graph needs a square matrix, this one is {A.nrows} x {A.ncols}")
        return cls(A, Names(listed(content.labels)), merged=content.merged(A, directed))

    def is_directed(self) -> bool:
        """True if some edge lacks a reverse of the same weight; NetworkX asks."""
        return not is_symmetric(self.matrix)

    def is_multigraph(self) -> bool:
        """No: of parallel edges one is left."""
        return False

    def index(self, name: object) -> int:
        """The number of a vertex.

        Args:
            name: the vertex.

        Returns:
            Its row and column in the matrix.

        Raises:
            ValueError: there is no vertex of that name; the error names one that is like it.

        Example:
            >>> Graph.from_edges(["Paris"], ["Lyon"]).index("Lyon")
            1
        """
        return self.names.index(name)

    @overload
    def sssp(
        self,
        source: Hashable,
        semiring: Semiring | str = MinPlus,
        *,
        sources: None = None,
        algorithm: Name = "auto",
        limit: Distance | None = None,
        target: Hashable | None = None,
    ) -> Distances: ...
    @overload
    def sssp(
        self,
        source: None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Iterable[Hashable],
        algorithm: Name = "auto",
        limit: Distance | None = None,
        target: Hashable | None = None,
    ) -> dict[Hashable, Distances]: ...
    def sssp(
        self,
        source: Hashable | None = None,
        semiring: Semiring | str = MinPlus,
        *,
        sources: Iterable[Hashable] | None = None,
        algorithm: Name = "auto",
        limit: Distance | None = None,
        target: Hashable | None = None,
    ) -> Distances | dict[Hashable, Distances]:
        """Shortest paths from a vertex, see `algorithms.sssp`.

        Args:
            source: the vertex to start from.
            semiring: what a path's length is and which is better.
            sources: several vertices instead of one.
            algorithm: the name of one, or "auto".
            limit: look no farther than this distance.
            target: stop when this vertex is settled.

        Returns:
            The distances, by name, with the arrays and the paths; of several sources those of each, by its name.

        Raises:
            NegativeCycle: a cycle that improves paths for ever can be reached; the error has its names.
            ValueError: there is no such vertex.
            TypeError: both or neither of source and sources are given.

        Example:
            >>> g = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], [5.0, 9.0, 3.0], names="abcd")
            >>> d = g.sssp("a")
            >>> dict(d), d.distance.tolist(), d.parent.tolist(), d.reached.tolist()
            ({'a': 0.0, 'b': 5.0, 'c': 8.0}, [0.0, 5.0, 8.0, inf], [-1, 0, 1, -1], [True, True, True, False])
        """
        starts = self._starts(source, sources)
        end = None if target is None else self.names.index(target, "target")
        try:
            distance, parent = sssp(
                self.matrix,
                semiring=semiring,
                sources=list(starts.values()),
                return_parents=True,
                algorithm=algorithm,
                limit=limit,
                target=end,
            )
        except NegativeCycle as error:
            raise NegativeCycle([self.names[v] for v in error.cycle]) from None
        zero = find_semiring(semiring).zero(distance.dtype)
        return self._answers(starts, source, distance, parent, different(distance, zero))

    @overload
    def bfs(
        self,
        source: Hashable,
        *,
        sources: None = None,
        max_level: int | None = None,
        target: Hashable | None = None,
    ) -> Distances: ...
    @overload
    def bfs(
        self,
        source: None = None,
        *,
        sources: Iterable[Hashable],
        max_level: int | None = None,
        target: Hashable | None = None,
    ) -> dict[Hashable, Distances]: ...
    def bfs(
        self,
        source: Hashable | None = None,
        *,
        sources: Iterable[Hashable] | None = None,
        max_level: int | None = None,
        target: Hashable | None = None,
    ) -> Distances | dict[Hashable, Distances]:
        """The number of edges on a way from a vertex with the fewest, see `algorithms.bfs`.

        Args:
            source: the vertex to start from.
            sources: several vertices instead of one.
            max_level: how far to look, in edges.
            target: look no farther than this vertex.

        Returns:
            The levels, by name, with the arrays and the paths; of several sources those of each, by its name.

        Raises:
            ValueError: there is no such vertex.
            TypeError: both or neither of source and sources are given.

        Example:
            >>> dict(Graph.from_edges(["a", "b"], ["b", "c"], names="abcd").bfs("a"))
            {'a': 0, 'b': 1, 'c': 2}
        """
        starts = self._starts(source, sources)
        end = None if target is None else self.names.index(target, "target")
        level, parent = bfs(
            self.matrix, sources=list(starts.values()), return_parents=True, max_level=max_level, target=end
        )
        return self._answers(starts, source, level, parent, level >= 0)

    def _starts(self, source: Hashable | None, sources: Iterable[Hashable] | None) -> dict[Hashable, int]:
        """The numbers of the vertices to start from, by name."""
        if (source is None) == (sources is None):
            raise TypeError("give either a source or sources=[…]")
        if isinstance(sources, str):
            raise TypeError(f"sources must be several names, as [{sources!r}], got {sources!r}")
        given = [source] if sources is None else list(sources)
        return {name: self.names.index(name, "source") for name in given}

    def _answers(
        self, starts: dict[Hashable, int], source: Hashable | None, *rows: Array
    ) -> Distances | dict[Hashable, Distances]:
        """The answer for each start; of one alone, that."""
        of_each = zip(starts, *(to_device(each, "cpu") for each in rows), strict=True)
        found = {name: Distances(self, name, *parts) for name, *parts in of_each}
        return found if source is None else found[source]

    def components(self, *, weak: bool = False) -> Components:
        """The strongly connected component of every vertex; of an undirected graph, the connected one.

        Args:
            weak: let edges count both ways.

        Returns:
            By the name of each vertex that of the first one in its component, with the array and the groups.

        Example:
            >>> g = Graph.from_edges(["a", "b", "c"], ["b", "a", "a"])
            >>> dict(g.components()), g.components(weak=True).groups()
            ({'a': 'a', 'b': 'a', 'c': 'c'}, [['a', 'b', 'c']])
        """
        return Components(self, to_device(scc(self.matrix, weak=weak), "cpu"))

    def spanning_forest(self) -> Edges:
        """A spanning forest of least weight, in which edges count both ways, see `algorithms.boruvka`.

        Returns:
            Its edges.

        Example:
            >>> g = Graph.from_edges(["a", "b", "a"], ["b", "c", "c"], [4, 1, 2], directed=False)
            >>> [(edge.source, edge.target, edge.weight) for edge in g.spanning_forest()]
            [('a', 'c', 2), ('b', 'c', 1)]
        """
        F, places = boruvka(self.matrix, symmetrize=True, return_places=True)
        return Edges(self, F.to(COO, device="cpu"), to_device(places, "cpu"))

    def edges(self) -> Edges:
        """All edges, by source and target; an undirected one is there both ways.

        Returns:
            The edges.

        Example:
            >>> Graph.from_edges(["a"], ["b"], [4.5]).edges()[0]
            Edge(source='a', target='b', weight=4.5, row={})
        """
        entries = compressed(self.matrix, 0).to(COO, device="cpu")
        return Edges(self, entries, arange(entries.rows[:0].astype("int64"), entries.nnz))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        merged = f", {self.merged:,} rows merged" if self.merged else ""
        return f"<Graph of {self.matrix.nrows:,} vertices, {self.matrix.nnz:,} entries{merged}>"
