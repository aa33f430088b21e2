"""Runs a sweep on a process pool. The results are byte-for-byte the same as on threads."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from pavior import Experiment

TEXT = """
machine = "mesh:8x8"
strategy = ["ff", "tff", "gabl"]
load = [0.5, 1.0]
jobs = 200
precision = 0.1
max-replications = 20
timing = false
"""


def main() -> None:
    experiment = Experiment(TEXT)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = experiment.run(on=pool)
    means = results.means
    columns = (means["strategy"], means["load"], means["metric"], means["mean"], means["ci95"])
    for strategy, load, metric, mean, half in zip(*columns, strict=True):
        if metric == "turnaround":
            print(f"{strategy:5} load {load}: {mean:.3f} ± {half:.3f}")
    print("the same bytes as on threads:", results.files() == experiment.run().files())


if __name__ == "__main__":
    main()
