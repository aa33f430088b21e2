"""Formats examples with prompts in docstrings as code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> (?:.+\n?)+", re.MULTILINE)


class Prompts(Extension):
    """Turns every paragraph that begins with a prompt into a fenced code block."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrites an object's docstring."""
        if obj.docstring is not None:
            text = obj.docstring.value
            obj.docstring.value = EXAMPLE.sub(lambda m: f"```pycon\n{m[0].rstrip()}\n```\n", text)
