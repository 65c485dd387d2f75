"""The experiments, by name, in the order in which the report shows them."""

from __future__ import annotations

from bench.experiment import Experiment

from . import martin, sssp_c

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (martin.FIG6, martin.FIG7, sssp_c.SSSP_C)
}
