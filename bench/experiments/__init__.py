"""The experiments, by name, in the order in which the report shows them."""

from __future__ import annotations

from bench.experiment import Experiment

from . import everyone, martin, roofline, sssp_c, storage

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        everyone.PEERS,
        martin.FIG6,
        martin.FIG7,
        sssp_c.SSSP_C,
        storage.FORMATS,
        roofline.ROOFLINE,
    )
}
