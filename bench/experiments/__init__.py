"""The experiments, by name, in the order in which the report shows them."""

from __future__ import annotations

from bench.experiment import Experiment

from . import (
    afanasyev,
    afanasyev_scc,
    beyond,
    centralities,
    choice,
    copies,
    cores,
    csgraph,
    elimination,
    equations,
    everyone,
    fused,
    kolganov,
    large,
    martin,
    networkx,
    packing,
    parts,
    prepare,
    roofline,
    spmv,
    sssp_c,
    storage,
    thresholds,
)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        everyone.EVERYONE,
        centralities.CENTRALITIES,
        elimination.ELIMINATION,
        csgraph.CSGRAPH,
        networkx.NETWORKX_BACKEND,
        martin.FIG6,
        martin.FIG7,
        afanasyev.FIGURE_4,
        afanasyev.FIGURE_7,
        afanasyev.FIGURE_8,
        afanasyev_scc.FIGURE_9,
        afanasyev_scc.FIGURE_10,
        afanasyev_scc.FIGURE_11,
        kolganov.MST,
        kolganov.HYBRID,
        sssp_c.SSSP_C,
        spmv.SPMV,
        storage.FORMATS,
        choice.CHOICE,
        packing.PACKING,
        prepare.PREPARE,
        roofline.ROOFLINE,
        fused.FUSED,
        equations.EQUATIONS,
        cores.CORES,
        thresholds.THRESHOLDS,
        copies.COPIES,
        beyond.BEYOND,
        large.LARGE,
        parts.PARTS,
    )
}
