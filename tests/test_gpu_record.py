"""The record of the tests on a GPU notices when the sources that it is about change."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from . import conftest, gpu_record

pytestmark = pytest.mark.quick

WHERE = {"device": "some GPU", "driver": "13020", "runtime": "13020", "cupy": "14.2.0", "numpy": "2.4.6"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with sources and a record of them."""
    (tmp_path / "tests").mkdir()
    for folder in ("algebra", "cuda"):
        (tmp_path / "semiring" / folder).mkdir(parents=True)
    for name in ("algebra/codegen.py", "algebra/ops.py", "algebra/translation.py", "cuda/gather.cu", "cuda/push.cu"):
        (tmp_path / "semiring" / name).write_text(name)
    written(tmp_path)
    return tmp_path


def reports(*names: str) -> list[Any]:
    return [SimpleNamespace(nodeid=name) for name in names]


def written(root: Path, *failed: str, passed: str = "abcde", selected: str = "cuda") -> None:
    stats = {"passed": reports(*passed), "failed": reports(*failed), "skipped": reports("s1", "s2")}
    gpu_record.write(WHERE, stats, ["--require", selected], root)


def test_a_record_of_the_sources_as_they_are(root: Path) -> None:
    record = json.loads((root / gpu_record.RECORD).read_text())
    assert list(record["files"]) == [
        "semiring/algebra/codegen.py",
        "semiring/algebra/ops.py",
        "semiring/algebra/translation.py",
        "semiring/cuda/gather.cu",
        "semiring/cuda/push.cu",
    ]
    assert record.items() >= WHERE.items()
    assert record["runs"][0]["arguments"] == ["--require", "cuda"]
    code, line = gpu_record.check(root)
    assert code == 0
    assert line.startswith(
        "tests/gpu_record.json is of these CUDA sources: 5 passed, 0 failed, 2 skipped on some GPU, "
    )
    assert "\n" not in line


def test_only_code_counts_not_what_is_said_of_it(tmp_path: Path) -> None:
    kernel, module = tmp_path / "kernel.cu", tmp_path / "module.py"
    kernel.write_text("// Adds.\nint add() {\n    // one\n    return 1; // 2\n}\n")
    assert gpu_record.code(kernel) == b"int add() {\n    return 1; // 2\n}"
    text = """
        #define NVRTC  // kept, it is text
    """
    module.write_text(f'"""A module."""\n\n# A text.\nTEXT = """{text}"""\n"""Said of it."""\nNAME = "a"  # b\n')
    left = gpu_record.code(module).decode()
    assert left == 'TEXT = """\n        #define NVRTC  // kept, it is text\n    """\nNAME = "a"  # b'


def test_what_failed_is_named(root: Path) -> None:
    written(root, "tests/test_laws.py::test_one", "tests/test_laws.py::test_two")
    code, line = gpu_record.check(root)
    assert code == 1
    assert ": 5 passed, 2 failed, 2 skipped on some GPU, " in line
    assert line.endswith("; tests/test_laws.py::test_one failed; tests/test_laws.py::test_two failed")


def test_runs_on_the_same_sources_add_up_and_what_passes_later_has_passed(root: Path) -> None:
    written(root, "x", "y")
    written(root, "s1", passed="xz", selected="cuda of two GPUs")
    code, line = gpu_record.check(root)
    assert code == 1
    assert ": 7 passed, 2 failed, 2 skipped on some GPU, " in line
    assert line.endswith("; y failed; s1 failed")


def test_a_run_on_other_sources_begins_a_record(root: Path) -> None:
    (root / "semiring/cuda/push.cu").write_text("other")
    written(root, passed="x", selected="another")
    assert ": 1 passed, 0 failed, 2 skipped on some GPU, " in gpu_record.check(root)[1]


def test_a_changed_a_new_and_a_removed_file_are_named(root: Path) -> None:
    (root / "semiring/algebra/ops.py").write_text("other")
    assert gpu_record.check(root)[1].startswith(
        "changed since tests/gpu_record.json was written: semiring/algebra/ops.py; "
    )
    (root / "semiring/cuda/new.cu").write_text("")
    (root / "semiring/cuda/push.cu").unlink()
    code, line = gpu_record.check(root)
    assert code == 1
    assert "written: semiring/algebra/ops.py, semiring/cuda/new.cu, semiring/cuda/push.cu; run" in line


def test_other_files_do_not_count(root: Path) -> None:
    (root / "semiring/verbs.py").write_text("")
    (root / "semiring/cuda/notes.md").write_text("")
    assert gpu_record.check(root)[0] == 0


def test_no_record(root: Path) -> None:
    (root / gpu_record.RECORD).unlink()
    assert gpu_record.check(root) == (
        1,
        "tests/gpu_record.json is missing: run python -m tests.gpu_record --run on a machine with a GPU",
    )


def test_names_of_failed_tests_and_of_errors() -> None:
    stats = {"error": reports("a"), "failed": reports("b"), "passed": [1]}
    assert gpu_record.names(stats, "failed", "error") == ["b", "a"]


def test_errors_count_as_failed() -> None:
    stats = {"passed": [1, 2], "error": [3], "failed": [4, 5], "": [6], "skipped": [7]}
    assert gpu_record.counts(stats) == {"passed": 2, "failed": 3, "skipped": 1}


@pytest.mark.long
def test_what_is_run_needs_a_gpu_and_takes_no_times() -> None:
    modules = "tests/test_bfs.py", "tests/test_choice.py", "tests/test_places.py"
    command = gpu_record.command("--collect-only", *modules)
    listed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=gpu_record.ROOT).stdout
    names = [line for line in listed.splitlines() if "::" in line]
    assert {name.partition("::")[0] for name in names} == {modules[0], modules[2]}
    assert all("cuda" in name or "gpu" in name for name in names)
    assert any("test_bfs.py" in name and "-cuda" in name for name in names)


def test_a_run_is_given_what_follows_and_the_record_says_what_came_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[Any] = []
    monkeypatch.setattr(gpu_record.subprocess, "run", lambda command, **how: ran.append(command[-2:]))
    monkeypatch.setattr(gpu_record, "check", lambda: (1, "one failed"))
    assert gpu_record.main(["--run", "-k", "bfs"]) == 1
    assert gpu_record.main(["--check"]) == 1
    assert (ran, capsys.readouterr().out) == ([["-k", "bfs"]], "one failed\none failed\n")
    with pytest.raises(SystemExit, match="usage"):
        gpu_record.main(["--check", "-k", "bfs"])


class Item(SimpleNamespace):
    """What pytest has collected, of a test that needs a GPU or of another."""

    __hash__ = object.__hash__

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [pytest.mark.backend("cuda").mark] if name == "backend" and "cuda" in self.nodeid else []

    def get_closest_marker(self, name: str) -> None:
        return None


@pytest.mark.parametrize("required", [[], ["cuda"]], ids=["not required", "required"])
def test_one_item_of_a_test_is_skipped_unless_all_are_required(
    required: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conftest, "why_no_gpu", lambda: "there is none")
    left_out: list[Item] = []
    hook = SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))
    config = SimpleNamespace(getoption=lambda name: required, hook=hook, option=SimpleNamespace(markexpr=""))
    names = ["a[cpu]", "a[1-cuda]", "a[2-cuda]", "b[cpu]", "b[cuda]", "c"]
    items: list[Any] = [Item(nodeid=name, config=config) for name in names]
    conftest.pytest_collection_modifyitems(config, items)
    assert [item.nodeid for item in items + left_out] == (
        names if required else ["a[cpu]", "a[1-cuda]", "b[cpu]", "b[cuda]", "c", "a[2-cuda]"]
    )
