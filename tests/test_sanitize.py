"""compute-sanitizer watches every kernel that the CUDA text defines."""

from __future__ import annotations

from . import sanitize
from .gpu_record import sources


def test_every_kernel_is_found_in_the_cuda_text() -> None:
    texts = [(sanitize.ROOT / path).read_text(encoding="utf-8") for path in sources()]
    names = sanitize.kernels()
    assert len(names) == sum(text.count("__global__") for text in texts)
    assert {"gather_blocks", "write_merged", "sum_counts", "deep", "follow", "pointwise"} <= {*names}


def test_the_tests_that_are_watched_are_there() -> None:
    assert all((sanitize.ROOT / module).exists() for cases in sanitize.CASES.values() for module in cases)
