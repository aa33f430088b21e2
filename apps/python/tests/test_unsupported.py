"""Tests that combinations that do not apply are errors, or are left out and reported."""

import pytest

import pavior

PARAMETERS = {
    "machine": "mesh:4x4x4",
    "strategy": ["2db", "ff"],
    "load": 1.0,
    "jobs": 20,
    "replications": 2,
}


def test_an_error_names_what_does_not_apply() -> None:
    with pytest.raises(pavior.BadName, match=r"2db does not work on mesh:4x4x4.*skip-unsupported"):
        pavior.Experiment(**PARAMETERS)


def test_what_is_left_out_is_told() -> None:
    with pytest.warns(UserWarning, match="left out: strategy 2db on mesh:4x4x4"):
        experiment = pavior.Experiment(skip_unsupported=True, **PARAMETERS)
    (skipped,) = experiment.skipped
    assert (skipped["parameter"], skipped["value"]) == ("strategy", "2db")
    assert {point["strategy"] for point in experiment.points} == {"ff"}
    assert b'"skipped"' in experiment.run().files()["results.json"]
    without = pavior.Experiment(**{**PARAMETERS, "strategy": ["ff"]})
    assert without.fingerprint == experiment.fingerprint
    assert without.skipped == []


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(pavior.BadName, match="nothing is left to compare"):
        pavior.Experiment(**{**PARAMETERS, "strategy": ["2db"]}, skip_unsupported=True)
