"""Cells: any order, any number of processes, killed and resumed, and never two settings in one folder."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from streamsieve.evaluation.engine.jobs import RunConfig, run_jobs
from streamsieve.evaluation.engine.store import CELLS, SETTINGS, JobStore
from streamsieve.exceptions import ParameterError, StateError

CELLS_OF = [{"run": run, "fold": fold} for run in range(4) for fold in range(3)]


@dataclass(frozen=True)
class Square:
    """Job that leaves a trace of every cell it computes."""

    trace: str = ""
    bad: tuple[int, ...] = ()
    slow: float = 0.0

    def __call__(self, key, notes):
        if self.trace:
            with Path(self.trace).open("a") as file:
                file.write(f"{key['run']},{key['fold']}\n")
        time.sleep(self.slow)
        number = 10 * key["run"] + key["fold"]
        if number in self.bad:
            raise ValueError(f"{number} is bad")
        with notes.part("half of it"):
            if -number in self.bad:
                raise KeyError("missing")
        return {"square": number**2 / 3}


def run(work=None, folder=None, resume=False, settings=None, cells=CELLS_OF, **options):
    return run_jobs(cells, work or Square(), settings or {"power": 2}, RunConfig(folder, resume, **options))


def squares(outcome):
    return [None if result is None else result["square"] for result in outcome.results]


def _note(reported, done, total):
    reported.append((done, total))


EXPECTED = [(10 * key["run"] + key["fold"]) ** 2 / 3 for key in CELLS_OF]


def test_results_stand_in_the_order_of_the_cells_and_progress_is_reported():
    reported = []
    outcome = run(progress=partial(_note, reported))
    assert squares(outcome) == EXPECTED
    assert reported == [(done, 12) for done in range(13)]


@pytest.mark.full
def test_two_processes_give_the_same(tmp_path):
    assert squares(run(folder=tmp_path / "a", n_jobs=2)) == EXPECTED
    assert squares(run(folder=tmp_path / "a", resume=True)) == EXPECTED


def test_what_is_finished_is_not_computed_again(tmp_path):
    trace = tmp_path / "trace"
    run(Square(str(trace)), tmp_path / "f")
    lines = (tmp_path / "f" / CELLS).read_bytes().splitlines(keepends=True)
    for kept in (12, 7, 1, 0):
        trace.write_text("")
        (tmp_path / "f" / CELLS).write_bytes(b"".join(lines[:kept]))
        reported = []
        progress = partial(_note, reported)
        outcome = run(Square(str(trace)), tmp_path / "f", resume=True, progress=progress)
        assert squares(outcome) == EXPECTED
        assert len(trace.read_text().splitlines()) == 12 - kept
        assert reported[0] == (kept, 12)


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_half_a_line_is_no_result(tmp_path, cut):
    run(folder=tmp_path)
    path = tmp_path / CELLS
    path.write_bytes(path.read_bytes()[:-cut])
    trace = tmp_path / "trace"
    assert squares(run(Square(str(trace)), tmp_path, resume=True)) == EXPECTED
    assert len(trace.read_text().splitlines()) == 1
    assert all(json.loads(line) for line in path.read_bytes().splitlines())
    assert squares(run(folder=tmp_path, resume=True)) == EXPECTED


def test_a_damaged_line_is_done_again(tmp_path):
    run(folder=tmp_path)
    lines = (tmp_path / CELLS).read_bytes().splitlines(keepends=True)
    lines[3] = b"\xff\xfe nonsense\n"
    lines[5] = b"[1, 2]\n"
    (tmp_path / CELLS).write_bytes(b"".join(lines))
    assert squares(run(folder=tmp_path, resume=True)) == EXPECTED


def test_other_settings_are_refused_and_named(tmp_path):
    run(folder=tmp_path, settings={"power": 2, "data": {"rows": 10}})
    with pytest.raises(StateError, match=r"other settings: data.rows was 10 and is 11 now. Resume with"):
        run(folder=tmp_path, settings={"power": 2, "data": {"rows": 11}}, resume=True)
    many = {f"s{i}": i for i in range(9)}
    with pytest.raises(StateError, match="and 6 more"):
        run(folder=tmp_path, settings=many, resume=True)
    with pytest.raises(StateError, match="holds a run already: resume"):
        run(folder=tmp_path, settings={"power": 2, "data": {"rows": 10}})


def test_results_without_settings_are_refused(tmp_path):
    run(folder=tmp_path)
    (tmp_path / SETTINGS).unlink()
    with pytest.raises(StateError, match=r"no settings\.json that made them"):
        run(folder=tmp_path, resume=True)
    (tmp_path / SETTINGS).write_text("{")
    with pytest.raises(StateError, match="cannot be read"):
        run(folder=tmp_path, resume=True)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="cannot make the folder"):
        run(folder=tmp_path / "file" / "below")


def test_resume_needs_a_folder():
    with pytest.raises(ParameterError, match="give folder=PATH"):
        run(resume=True)
    with pytest.raises(ParameterError, match="errors must be one of"):
        run(errors="ignore")


def test_a_store_that_is_not_open_takes_nothing(tmp_path):
    with pytest.raises(StateError, match="not open"):
        JobStore(tmp_path, {}, resume=False).add("x", {})


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failure_loses_nothing_else_and_is_tried_again(tmp_path, n_jobs):
    outcome = run(Square(bad=(11, -20)), tmp_path, n_jobs=n_jobs)
    bad = CELLS_OF.index({"run": 1, "fold": 1})
    assert squares(outcome) == [*EXPECTED[:bad], None, *EXPECTED[bad + 1 :]]
    first, second = map(str, outcome.failures)
    assert first == "run=1 fold=1: ValueError: 11 is bad"
    assert second == "run=2 fold=0, half of it: KeyError: 'missing'"
    trace = tmp_path / "trace"
    outcome = run(Square(str(trace)), tmp_path, resume=True)
    assert squares(outcome) == EXPECTED
    assert not outcome.failures
    assert sorted(trace.read_text().split()) == ["1,1", "2,0"]


def test_two_runs_in_one_folder_are_refused(tmp_path):
    store = JobStore(tmp_path, {"power": 2}, resume=False)
    with store.opened(), pytest.raises(StateError, match="another run is using"):
        run(folder=tmp_path, resume=True)


def test_warnings_are_counted():
    outcome = run_jobs(CELLS_OF, _warn, {}, RunConfig())
    assert outcome.warnings == {"slow": 12}


def _warn(key, notes):
    import warnings

    warnings.warn("slow", stacklevel=1)
    return {"square": 0}


@pytest.mark.full
def test_kill_minus_nine_costs_one_cell_at_most(tmp_path):
    """A process that is killed at any moment leaves every cell it had finished."""
    folder = tmp_path / "run"
    code = (
        "import sys; sys.path[:0] = [sys.argv[1]]\n"
        "from test_jobs import Square, run\n"
        "run(Square(slow=0.05), sys.argv[2])\n"
    )
    here = str(Path(__file__).parent)
    process = subprocess.Popen([sys.executable, "-c", code, here, str(folder)])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(_lines(folder)) < 3:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = len(_lines(folder))
    assert 3 <= finished < 12
    trace = tmp_path / "trace"
    assert squares(run(Square(str(trace)), folder, resume=True)) == EXPECTED
    assert len(trace.read_text().splitlines()) <= 12 - finished + 1


def _lines(folder):
    path = folder / CELLS
    return path.read_bytes().splitlines() if path.exists() else []
