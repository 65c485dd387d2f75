"""GraphML files: what NetworkX reads in them is read, what it passes over, too, and what is wrong has a line."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from algorithms import Graph
from formats import from_networkx

ROOT = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = """\
<key id="d0" for="edge" attr.name="km" attr.type="double"><default>1.5</default></key>
<key id="d1" attr.name="weight" attr.type="int"><default>7</default></key>
<key id="d2" for="node" attr.name="weight" attr.type="string"><default>heavy</default></key>
<key id="d3" for="edge" attr.name="toll" attr.type="boolean"/>
"""
BODY = """<node id="c"/><node id="a"><data key="d2">light</data></node><node id="b"/>
<edge source="a" target="b"><data key="d0">4</data><data key="d3">True</data></edge>
<edge source="b" target="c"><data key="d1">9</data></edge>
"""


@pytest.fixture
def document(tmp_path: Path) -> Any:
    """document(body, directed): the path of a file whose graph has that body, and our keys; or of that very text."""

    def make(body: str, directed: str = "undirected", keys: str = KEYS) -> Path:
        path = tmp_path / "g.graphml"
        whole = body if body.startswith(("<?", "<graphml", "<!")) else None
        path.write_text(whole or f'{ROOT}{keys}<graph edgedefault="{directed}">\n{body}</graph></graphml>\n')
        return path

    return make


def legs(g: Graph) -> list[tuple[Any, ...]]:
    return [(edge.source, edge.target, edge.weight, *edge.row.values()) for edge in g.edges()]


def random_graph(seed: int) -> Any:
    random = np.random.default_rng(seed)
    kind = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)[seed % 4]
    G = kind()
    n = int(random.integers(1, 8))
    G.add_nodes_from(f"n{v}" for v in random.permutation(n))
    for u, v in random.integers(0, n, (int(random.integers(0, 15)), 2)):
        drawn = (int(random.integers(-5, 9)), float(random.normal()), bool(random.integers(2)))[seed // 4 % 3]
        G.add_edge(f"n{u}", f"n{v}", **({} if random.random() < 0.2 else {"weight": drawn}))
    return G


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_what_networkx_writes_is_what_networkx_reads(tmp_path, ending):
    path = tmp_path / f"g.graphml{ending}"
    for seed in range(48):
        nx.write_graphml(random_graph(seed), path)
        read_by_networkx = nx.read_graphml(path)
        A, nodes = from_networkx(read_by_networkx, return_labels=True)
        g = Graph.read(path)
        assert list(g.names) == nodes
        np.testing.assert_array_equal(g.matrix.to_dense(), A.to_dense(), f"seed {seed}")
        both = nx.MultiGraph()
        both.add_nodes_from(nodes)
        both.add_edges_from(read_by_networkx.edges(data=True))
        found = Graph.read(path, directed=False).matrix.to_dense()
        np.testing.assert_array_equal(found, from_networkx(both).to_dense(), f"seed {seed}")


@pytest.mark.quick
def test_defaults_and_columns_count(document):
    path = document(BODY)
    assert list(Graph.read(path).names) == ["c", "a", "b"]
    assert legs(Graph.read(path)) == [("c", "b", 9), ("a", "b", 7), ("b", "c", 9), ("b", "a", 7)]
    assert Graph.read(path, weight="km").sssp("a")["c"] == 5.5
    assert Graph.read(path, weight=None).sssp("a")["c"] == 2
    g = Graph.read(path, "source", "target", "km", columns=["weight", "toll"])
    assert [leg.row for leg in g.sssp("a").path("c").legs] == [
        {"weight": 7, "toll": True},
        {"weight": 9, "toll": None},
    ]


def test_edges_say_for_themselves_whether_they_are_directed(document):
    edge = '<edge source="a" target="b" directed="{}"/><edge source="b" target="c"/><edge source="c" target="c"/>'
    for default, own, count in (("undirected", "true", 4), ("directed", "false", 4), ("directed", "true", 3)):
        path = document(edge.format(own), default, '<key id="k" for="edge" attr.name="x" attr.type="int"/>')
        assert Graph.read(path).matrix.nnz == count
        assert Graph.read(path, directed=False).matrix.nnz == 5


def test_graphs_within_nodes_are_parts_of_the_graph(document):
    inner = '<node id="town"><graph edgedefault="directed"><edge source="x" target="y"/></graph></node>'
    assert legs(Graph.read(document(BODY + inner), weight=None))[-1] == ("x", "y", 1)


def test_files_of_osmnx_are_read(tmp_path, fine, refused):
    osmnx = pytest.importorskip("osmnx")
    G = nx.MultiDiGraph(crs="epsg:4326")
    for v in range(4):
        G.add_node(100 + v, x=float(v), y=2.0)
    for u, v, length in ((100, 101, 12.5), (101, 102, 7.25), (101, 102, 6.0), (102, 103, 1e3)):
        G.add_edge(u, v, osmid=[1, 2] if u == 100 else 3, length=length, oneway=False, reversed=False)
    path = tmp_path / "osm.graphml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        osmnx.save_graphml(G, path)
    assert 'attr.type="double"' not in path.read_text()
    g = Graph.read(path, weight="length", columns=["osmid"])
    assert legs(g) == [("100", "101", 12.5, "[1, 2]"), ("101", "102", 6.0, "3"), ("102", "103", 1000.0, "3")]
    out = fine("sssp", path, "--columns", "source,target,length", "--source", 100, "--to", 103).out
    assert "to 103: length 1,018.5" in out
    said = refused("sssp", path, "--columns", "source,target,lenght", "--source", 100)
    assert said.startswith(f"{path}: no edge has the attribute 'lenght': did you mean 'length'?; there are ")


def test_text_is_a_weight_where_it_is_a_number(document):
    keys = '<key id="k" for="edge" attr.name="w" attr.type="string"/>'
    edge = '<edge source="{}" target="{}"><data key="k">{}</data></edge>'
    edges = edge.format("a", "b", "{}") + edge.format("b", "c", "2")
    for text, found in (("3", 3), (" 3.5 ", 3.5), ("1e3", 1000.0), ("inf", float("inf")), ("-4", -4)):
        g = Graph.read(document(edges.format(text), "directed", keys), weight="w")
        assert legs(g)[0] == ("a", "b", found)
        assert (g.matrix.dtype.kind == "i") == isinstance(found, int)
    for text in ("", "3 km", "1,5", "nan", "1_000", "[3, 4]", "True"):
        with pytest.raises(ValueError, match=r"g.graphml:2: expected a number as 'w', got "):
            Graph.read(document(edges.format(text), "directed", keys), weight="w")


EDGE = '<edge source="a" target="b">'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<?", ":1: this is no XML: "),
        ("<!-- -->\n<html/>", ":2: expected <graphml>, got <html>"),
        (f"{ROOT}", ":1: this is no XML: no element found"),
        (f"{ROOT}\n</graphml>", ":2: expected a <graph>, got the end of the file"),
        (f"{ROOT}<graph>\n</grap></graphml>", ":2: this is no XML: mismatched tag"),
        (f"{ROOT}<graph/>\n<graph/></graphml>", ":2: a second <graph>"),
        (f"{ROOT}\n{EDGE}</edge><graph/></graphml>", ":2: an <edge> outside of a <graph>"),
        (
            f'{ROOT}<graph edgedefault="no"/></graphml>',
            ":1: expected directed or undirected or true or false, got 'no'",
        ),
        ('<?xml version="1.0" encoding="klingon"?><graphml/>', ": unknown encoding: klingon"),
        ("<node/>", ":6: <node> needs the attribute 'id'"),
        ('<edge source="a"/>', ":6: <edge> needs the attribute 'target'"),
        (
            '\n<edge source="a" target="b" directed="perhaps"/>',
            ":7: expected directed or undirected or true or false, got 'perhaps'",
        ),
        ("\n<hyperedge/>", ":7: a <hyperedge>"),
        (f'{EDGE}<data key="d9">1</data></edge>', ":6: there is no <key> of the id 'd9'"),
        (f'\n\n{EDGE}<data key="d1">1x</data></edge>', ":8: expected a number as 'weight', got '1x'"),
        (f'\n\n{EDGE}<data key="d1">1e400</data></edge>', ":8: expected a number as 'weight', got '1e400'"),
        (f'{EDGE}<data key="d1">{10**20}</data></edge>', ":6 does not fit int64"),
        (f'{EDGE}<data key="d1">{"9" * 5000}x</data></edge>', ":6: expected a number as 'weight'"),
        (f'{EDGE}<data key="d3">maybe</data></edge>', ":6: expected a boolean as 'toll', got 'maybe'"),
        ("&nbsp;", ":6: this is no XML: undefined entity"),
    ],
)
def test_malformed_files_are_named_with_their_line(document, refused, body, message):
    path = document(body)
    with pytest.raises(ValueError) as error:  # noqa: PT011
        Graph.read(path, weight="weight", columns=["toll"] if "toll" in message else [])
    said = str(error.value)
    assert f"{path}{message}" in said
    assert len(said) < len(str(path)) + 200
    if "toll" not in message:
        assert f"{path}{message}" in refused("sssp", path, "--source", "a")


def test_what_is_asked_for_must_be_there(document):
    path = document(BODY)
    for options, message in (
        ({"weight": "kmm"}, "no edge has the attribute 'kmm': did you mean 'km'?; there are 'km', 'weight', 'toll'"),
        ({"columns": ["name"]}, "no edge has the attribute 'name'"),
        ({"source": "from"}, "edges in GraphML have a source and a target"),
        ({"separator": ","}, "edges in GraphML have a source and a target"),
    ):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            Graph.read(path, **options)
        assert str(error.value).startswith(f"{path}: {message}")


def test_a_small_file_cannot_grow(document):
    entities = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9))
    path = document(f'<!DOCTYPE x [<!ENTITY e0 "lol">{entities}]>{ROOT}{KEYS}<graph>{EDGE}<data key="d1">&e9;</data>')
    with pytest.raises(ValueError, match=f"{path}:5: this is no XML: limit on input amplification"):
        Graph.read(path)


def test_a_cut_compressed_file_is_named(tmp_path):
    path = tmp_path / "g.graphml.gz"
    path.write_bytes(gzip.compress(f"{ROOT}{KEYS}<graph>{BODY}</graph></graphml>".encode())[:-20])
    with pytest.raises(ValueError, match=f"{path}: the gzip data are damaged or cut short"):
        Graph.read(path)
