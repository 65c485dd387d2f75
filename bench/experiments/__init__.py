"""The experiments, by name, in the order in which the report shows them."""

from __future__ import annotations

from bench.experiment import Experiment

from .roofline import ROOFLINE
from .storage import FORMATS

EXPERIMENTS: dict[str, Experiment] = {
    FORMATS.name: FORMATS,
    ROOFLINE.name: ROOFLINE,
}
