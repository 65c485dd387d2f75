"""Tables that people bring: headings, comments, blanks, weights that are none, rows that are too long, merged rows."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import zstandard

from algorithms import Graph
from formats import read
from formats.named import reading


@pytest.fixture(params=["csv", "compiled"])
def table(request, monkeypatch, tmp_path):
    """table(text, name, …): the graph of a file, by the csv module, or by compiled loops as if it were large."""
    monkeypatch.setattr(reading, "LARGE_BYTES", 1 << 40 if request.param == "csv" else 0)

    def make(text: str, name: str = "graph.csv", **options: object) -> Graph:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return Graph.read(path, **options)

    return make


def edges(g: Graph) -> list[tuple[object, object, object]]:
    return [(edge.source, edge.target, edge.weight) for edge in g.edges()]


# --- the first row ----------------------------------------------------------------------------------------------------

NO_NUMBERS = [
    *("", " ", "nan", "NaN", "NA", "N/A", "null", "None", "-", "--", "?", '"1,5"', '"1.234,5"', "5km", "TRUE", "true"),
    *("1_000", '"1 000"', "€5", "0x10", "1e", ".", "five", "#5", "1;5"),
]


@pytest.mark.parametrize("weight", NO_NUMBERS)
@pytest.mark.parametrize(("ends", "other"), [("1,2", "2,3,4"), ("Paris,Lyon", "Lyon,Nice,4")])
def test_a_weight_that_is_none_is_an_error_in_every_row(table, ends, other, weight):
    for text, line in ((f"{ends},{weight}\n{other}\n", 1), (f"{other}\n{ends},{weight}\n", 2)):
        with pytest.raises(
            ValueError, match=rf"graph\.csv:{line}: expected a number as weight in column 3, got"
        ) as error:
            table(text)
        assert ("say header=True" in str(error.value)) == (line == 1)


def test_a_decimal_comma_is_named(table):
    with pytest.raises(ValueError, match="numbers have a decimal point, and nothing between thousands"):
        table('Paris,Lyon,"1,5"\n')
    with pytest.raises(ValueError, match=r"graph\.csv:2: expected 3 fields, as in the first line, got 4"):
        table("Paris,Lyon,2\nLyon,Nice,1,5\n")
    assert edges(table("Paris;Lyon;1.5\n")) == [("Paris", "Lyon", 1.5)]


def test_trailing_separators_are_no_fields(table):
    assert edges(table("from,to,km\na,b,1,\nb,c,2,,\n")) == [("a", "b", 1), ("b", "c", 2)]


@pytest.mark.parametrize(
    "text", ["Paris,Lyon\n", "Paris,Lyon,3\n", "1,2\n", "1,2,3\n", "Paris,Lyon\nLyon,Nice\n", "a\tb\n"]
)
def test_no_file_with_rows_gives_an_empty_graph(table, text):
    g = table(text, "graph.tsv" if "\t" in text else "graph.csv")
    assert g.matrix.nnz == len(text.splitlines())


@pytest.mark.parametrize("heading", ["city_a,city_b", "A,B", "u,v", "stop,next stop"])
def test_a_first_line_that_can_be_either_is_asked_about(table, heading):
    rows = "Paris,Lyon\nNice,Lyon\n"
    if heading == "u,v":  # known words above longer ones
        assert len(table(f"{heading}\n{rows}").names) == 3
        return
    with pytest.raises(ValueError, match="can be a heading, or an edge: say header=True or header=False"):
        table(f"{heading}\n{rows}")
    assert "city_a" not in table(f"{heading}\n{rows}", header=True).names
    assert table(f"{heading}\n{rows}", header=False).matrix.nnz == 3


def test_letters_that_are_vertices_are_no_heading(table):
    assert edges(table("u,v\nv,w\n")) == [("u", "v", 1), ("v", "w", 1)]
    assert edges(table("u,v,2\nv,w,3\n")) == [("u", "v", 2), ("v", "w", 3)]


# --- headings decide --------------------------------------------------------------------------------------------------

PARIS = [("Paris", "Lyon", 3)]


@pytest.mark.parametrize(
    "text",
    [
        ",source,target,weight\n0,Paris,Lyon,3\n",
        "weight,source,target\n3,Paris,Lyon\n",
        "To,From,Km\nLyon,Paris,3\n",
        "Source,Target,Type,Id,Label,Weight\nParis,Lyon,Directed,0,,3\n",
        "id,from_node,to_node,length (m),name\n7,Paris,Lyon,3,A6\n",
        "from,to,year,distance\nParis,Lyon,1999,3\n",
        "src;dst;cost\nParis;Lyon;3\n",
        '"from","to","km"\n"Paris","Lyon","3"\n',
        "#source,target,weight\nParis,Lyon,3\n",
        "# target,source,weight\nLyon,Paris,3\n",
    ],
)
def test_known_headings_decide_wherever_they_stand(table, text):
    assert edges(table(text)) == PARIS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",city_a,city_b,km\n0,Paris,Lyon,3\n", "say source=, target= and weight="),
        ("id,city_a,city_b\n0,Paris,Lyon\n", "say source=, target= and weight="),
        ("km,city_a,city_b\n3,Paris,Lyon\n", "say source=, target= and weight="),
        ("name,from,km\nParis,Lyon,3\n", "say source=, target= and weight="),
        ("x,from,y,source,to\n1,a,2,b,c\n", "mean the same"),
        ("from,to,colour,width\na,b,red,2\n", "has the weights: say source="),
        ("from,to,colour\na,b,red\n", "has the weights: say source="),
        ("from,to,a,length,time\nx,y,1,2,3\n", "mean the same"),
    ],
)
def test_headings_that_contradict_are_refused_with_what_to_say(table, text, message):
    with pytest.raises(ValueError, match=message) as error:
        table(text)
    assert "graph.csv:1" in str(error.value)


def test_columns_that_are_asked_for_are_taken(table):
    text = ",city_a,city_b,km\n0,Paris,Lyon,3\n"
    assert edges(table(text, source="city_a", target="city_b")) == PARIS
    assert edges(table(text, source=1, target=2, weight=3)) == PARIS
    assert edges(table("from,to,id\nParis,Lyon,3\n", weight="id")) == PARIS
    assert edges(table("from,to,id\nParis,Lyon,3\n")) == [("Paris", "Lyon", 1)]


@pytest.mark.parametrize(
    "text", ["to,from\n1,2\n", "weight,from,to\n9,1,2\n", "Paris,Lyon,3\n", "a,b\n", "from,to,x,km\n1,2,3,4\n"]
)
def test_read_refuses_headings_that_say_otherwise_and_names(tmp_path, text):
    path = tmp_path / "graph.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"graph\.csv:[12]: "):
        read(path)
    path.write_text("from,to,km\n1,2,3\n")
    assert read(path)[0, 1] == 3


# --- comments ---------------------------------------------------------------------------------------------------------


def test_comments_and_hashtags(table):
    assert edges(table("# roads\nParis,Lyon,3\n")) == PARIS
    assert edges(table("# roads, of 1999\n#\n\nParis,Lyon,3\n# more, and more\nLyon,Nice,4\n")) == [
        *PARIS,
        ("Lyon", "Nice", 4),
    ]
    assert edges(table("% roads\nfrom,to,km\nParis,Lyon,3\n")) == PARIS
    assert edges(table("Paris,#Lyon,3\n")) == [("Paris", "#Lyon", 3)]
    assert edges(table('"#Paris",Lyon,3\n')) == [("#Paris", "Lyon", 3)]
    hashtags = "#paris,#lyon,3\n#lyon,nice,4\n"
    for text, line in ((hashtags, 1), ("rome,#lyon,1\n" + hashtags, 2), ("1,2,3\n#1,5,6\n", 2)):
        with pytest.raises(ValueError, match=rf"graph\.csv:{line}: .*comment='#' .*comment=''"):
            table(text)
    assert len(table(hashtags, comment="").names) == 3
    assert edges(table("#Paris,Lyon,9\nParis,Lyon,3\n", comment="#")) == PARIS
    assert edges(table("//Paris,Lyon,9\nParis,Lyon,3\n", comment="//")) == PARIS
    with pytest.raises(ValueError, match="comments only"):
        table("# Paris\n# Lyon\n")


# --- names ------------------------------------------------------------------------------------------------------------


def test_blanks_around_a_name_do_not_count(table):
    assert edges(table("a , b\nb , c\n")) == [("a", "b", 1), ("b", "c", 1)]
    assert edges(table("from ,to , km\na , b , 2\n b,c\t,3 \n")) == [("a", "b", 2), ("b", "c", 3)]
    assert edges(table("1 , 2\n2 , 3\n")) == [(1, 2, 1), (2, 3, 1)]
    with pytest.raises(ValueError, match=r"graph\.csv:2: expected a name, got nothing"):
        table("a,b\nb,  \n")


def test_names_are_compared_in_normal_form(table):
    composed, apart = "Zürich", unicodedata.normalize("NFD", "Zürich")
    g = table(f"{composed},Bern,1\nBern,{apart},2\n")
    assert list(g.names) == [composed, "Bern"]
    assert g.sssp(apart)["Bern"] == 1
    assert apart in g.names
    assert Graph.from_edges([apart], ["Bern"]).bfs(composed)["Bern"] == 1
    assert Graph.from_pandas({"a": [composed, "Bern"], "b": ["Bern", apart]}, "a", "b").matrix.nrows == 2


# --- rows that are merged ---------------------------------------------------------------------------------------------

PARALLEL = "a,b,5\nb,a,4\na,b,3\na,a,1\na,a,2\n"


@pytest.mark.parametrize(
    ("dup", "directed", "weights"),
    [
        ("min", True, [1, 3, 4]),
        ("max", True, [2, 5, 4]),
        ("sum", True, [3, 8, 4]),
        ("first", True, [1, 5, 4]),
        ("last", True, [2, 3, 4]),
        ("min", False, [1, 3, 3]),
        ("max", False, [2, 5, 5]),
        ("sum", False, [3, 12, 12]),
        ("first", False, [1, 5, 5]),
        ("last", False, [2, 3, 3]),
    ],
)
def test_parallel_edges_become_one_as_asked_and_are_counted(table, dup, directed, weights):
    g = table(PARALLEL, dup=dup, directed=directed)
    assert [weight for _, _, weight in edges(g)] == weights
    assert g.merged == (2 if directed else 3)
    assert f"{g.merged} rows merged" in repr(g)
    columns = dict(zip("uvw", zip(*(line.split(",") for line in PARALLEL.split()), strict=True), strict=True))
    columns |= {"w": list(map(int, columns["w"])), "road": list("ABCDE")}
    same = Graph.from_pandas(columns, "u", "v", "w", dup=dup, directed=directed)
    assert (edges(same), same.merged) == (edges(g), g.merged)
    if dup != "sum":
        rows = Graph.from_pandas(columns, "u", "v", "w", dup=dup, directed=directed, columns=["road"])
        assert [edge.weight for edge in rows.edges()] == weights
        assert [5, 4, 3, 1, 2]["ABCDE".index(rows.edges()[1].row["road"])] == rows.edges()[1].weight


def test_numbers_are_merged_and_counted_too(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("1 2 5\n1 2 3\n2 1 4\n")
    assert (Graph.read(path).merged, edges(Graph.read(path, dup="sum"))) == (1, [(1, 2, 8), (2, 1, 4)])
    with pytest.raises(ValueError, match="dup must be one of"):
        Graph.read(path, dup="mean")
    with pytest.raises(ValueError, match=r"graph\.txt: .*given more than once|graph\.txt"):
        Graph.read(path, dup="error")
    assert "merged" not in repr(Graph.from_edges("ab", "bc"))


# --- what is given to be read -----------------------------------------------------------------------------------------

PACKED = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("graph.csv", "Paris,Lyon,3\n"),
        ("graph.txt", "1 2 3\n"),
        ("graph.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 3\n"),
    ],
)
def test_paths_open_files_and_standard_input(tmp_path, monkeypatch, ending, name, text):
    path = tmp_path / (name + ending)
    path.write_bytes(PACKED[ending](text.encode()))
    with path.open("rb") as stream:
        found = [Graph.read(path), Graph.read(bytes(path)), Graph.read(str(path)), Graph.read(stream)]
    if name != "graph.csv":
        found.append(Graph(read(bytes(path)), [1, 2]))
    if name != "graph.mtx":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        found.append(Graph.read("-", 0, 1, 2, separator="," if "," in text else " "))
    assert {tuple(edges(g)[0][2:]) for g in found} == {(3,)}
    assert {g.matrix.nnz for g in found} == {1}
    packed = path.read_bytes()
    if ending:
        path.write_bytes(packed[: len(packed) - 6])
        with pytest.raises(ValueError, match="damaged or cut short"):
            Graph.read(path)


def test_what_is_no_file_is_refused():
    with pytest.raises(TypeError, match="expected a path or an open file, got list"):
        read([1, 2])
    assert read(io.StringIO("0 1 5\n1 2 7\n")).nnz == 2


@pytest.mark.parametrize("ending", PACKED)
def test_written_compressed_and_read_back(tmp_path: Path, ending):
    A = read(io.BytesIO(b"0 1 5\n1 2 7\n"))
    from formats import write

    write(tmp_path / f"graph.mtx{ending}", A)
    assert read(tmp_path / f"graph.mtx{ending}").equals(A)
    assert ((tmp_path / f"graph.mtx{ending}").read_bytes()[:2] == b"%%") == (ending == "")
    assert np.array_equal(read(tmp_path / f"graph.mtx{ending}").values, [5, 7])
