"""The benchmarks run, say what they measured in a fixed form, and leave the published figures alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import _bars, _report, _scaling
from benchmarks._cases import Size, cases_of, suite_names
from benchmarks._measure import Seconds, interleave
from benchmarks._run import FIELDS, Result

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = [ROOT / "benchmarks" / name for name in ("RESULTS.md", "results.json")]

KINDS = {
    "suite": str,
    "case": str,
    "ours_seconds": float,
    "peer": str | None,
    "peer_seconds": float | None,
    "speedup": float | None,
    "ours_peak_mb": float | None,
    "note": str,
}


def published():
    return [path.read_bytes() if path.exists() else None for path in PUBLISHED]


def benchmarks(*arguments):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def result(case="a case", **changed):
    figures = {
        "suite": "rows", "case": case, "ours_seconds": 0.5, "peer": "a peer", "peer_seconds": 2.0,
        "speedup": 4.0, "ours_peak_mb": 1.5, "note": "a | b", "bar": "speedup >= 3", "reached": True,
    }  # fmt: skip
    return Result(**figures | changed)


def test_a_quick_run_writes_its_json_and_nothing_else(tmp_path):
    before, out = published(), tmp_path / "out.json"
    done = benchmarks("--quick", "--suite", "rows", "--json", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    assert published() == before
    assert "bars not judged" in done.stdout
    assert "bars reached" not in done.stdout
    rows = json.loads(out.read_text())
    assert [row["case"] for row in rows] == [case.name for case in cases_of("rows", Size(quick=True))]
    for row in rows:
        assert tuple(row) == FIELDS == tuple(KINDS)
        assert all(isinstance(row[name], kind) for name, kind in KINDS.items()), row
        assert row["ours_seconds"] > 0
        assert row["speedup"] == pytest.approx(row["peer_seconds"] / row["ours_seconds"])
        assert row["case"] in done.stdout


def test_an_unknown_suite_is_refused_with_the_known_ones():
    done = benchmarks("--suite", "nonsense")
    assert done.returncode == 2
    assert all(suite in done.stderr for suite in suite_names())


def test_every_case_has_a_name_of_its_own_and_a_bar_that_can_be_judged():
    for suite in suite_names():
        cases = cases_of(suite, Size())
        assert cases
        assert len({case.name for case in cases}) == len(cases)
        for case in cases:
            assert _bars.reached(case.bar, seconds=1.0, peer_seconds=1.0, work=1) in (None, True, False)


def test_every_selector_of_the_registry_has_a_row():
    from streamsieve import registry

    names = [case.name for case in cases_of("selectors", Size())]
    for cls in registry.selectors().values():
        assert any(name.startswith(f"{cls.__name__}(") for name in names)


@pytest.mark.parametrize(
    ("bar", "expected"),
    [
        (None, None),
        ("speedup >= 4", True),
        ("speedup >= 4.1", False),
        ("ours <= 0.25x", True),
        ("ours <= 0.2x", False),
        ("ours <= 0.5 s", True),
        ("ours <= 0.49 s", False),
        ("ours <= 1 bytes", True),
        ("rate >= 2,000/s", True),
        ("rate >= 2,001/s", False),
        ("rate >= 2,000/s and speedup >= 5", False),
    ],
)
def test_bars(bar, expected):
    assert _bars.reached(bar, seconds=0.5, peer_seconds=2.0, work=1_000) is expected


@pytest.mark.parametrize("bar", ["fast", "speedup >= 4x", "speedup > 4"])
def test_a_bar_that_says_nothing_is_refused(bar):
    with pytest.raises(ValueError, match="says nothing"):
        _bars.reached(bar, seconds=0.5, peer_seconds=2.0)


def test_functions_take_turns_and_their_best_counts():
    calls, own = [], iter([Seconds(3.0), Seconds(2.0), Seconds(4.0)])

    def timed_itself():
        calls.append("a")
        return next(own)

    best = interleave(timed_itself, lambda: calls.append("b"), rounds=3)
    assert calls == ["a", "b", "b", "a", "a", "b"]  # each comes first in turn
    assert best[0] == 2.0
    assert 0 < best[1] < 2.0


def test_peak_memory_is_that_of_the_call():
    """In a process of its own: one that has freed much has room in which growth does not show."""
    code = """
from benchmarks._measure import peak_growth_mb
kept = []
print(peak_growth_mb(lambda: kept.append(bytearray(b"x") * 50_000_000)))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert float(said.stdout) == pytest.approx(50, abs=10)


def test_a_suite_run_again_replaces_its_section_alone(tmp_path):
    def store(suite, results, missing=None, machine="a machine"):
        part = _report.section(results, missing or {}, machine=machine, load="0.0")
        _report.store(suite, part, tmp_path)
        return (tmp_path / "RESULTS.md").read_text()

    store("rows", [result("old")])
    store("columns", [result("other", reached=False)], {"gone": "skipped, no data"})
    text = store("rows", [result("new")])
    assert "new" in text
    assert "| old |" not in text
    assert "| other |" in text
    assert "not measured: gone: skipped, no data" in text
    assert "1 of 1 bars reached" in text
    assert "0 of 1 bars reached" in text
    assert "a \\| b" in text
    assert "python -m benchmarks" in text


def test_pictures_of_growth_say_what_is_held_fixed():
    results = _scaling.recorded(Path(_scaling.__file__).with_name("results.json"))
    for prefix, fixed in {
        "Screen fisher, n = ": "500 features, 2 classes",
        "Screen fisher, p = ": "5,000 rows, 2 classes",
        "Screen fisher, classes = ": "20,000 rows, 500 features",
        "SAOLA, p = ": "2,000 rows, sparse",
        "SAOLA, kept = ": "20,000 rows, 1,000 columns, dense",
    }.items():
        assert _scaling._fixed(results, prefix) == fixed
