"""Tests a custom strategy against the oracle and compares it with a built-in one on the same jobs."""

from pavior import Box, Experiment, Free, Strategy, judge


class FromTheCorner(Strategy):
    """Chooses the free base nearest to node (0, 0), measured along the axes."""

    name = "from-the-corner"
    claim = "complete"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        if shape is None:
            return None
        width, height = free.shape
        bases = [(x, y) for y in range(height) for x in range(width)]
        for base in sorted(bases, key=sum):
            if free.is_free(base, shape):
                return Box(base, shape)
        return None


if __name__ == "__main__":
    verdict = judge(FromTheCorner, "mesh:3x3")
    print(f"{verdict.answers} answers tested:", verdict.counterexample or "it refuses no free base")
    results = Experiment(
        machine="mesh:8x8", strategy=["ff", FromTheCorner], load=1.2, jobs=200, replications=5, timing=False
    ).run()
    table = results.differences
    for metric, difference, half in zip(
        table["metric"], table["difference"], table["difference_ci95"], strict=True
    ):
        if metric in ("turnaround", "utilization"):
            print(f"{metric}: {difference:+.3f} ± {half:.3f} relative to ff")
