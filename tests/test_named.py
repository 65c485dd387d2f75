"""Graphs whose vertices have names: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import copy
import csv
import gzip
import inspect
import pickle
import random
import re
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import FunctionType

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import algorithms
from algorithms import Graph, NegativeCycle, pagerank
from formats import COO, CSC, ELL, from_edges
from formats.io import edges
from formats.named import compiled, hashing, reading
from formats.named import names as naming
from formats.named.names import Names
from semiring import Verb

ROADS = {
    "from": ["Paris", "Dijon", "Paris", "Lyon", "Nice", "Paris"],
    "to": ["Dijon", "Lyon", "Lyon", "Nice", "Nice", "Dijon"],
    "km": [315, 195, 600, 470, 1, 300],
    "road": ["A6", "A31", "N7", "A8", "loop", "A5"],
}


class Arrow:
    """A table as pyarrow has it: `column_names`, and columns that become arrays."""

    def __init__(self, columns: dict[str, list[object]]) -> None:
        self.columns = list(columns.values())
        self.column_names = list(columns)

    def __getitem__(self, name: str) -> pd.Series:
        return pd.Series(self.columns[self.column_names.index(name)], dtype=object).array


class ArrowColumn(list):
    """A column of an Arrow record batch, which `to_numpy` does not copy, as of text it would have to."""

    def to_numpy(self) -> np.ndarray:
        raise ValueError("Needed to copy 1 chunks with 0 nulls, but zero_copy_only was True")

    def to_pylist(self) -> list[object]:
        return list(self)


def cities(**options: object) -> Graph:
    return Graph.from_pandas(ROADS, "from", "to", "km", **options)


@pytest.mark.parametrize("table", [ROADS, pd.DataFrame(ROADS), Arrow(ROADS)], ids=["dict", "pandas", "arrow"])
def test_a_table_gives_names_weights_and_legs(table):
    g = Graph.from_pandas(table, "from", "to", "km", columns=["road"])
    assert list(g.names) == ["Paris", "Dijon", "Lyon", "Nice"]
    d = g.sssp("Paris")
    assert dict(d) == {"Paris": 0, "Dijon": 300, "Lyon": 495, "Nice": 965}
    assert len(d) == 4
    assert list(d.items()) == list(dict(d).items())
    assert "Lyon" in d
    assert "Oslo" not in d
    way = d.path("Nice")
    assert way.vertices == ["Paris", "Dijon", "Lyon", "Nice"]
    assert way.length == sum(leg.weight for leg in way.legs) == 965
    assert [leg.row["road"] for leg in way.legs] == ["A5", "A31", "A8"]
    assert d.path("Paris").legs == []


def test_record_batches_are_tables_and_a_lazy_frame_is_told_to_be_collected():
    batch = {name: ArrowColumn(column) for name, column in ROADS.items()}
    way = Graph.from_pandas(batch, "from", "to", "km", columns=["road"]).sssp("Paris").path("Nice")
    assert [leg.row["road"] for leg in way.legs] == ["A5", "A31", "A8"]
    lazy = type("LazyFrame", (), {"collect": lambda self: ROADS})()
    with pytest.raises(TypeError, match=r"a LazyFrame has no rows yet: give its collect\(\)"):
        Graph.from_pandas(lazy, "from", "to", "km")
    assert Graph.from_pandas(lazy.collect(), "from", "to", "km").matrix.nnz == 5


def test_undirected_edges_count_both_ways_with_their_rows():
    g = cities(directed=False, columns=["road"])
    way = g.sssp("Nice").path("Paris")
    assert [(leg.source, leg.target, leg.weight, leg.row["road"]) for leg in way.legs] == [
        ("Nice", "Lyon", 470, "A8"),
        ("Lyon", "Dijon", 195, "A31"),
        ("Dijon", "Paris", 300, "A5"),
    ]
    forest = g.spanning_forest()
    assert sum(edge.weight for edge in forest) == 965
    assert {edge.row["road"] for edge in forest} == {"A5", "A31", "A8"}
    assert {edge.row["road"] for edge in cities(columns=["road"]).spanning_forest()} == {"A5", "A31", "A8"}
    for listed in (forest, g.edges()):
        assert listed.to_pandas()["road"].tolist() == [edge.row["road"] for edge in listed]


def test_of_parallel_edges_that_weigh_the_same_the_first_row_stays():
    table = {"u": ["b", "a", "b"], "v": ["a", "b", "a"], "w": [7, 7, 7], "k": [0, 1, 2]}
    for weight in ("w", None):
        g = Graph.from_pandas(table, "u", "v", weight, directed=False, columns=["k"])
        assert [edge.row["k"] for edge in g.edges()] == [0, 0]


def test_what_cannot_be_reached_is_absent_and_na():
    d = cities().sssp("Lyon")
    assert set(d) == {"Lyon", "Nice"}
    assert d.get("Paris") is None
    with pytest.raises(KeyError, match="^'Paris' cannot be reached$"):
        d["Paris"]
    with pytest.raises(ValueError, match="'Paris' cannot be reached from 'Lyon'"):
        d.path("Paris")
    table = d.to_pandas()
    assert table.index.tolist() == ["Paris", "Dijon", "Lyon", "Nice"]
    assert table.distance.isna().tolist() == [True, True, False, False]
    assert table.distance["Nice"] == 470
    assert str(table.distance.dtype) == "Int32"
    assert table.parent["Nice"] == "Lyon"
    assert table.parent.isna().tolist() == [True, True, True, False]


def test_several_sources_answer_by_name():
    found = cities().sssp(sources=["Lyon", "Paris"], limit=500)
    assert {name: dict(d) for name, d in found.items()} == {
        "Lyon": {"Lyon": 0, "Nice": 470},
        "Paris": {"Paris": 0, "Dijon": 300, "Lyon": 495},
    }
    assert dict(cities().sssp("Paris", target="Dijon")) == {"Paris": 0, "Dijon": 300}
    levels = cities().bfs(sources=["Paris"])["Paris"]
    assert dict(levels) == {"Paris": 0, "Dijon": 1, "Lyon": 1, "Nice": 2}
    assert levels.path("Nice").vertices == ["Paris", "Lyon", "Nice"]
    assert cities().sssp(sources=[]) == {}


def test_components_have_names_and_groups():
    g = Graph.from_edges("abcd", "baca", names="abcdx")
    assert dict(g.components()) == {"a": "a", "b": "a", "c": "c", "d": "d", "x": "x"}
    assert g.components(weak=True).groups() == [["a", "b", "d"], ["c"], ["x"]]
    assert g.components().to_pandas().component["b"] == "a"


def test_any_algorithm_takes_the_matrix_and_numbers_are_names_again():
    g = cities(directed=False)
    rank = pagerank(g.matrix)
    assert g.names[int(rank.argmax())] == "Lyon"
    assert [g.index(name) for name in g.names] == [0, 1, 2, 3]


@pytest.mark.parametrize("make", [list, np.array, lambda x: pd.Series(x), lambda x: pd.Series(x, dtype="Int64")])
def test_integers_are_names_that_ascend(make):
    g = Graph.from_edges(make([70, 5, 70]), make([5, -2, -2]), [1, 1, 9])
    assert list(g.names) == [-2, 5, 70]
    assert all(type(name) is int for name in g.names)
    assert dict(g.sssp(70)) == {-2: 2, 5: 1, 70: 0}
    near = Graph.from_edges(make([70, 5]), make([5, 9]))
    assert list(near.names) == [5, 9, 70]


def test_names_are_any_hashable_things():
    g = Graph.from_edges([(0, 0), "x", None.__class__], [frozenset({1}), 2.5, (0, 0)], [1, 2, 3])
    assert g.sssp(type(None))[frozenset({1})] == 4
    days = pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"]))
    assert Graph.from_edges(days[:1], days[1:]).names[1] == pd.Timestamp("2026-01-02")
    assert list(Graph.from_edges(pd.Categorical(["b", "a"]), np.array(["a", "c"])).names) == ["b", "a", "c"]
    assert list(Graph.from_edges((str(k) for k in range(3)), iter("abc")).names) == ["0", "1", "2", "a", "b", "c"]


def test_weights_are_any_numbers():
    for weight in (1.5, Decimal("1.5"), Fraction(3, 2), np.float32(1.5)):
        assert Graph.from_edges("a", "b", [weight]).sssp("a")["b"] == 1.5
    assert Graph.from_edges("ab", "bc", (k for k in range(2))).sssp("a")["c"] == 1
    assert Graph.from_edges("a", "b", np.array([7], np.uint64)).sssp("a")["b"] == 7


@pytest.mark.parametrize("form", [CSC, COO, ELL])
def test_a_graph_is_copied_pickled_and_kept_in_any_format(form):
    g = cities(directed=False, columns=["road"])
    for other in (replace(g, matrix=g.matrix.to(form)), pickle.loads(pickle.dumps(g)), copy.deepcopy(g)):
        way = other.sssp("Nice").path("Paris")
        assert [leg.row["road"] for leg in way.legs] == ["A8", "A31", "A5"]
        assert {edge.row["road"] for edge in other.spanning_forest()} == {"A5", "A31", "A8"}
        assert list(other.edges()) == list(g.edges())
        assert pickle.loads(pickle.dumps(way)) == way
    assert pickle.loads(pickle.dumps(Graph(g.matrix, "abcd"))).bfs("a")["b"] == 1


def test_small_graphs():
    empty = Graph.from_edges([], [])
    assert (len(empty.names), list(empty.spanning_forest()), dict(empty.components())) == (0, [], {})
    with pytest.raises(ValueError, match="source 'x' is not a vertex: the graph has none"):
        empty.sssp("x")
    one = Graph.from_edges([], [], [], names=["alone"])
    assert dict(one.sssp("alone")) == dict(one.bfs("alone")) == {"alone": 0}
    assert one.sssp("alone").path("alone").vertices == ["alone"]
    loop = Graph.from_edges(["x"], ["x"], [3.5], directed=False)
    assert list(loop.edges()) == [("x", "x", 3.5, {})]
    assert len(Graph.from_pandas(pd.DataFrame({"a": [], "b": [], "w": []}), "a", "b", "w").names) == 0


def test_from_scipy_and_networkx():
    S = scipy.sparse.csr_array(np.array([[0, 5], [0, 0]]))
    assert Graph.from_scipy(S, ["Paris", "Lyon"]).sssp("Paris")["Lyon"] == 5
    assert list(Graph.from_scipy(S).names) == [0, 1]
    assert Graph.from_scipy(S.tocsc(), "ab").sssp("a").path("b").legs == [("a", "b", 5, {})]
    M = nx.MultiGraph()
    M.add_edge("a", "b", km=5)
    M.add_edge("a", "b", km=3)
    M.add_node("c")
    g = Graph.from_networkx(M, "km")
    assert dict(g.sssp("b")) == {"a": 3, "b": 0}
    assert list(g.names) == ["a", "b", "c"]
    M.add_edge("b", "c", km=2, road="A6")
    way = Graph.from_networkx(M, "km", columns=["road", "km"]).sssp("a").path("c")
    assert [leg.row for leg in way.legs] == [{"road": None, "km": 3}, {"road": "A6", "km": 2}]
    with pytest.raises(TypeError, match="columns need a weight by name"):
        Graph.from_networkx(M, lambda u, v, data: 1, columns=["km"])


def test_answers_are_networkx_s():
    draw = random.Random(7)
    names = [f"v{k}" for k in range(30)]
    for directed in (True, False):
        G = nx.DiGraph() if directed else nx.Graph()
        G.add_nodes_from(names)
        G.add_weighted_edges_from([(*draw.sample(names, 2), draw.randint(0, 9)) for _ in range(60)])
        frame = nx.to_pandas_edgelist(G)
        g = Graph.from_pandas(frame, "source", "target", "weight", directed=directed, names=names)
        assert dict(g.sssp("v0")) == nx.single_source_dijkstra_path_length(G, "v0")
        assert dict(g.bfs("v0")) == nx.single_source_shortest_path_length(G, "v0")
        parts = nx.strongly_connected_components(G) if directed else nx.connected_components(G)
        assert {frozenset(group) for group in g.components().groups()} == set(map(frozenset, parts))
        if not directed:
            assert sum(edge.weight for edge in g.spanning_forest()) == nx.minimum_spanning_tree(G).size("weight")


def test_a_negative_cycle_has_names():
    with pytest.raises(NegativeCycle, match="a -> b -> a") as error:
        Graph.from_edges("ab", "ba", [1, -2]).sssp("a")
    assert error.value.cycle == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cities().sssp("paris"), "source 'paris' is not a vertex: did you mean 'Paris'?"),
        (lambda: cities().sssp("Zürich"), "source 'Zürich' is not a vertex: its 4 names are 'Paris' to 'Nice'"),
        (lambda: Graph.from_edges([1], [7]).sssp("7"), "source '7' is not a vertex: did you mean 7?"),
        (lambda: Graph.from_edges("1", "7").sssp(7), "source 7 is not a vertex: did you mean '7'?"),
        (lambda: cities().sssp("Paris").path("Lion"), "target 'Lion' is not a vertex: did you mean 'Lyon'?"),
        (lambda: cities().index("Lion"), "name 'Lion' is not a vertex: did you mean 'Lyon'?"),
        (lambda: Graph.from_pandas(ROADS, "form", "to"), "there is no column 'form': did you mean 'from'?"),
        (lambda: Graph.from_pandas(ROADS, "from", "to", "x"), "there is no column 'x'; there are 'from', 'to', 'km'"),
        (lambda: Graph.from_edges(["a", None], ["b", "c"]), "source in row 1 is missing, got None"),
        (lambda: Graph.from_edges(["a", "b"], ["b", float("nan")]), "target in row 1 is missing, got nan"),
        (lambda: Graph.from_edges(["a"], pd.Series([None], dtype="str")), "target in row 0 is missing"),
        (lambda: Graph.from_edges("ab", "bc", [1, float("nan")]), "weight in row 1 is not a number, got nan"),
        (lambda: Graph.from_edges("ab", "bc", [1, "9 km"]), "weight in row 1 is not a number, got '9 km'"),
        (lambda: Graph.from_edges("ab", "bc", np.array([1, np.nan])), "weight in row 1 is not a number, got nan"),
        (lambda: Graph.from_edges("ab", "bc", pd.Series([1, None], dtype="Int64")), "weight in row 1 is not a number"),
        (lambda: Graph.from_edges("a", "b", [1 << 63]), "weight in row 0 does not fit int64"),
        (lambda: Graph.from_edges("ab", "b"), "columns must be of one length, got 2, 1"),
        (lambda: Graph.from_edges("ab", "bc", names="ab"), "row 1: target 'c' is not a vertex"),
        (lambda: Graph.from_edges("a", "b", names="abb"), "names must be distinct: 'b' is given twice"),
        (lambda: Graph.from_scipy(scipy.sparse.eye_array(2), ["a"]), "2 vertices need as many names, got 1"),
        (lambda: Graph.from_scipy(scipy.sparse.csr_array((2, 3))), "a graph needs a square matrix"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_edges([["a"]], ["b"]), "source must be hashable"),
        (lambda: Graph.from_edges("a", 7), "target must be a list or an array, got 7"),
        (lambda: Graph.from_edges("a", "b", 7), "weight must be a list or an array, got 7"),
        (lambda: cities().sssp(), "give either a source or sources"),
        (lambda: cities().sssp(sources="Paris"), "sources must be several names, as ['Paris']"),
        (lambda: cities().sssp(["Paris"]), "source must be the name of a vertex, got ['Paris']"),
        (lambda: Graph.from_pandas(7, "a", "b"), "expected a table with columns, of pandas, Polars, Arrow or a dict"),
    ],
)
def test_the_wrong_kind_is_named(call, message):
    with pytest.raises(TypeError) as error:
        call()
    assert message in str(error.value)


@pytest.fixture(params=["csv", "compiled"])
def reader(request, monkeypatch):
    """Both ways to read text: by the csv module, and by compiled loops, as if the files were large."""
    monkeypatch.setattr(reading, "LARGE_BYTES", 1 << 40 if request.param == "csv" else 0)
    return request.param


TEXT = '''from,to,km,road
Paris,"Dijon, Côte-d'Or",315,A6

"Dijon, Côte-d'Or", Lyon,195.5,"the ""A31"""
Lyon,NA,470,
'''


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv"])
def test_text_is_read(tmp_path: Path, reader, separator, ending):
    file = tmp_path / f"roads{ending}"
    text = TEXT if separator == "," else TEXT.replace("Dijon, C", "Dijon# C").replace(",", separator).replace("#", ",")
    data = ("\ufeff" + text.replace("\n", "\r\n")).encode()
    file.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    g = Graph.read(file, columns=["road"])
    assert list(g.names) == ["Paris", "Dijon, Côte-d'Or", "Lyon", "NA"]
    way = g.sssp("Paris").path("NA")
    assert way.length == 980.5
    assert [leg.row["road"] for leg in way.legs] == ["A6", 'the "A31"', ""]
    assert Graph.read(file, "to", "from", None).bfs("NA")["Paris"] == 3
    assert Graph.read(file, 0, 1, 2, directed=False).sssp("NA")["Paris"] == 980.5


@pytest.mark.parametrize(
    ("text", "names", "weights"),
    [
        ("1,2\n2,30\n", [1, 2, 30], [1, 1]),
        ("1,2,5\nx,30,1\n2,x,1\n", ["1", "x", "2", "30"], [5, 1, 1]),
        ("a,b\n1,2\n2,30\n", [1, 2, 30], [1, 1]),
        ("a,b\nb,2\n", ["a", "b", "2"], [1, 1]),
        ("a;b;n\n1;2;5\n", [1, 2], [5]),
        ("u,v\n1,2\n2,30\n", [1, 2, 30], [1, 1]),
        ("source,target,weight\n1,2,5\n2,30,7\n", [1, 2, 30], [5, 7]),
        ("01,2\n2,30\n", ["01", "2", "30"], [1, 1]),
        ("1,2\n2,030\n", ["1", "2", "030"], [1, 1]),
        ("a b 5\nb 30 2\n", ["a", "b", "30"], [5, 2]),
        ("2,30", [2, 30], [1]),
        ("2,30,inf\n7,2,1e3", [2, 7, 30], [float("inf"), 1e3]),
        ("from,to,km\n", [], []),
    ],
)
def test_headings_and_numbers_are_told(tmp_path: Path, reader, text, names, weights):
    file = tmp_path / "graph.csv"
    file.write_text(text)
    g = Graph.read(file)
    assert list(g.names) == names
    assert [edge.weight for edge in g.edges()] == weights


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("from,to,km\na,b,1\na,b,x\n", {}, ":3: "),
        ("from,to,km\na,b,1\n\na,b,nan\n", {}, ":4: expected a number as weight in column 3, got 'nan'"),
        ("from,to,km\na,b,-inf\nb,c,-1e400\n", {}, ":3: -1e400 does not fit a float of 64 bits"),
        ("from,to,km\na,b,1\na,,2\n", {}, ":3: expected a name, got nothing"),
        (
            "from,to,km\na,b,1\n",
            {"weight": "kmm"},
            ":1: there is no column 'kmm': did you mean 'km'?; there are 'from'",
        ),
        ("from,to,km\na,b,1\n", {"target": 3}, ":1: there is no column 3: the line has 3"),
        ("from,to,km\n", {"header": False, "source": "from"}, "needs a heading"),
        ("", {}, "the file is empty"),
        ("a,b\n", {"separator": ",,"}, "separator must be one character"),
    ],
)
def test_bad_text_is_named_by_its_line(tmp_path: Path, reader, text, options, message):
    file = tmp_path / "graph.csv"
    file.write_text(text)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        Graph.read(file, **options)
    assert message in str(error.value)
    assert "graph.csv" in str(error.value) or "separator" in message


def test_short_lines_and_other_encodings_are_named(tmp_path: Path):
    file = tmp_path / "graph.csv"
    file.write_text("from,to,km\na,b,1\n\nb,c\n")
    with pytest.raises(ValueError, match=r"graph.csv:4: expected 3 fields, got 2"):
        Graph.read(file)
    file.write_bytes("from,to,km\nZürich,b,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"graph.csv: expected text in UTF-8"):
        Graph.read(file)


def test_damaged_compressed_text_is_named(tmp_path: Path, refused):
    file = tmp_path / "graph.csv.gz"
    lines = "from,to,km\n" + "".join(f"v{k},v{k * k % 997},{k}\n" for k in range(3000))
    packed = gzip.compress(lines.encode())
    for data in (packed[:-9], packed[: len(packed) // 2], b"from,to\na,b\n", packed[:50] + b"\xff" * 9 + packed[59:]):
        file.write_bytes(data)
        with pytest.raises(ValueError, match=f"{file}.* the gzip data are damaged or cut short"):
            Graph.read(file)
        assert str(file) in refused("sssp", file, "--source", "v1")


def test_names_and_numbers_of_any_length_are_named_shortly(tmp_path: Path):
    file = tmp_path / "graph.csv"
    file.write_text(f"from,to\n{'9' * 5000},1\n")
    assert Graph.read(file).names[1] in ("1", 1)
    file.write_text(f"from,to,km\na,b,{'9' * 5000}x\n")
    with pytest.raises(ValueError, match=f"{file}:2: expected a number") as error:
        Graph.read(file)
    assert len(str(error.value)) < len(str(file)) + 200


def test_other_files_are_read(tmp_path: Path):
    G = nx.DiGraph()
    G.add_edge("Paris", "Lyon", weight=5, km=465)
    nx.write_graphml(G, tmp_path / "cities.graphml")
    assert Graph.read(tmp_path / "cities.graphml").sssp("Paris")["Lyon"] == 5
    assert Graph.read(tmp_path / "cities.graphml", weight="km").sssp("Paris")["Lyon"] == 465
    (tmp_path / "graph.txt").write_text("# SNAP\n30 1412\n1412 7\n")
    assert Graph.read(tmp_path / "graph.txt").bfs(30)[7] == 2


def test_of_many_names_one_is_found_that_is_alike(monkeypatch):
    monkeypatch.setattr(naming, "ALIKE", 3)
    names = Names(["Rom", "Parma", "Marseille", "Paris", "Prag", 7])
    for asked, meant in (("paris", "Paris"), ("Pariss", "Paris"), ("Marseile", "Marseille"), ("7", 7)):
        with pytest.raises(ValueError, match=f"did you mean {meant!r}"):
            names.index(asked)


def test_without_pandas_and_networkx_the_rest_works(tmp_path, monkeypatch):
    for missing in ("pandas", "networkx"):
        monkeypatch.setitem(sys.modules, missing, None)
    (tmp_path / "cities.csv").write_text("from,to,km\nParis,Lyon,465\n")
    g = Graph.read(tmp_path / "cities.csv")
    assert g.sssp("Paris")["Lyon"] == 465
    assert len(Graph.from_pandas(ROADS, "from", "to").names) == 4
    for answer in (g.sssp("Paris"), g.components(), g.edges()):
        with pytest.raises(ModuleNotFoundError, match="to_pandas needs pandas: pip install pandas"):
            answer.to_pandas()


def test_names_are_a_sequence_that_is_looked_up():
    assert Names(3) == Names([0, 1, 2])
    assert repr(Names("abcd")) == "<4 names: 'a', 'b', 'c', …>"
    assert Names(["a"]) != Names(["b"])
    assert [] not in Names("a")
    assert Names("ab")[1] == "b"


def calls() -> list[pytest.ParameterSet]:
    """Every public function of a matrix, with what else it needs."""
    more = {"shortest_simple_paths": (0, 1, 1), "shortest_path_tree": ([0.0, 1.0], 0, "min_plus")}
    sources = {"source": (0,)}
    found = []
    for name in algorithms.__all__:
        function = getattr(algorithms, name)
        if isinstance(function, FunctionType | Verb) and "A" in (taken := inspect.signature(function).parameters):
            rest = more.get(name, next((sources[each] for each in taken if each in sources), ()))
            found.append(pytest.param(function, rest, id=name))
    return found


@pytest.mark.parametrize(("function", "more"), calls())
def test_an_algorithm_names_the_call_that_makes_a_matrix(function, more):
    S = scipy.sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    G = nx.Graph([(0, 1)])
    for given, call in (
        (Graph.from_edges("a", "b"), "A.matrix, in which A.index("),
        (S, "formats.from_scipy(A)"),
        (scipy.sparse.coo_matrix(S), "formats.from_scipy(A)"),
        (G, "formats.from_networkx(A)"),
        (nx.MultiDiGraph(G), "formats.from_networkx(A)"),
        ([[0, 1]], "from_edges, from_scipy and from_networkx make one"),
    ):
        with pytest.raises(TypeError, match=re.escape(call)):
            function(given, *more)


def test_every_algorithm_is_asked():
    assert len(calls()) >= 22


def test_compiled_loops_read_what_the_csv_module_reads(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(hashing, "FIRST_BITS", 2)
    monkeypatch.setattr(compiled, "ROWS", 64)
    file = tmp_path / "graph.csv"
    for seed in range(12):
        draw = random.Random(seed)
        rows = [["road", "u", "v", "w", "note"]]
        for _ in range(300):
            road = draw.choice(["a,b", "", "é" * 9, "x" * seed])
            weight = draw.choice([f"{draw.random():.3f}" if seed % 2 else "7", str(-draw.randint(0, 99))])
            rows.append(
                [
                    road,
                    f"n{draw.randint(0, 500)}",
                    "z" * draw.randint(1, 40),
                    weight,
                    draw.choice(['"', 'a "b" c', '""', "a,\nb", "é"]),
                ]
            )
        with file.open("w", newline="", encoding="utf-8") as text:
            csv.writer(text, lineterminator=draw.choice(["\n", "\r\n", "\n\n"])).writerows(rows)
        found = compiled.read_columns(str(file), ",", 1, (1, 2, 3, 0), True, 5, "#%")
        assert found is not None
        monkeypatch.setattr(reading, "read_columns", lambda *_: None)
        usual = reading.read_table(str(file), "u", "v", "w", ["road"])
        for ours, theirs in zip(found, (usual.source, usual.target), strict=False):
            assert (ours.names, ours.codes.tolist()) == (theirs.names, theirs.codes.tolist())
        assert (found[2].tolist(), found[3]) == (usual.weight.tolist(), usual.columns["road"])


@pytest.mark.parametrize("make", [list, lambda x: np.array(x, object), lambda x: pd.Series(x)])
def test_many_texts_are_numbered_as_few_are(monkeypatch, make):
    draw = random.Random(3)
    texts = ["é", "", *("a" * k for k in range(30)), *(f"{draw.random():.2f}" for _ in range(99))]
    ends = [draw.choices(texts, k=999) for _ in "uv"]
    few = Graph.from_edges(*map(make, ends))
    monkeypatch.setattr(naming, "MANY", 0)
    monkeypatch.setattr(hashing, "BLOCK", 100)
    many = Graph.from_edges(*map(make, ends))
    assert many.names == few.names
    assert many.matrix.equals(few.matrix)
    assert hashing.numbered_texts(ends[0]) is not None
    for other in (["a", None], ["a\0b", "c"], ["a", 1], ["\ud800", "a"]):
        assert hashing.numbered_texts(other) is None
    with pytest.raises(ValueError, match="source in row 1 is missing"):
        Graph.from_edges(make(["a", None]), make(["b", "c"]))
    assert list(Graph.from_edges(make(["a", "\0"]), make(["b", "\0"])).names) == ["a", "\0", "b"]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64", None])
def test_many_edges_become_the_matrix_that_few_do(monkeypatch, directed, dtype):
    numbers = np.random.default_rng(5).integers(0, 40, (3, 900))
    weights = None if dtype is None else (numbers[2] % 7).astype(dtype)
    few = Graph.from_edges(numbers[0], numbers[1], weights, directed=directed)
    monkeypatch.setattr(edges, "are_many", lambda count: True)
    many = Graph.from_edges(numbers[0], numbers[1], weights, directed=directed)
    assert many.matrix.dtype == few.matrix.dtype == np.dtype(dtype or "int32")
    assert many.matrix.equals(few.matrix)
    both = (numbers[0], numbers[1]) if directed else np.concatenate((numbers[:2], numbers[1::-1]), axis=1)
    twice = None if weights is None else np.tile(weights, 1 if directed else 2)
    assert few.matrix.equals(from_edges(*both, twice, shape=40))


def test_a_graph_is_a_collection_of_its_vertices():
    g = Graph.from_edges(["a", "b"], ["b", "c"])
    assert (len(g), list(g), "b" in g, "d" in g, [] in g) == (3, ["a", "b", "c"], True, False, False)
    assert len(Graph.from_edges([], [])) == 0
