"""The graphs with cliffs have the answers that are known of them, small ones on any device."""

from __future__ import annotations

import pytest

from bench.cliffs.gpu import rows

from .conftest import Backend


@pytest.mark.parametrize("backend", [each.param(name=each.value) for each in Backend])
def test_every_case_is_verified(backend, tmp_path):
    found = list(rows(backend, tmp_path, shrink=200))
    assert len(found) == 12
    assert all(verified and ms > 0 for _, ms, verified in found), found
