"""Records skipped tests for the check runner (`xtask/trials`)."""

import os

import pytest


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Records a skipped test and the reason."""
    notes = os.environ.get("PAVIOR_NOTES")
    if not report.skipped or notes is None:
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    fields = ["skipped", report.nodeid, reason.removeprefix("Skipped: ")]
    line = "\t".join(" ".join(field.split()) for field in fields)
    with open(notes, "a", encoding="utf-8") as file:
        file.write(line + "\n")
