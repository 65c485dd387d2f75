"""The pages of the documentation lead somewhere: their links, and the files that the architecture names."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parent.parent
ARCHITECTURE = ROOT / "docs" / "architecture.md"
LONGEST = 30
"""The most words of a sentence."""
LONGEST_IN_GUIDES = 25
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("formats", "semiring", "algorithms", "bench", "tests", "docs")
PASSIVE = 0.12
"""The largest share of a page's sentences that may begin in the passive: "The matrix is converted"."""
MOST_LINES, MOST_WORDS = 190, 17
FEWEST_FILES = 5
"""The fewest files that must use a word which everybody has to learn."""


def code(text: str) -> str:
    """A page's blocks of code."""
    return "\n".join(re.findall(r"^```\w*\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE))


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def sentences(text: str) -> list[str]:
    """The text between stops, in paragraphs and lists; each piece of code is a word."""
    text = re.sub(r"<!--.*?-->|!\[[^]]*\]\([^)]*\)", "", prose(text), flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text))
    blocks = re.split(r"\n\s*\n|\n(?=[-*#|] ?)|\n(?=\d\. )", text)
    return [
        sentence
        for block in blocks
        if not block.startswith(("|", "#"))
        for sentence in re.split(r"(?<=[.?!:;])\s+", " ".join(block.split()))
    ]


TO_BE = r"(?:is|are|was|were|been|be)(?: not| also| only)?"
PARTICIPLE = (
    r"(?:\w+ed|made|given|taken|kept|found|written|read|run|put|built|drawn|held|left|known|shown|said|told|chosen|cut)"
)
GUIDES = [
    ROOT / "README.md",
    *(DOCS / f"{name}.md" for name in ("tutorial", "how-to", "gallery", "concepts", "graphs", "verbs")),
]
"""Pages that newcomers read."""
JARGON = """
    absent accumulator adjacency annihilate arc associative backend betweenness bottleneck bucket centrality
    clique closure commutative component core definition dense deterministic diameter distributive dtype
    eccentricity entry factor fixpoint forest format frontier fused heap host hub idempotent isochrone kernel
    law leg mask matrix monoid nnz operand operator padding parent pattern pivot place predecessor pinned
    relax resident saturate scalar semiring settle source sparse symmetric tie trace transpose traverse unit
    vector verb vertex warp weight zero
""".split()
"""Words of the field and of ours that a reader may not know, or may take for something else."""


def passive(sentence: str) -> bool:
    """True if the sentence begins in the passive, within its first words."""
    return re.match(rf"(?:\S+ ){{0,4}}{TO_BE} {PARTICIPLE}\b", sentence) is not None


def uses(text: str, word: str) -> bool:
    """True if the text has the word, or a form of it."""
    forms = rf"{word}(?:s|es|d|ed|ing|al)?|{word[:-1]}(?:ies|ing|al|ity|tic)|{word[:-2]}ices"
    return re.search(rf"\b(?:{forms})\b", text.lower()) is not None


def glossary() -> list[str]:
    """The words that the concepts' last table explains."""
    rows = re.findall(
        r"^\| ([^|]+) \|", (DOCS / "concepts.md").read_text(encoding="utf-8").partition("## Glossary")[2], re.M
    )
    return [word.strip() for row in rows[1:] for word in row.split(",")]


def links(text: str) -> list[str]:
    """The targets of a page's links and images within the repository."""
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(text)))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(text: str) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose(text), flags=re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def broken(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of it."""
    found = []
    for link in links(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            found.append(link)
    return found


def named_files(text: str) -> list[str]:
    """The files and folders of the repository that a page names in backticks."""
    words = re.findall(r"`([^`\s]+)`", prose(text))
    folders = "|".join(FOLDERS)
    return [word for word in words if re.fullmatch(rf"(?:{folders})/[\w./-]*|[\w./-]+\.(?:py|cu|md|jsonl?|toml)", word)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert broken(page) == []


def test_no_page_needs_the_repository() -> None:
    """Its blocks run where only the packages are installed: none imports what they do not bring."""
    pages = [page for page in PAGES if "measurements" not in page.parts and page.name != "CONTRIBUTING.md"]
    blocks = {page: code(page.read_text(encoding="utf-8")) for page in pages}
    assert sum("import" in block for block in blocks.values()) > 10
    needed = {
        page.name: re.findall(r"(?:from|import) (?:bench|tests|examples)\b", text) for page, text in blocks.items()
    }
    assert {name: found for name, found in needed.items() if found} == {}


def test_every_file_that_the_architecture_names_is_there() -> None:
    named = named_files(ARCHITECTURE.read_text(encoding="utf-8"))
    assert len(named) > 50
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_architecture_is_short() -> None:
    assert len(ARCHITECTURE.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def words_of_the_architecture() -> list[str]:
    """The words that the architecture's table explains."""
    text = ARCHITECTURE.read_text(encoding="utf-8").partition("## Words\n")[2]
    rows = re.findall(r"^\| ([^|]+) \|", text, flags=re.MULTILINE)[1:]
    return [word.strip(" `") for row in rows for word in row.split(",")]


def test_no_word_has_two_meanings() -> None:
    """Each is explained once; three stand in both tables, where they mean the same."""
    both = [*glossary(), *words_of_the_architecture()]
    assert {word for word, times in Counter(both).items() if times > 1} == {"place", "definition", "fused"}


def test_few_words_are_to_be_learned_and_many_files_use_each() -> None:
    words = words_of_the_architecture()
    code = [path.read_text(encoding="utf-8") for folder in FOLDERS[:4] for path in (ROOT / folder).rglob("*.py")]
    assert 10 < len(words) <= MOST_WORDS
    assert [word for word in words if sum(word in file for file in code) < FEWEST_FILES] == []


def test_a_word_of_one_part_stands_in_the_file_that_is_named() -> None:
    text = " ".join(ARCHITECTURE.read_text(encoding="utf-8").partition("is said where it stands: ")[2].split())
    named = [sentence.rpartition(" in ") for sentence in text.partition(". ")[0].split("; ")]
    assert len(named) > 5
    for words, _, path in named:
        file = ROOT / path.strip("`")
        head = (file / "__init__.py" if file.is_dir() else file).read_text(encoding="utf-8").lower()
        assert [word for word in re.split(r", | and ", words) if word not in head] == [], path


def test_broken_links_and_lost_files_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "# Two `words`, *so*\n\n[a](#two-words-so) [b](#two) [c](gone.md) [d](page.md#words) [e](https://x.org/#f)\n"
    page.write_text(f"{text}```\n# code\n[f](g)\n```\n", encoding="utf-8")
    assert broken(page) == ["#two", "gone.md", "page.md#words"]
    assert anchors("# A\n## A\n### Ü-b_c\n") == {"a", "a-1", "ü-b_c"}
    assert named_files("`semiring/no.py` `a.b()` `formats/` `x.cu` `A.T`") == ["semiring/no.py", "formats/", "x.cu"]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name != "measurements"], ids=lambda page: page.name
)
def test_sentences_are_short(page: Path) -> None:
    most = LONGEST_IN_GUIDES if page in GUIDES else LONGEST
    assert [each for each in sentences(page.read_text(encoding="utf-8")) if len(each.split()) > most] == []


def test_a_long_sentence_is_found() -> None:
    text = f"One [two](x.md) `three four`.\n\n| {'a ' * 40}|\n\n- Five{' six' * 30}.\n- Seven: {'eight ' * 30}"
    assert [len(each.split()) for each in sentences(text)] == [3, 32, 2, 30]  # "-" counts as a word


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name != "measurements"], ids=lambda page: page.name
)
def test_few_sentences_begin_in_the_passive(page: Path) -> None:
    found = [each for each in sentences(page.read_text(encoding="utf-8")) if len(each.split()) > 2]
    those = [each for each in found if passive(each)]
    assert len(those) <= max(PASSIVE * len(found), 1), those


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_words_of_the_field_are_in_the_glossary(page: Path) -> None:
    text, explained = " ".join(sentences(page.read_text(encoding="utf-8"))), " ".join(glossary()).lower()
    assert [word for word in JARGON if uses(text, word) and not uses(explained, word)] == []


def test_the_glossary_has_words_that_are_used() -> None:
    text = " ".join(page.read_text(encoding="utf-8").partition("## Glossary")[0] for page in PAGES)
    assert [word for word in glossary() if word != "…" and not uses(text, word.lower())] == []


def test_passives_and_forms_of_words_are_found() -> None:
    assert passive("The matrix is converted once.")
    assert passive("Rows are not kept.")
    assert not passive("The call converts the matrix, which is kept.")
    assert not passive("The matrix is large.")
    assert uses("Matrices with ties", "matrix")
    assert uses("Matrices with ties", "tie")
    assert not uses("Time, archives", "tie")
    assert not uses("Time, archives", "arc")
