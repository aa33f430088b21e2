"""A strategy that a process pool can import."""

from pavior import Box, Free, Strategy


class CornerFirst(Strategy):
    """First Fit: the first free base, x fastest."""

    name = "corner-first"
    claim = "first"

    def find(self, free: Free, shape: tuple[int, ...] | None, nodes: int) -> Box | None:
        if shape is None:
            return None
        width, height = free.shape
        for y in range(height):
            for x in range(width):
                if free.is_free((x, y), shape):
                    return Box((x, y), shape)
        return None
