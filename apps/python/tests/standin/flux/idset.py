"""Sets of ranks, as RFC 22 writes them."""

from __future__ import annotations

from collections.abc import Iterator


class IDset:
    """A set of numbers from 0, written `0-3,7`."""

    def __init__(self, arg: str = "") -> None:
        self.ids: set[int] = set()
        for part in filter(None, arg.strip("[]").split(",")):
            first, _, last = part.partition("-")
            self.ids.update(range(int(first), int(last or first) + 1))

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self.ids))

    def __len__(self) -> int:
        return len(self.ids)

    def __str__(self) -> str:
        runs: list[list[int]] = []
        for number in self:
            if runs and runs[-1][1] == number - 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
