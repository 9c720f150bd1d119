"""The study of calibration: its intervals are right, and a liberal test needs a sentence that says why."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from streamsieve.independence.table_p_values import RARE_LEVEL, RARE_PER_CLASS
from studies._desk import HERE
from studies.calibration import __main__ as command
from studies.calibration import oracles, page, plan, power, promises, rare_levels, reasons
from studies.calibration.families import Data, Family
from studies.calibration.rules import rate
from studies.calibration.sizes import CONFIDENCE, interval, proportion_interval, simulate, sizes
from studies.calibration.subjects import LEVELS, Subject, by_p_value
from tests.studies.test_studies import check_page


def uniform(rng, n, m):
    return Data(rng.random((n, m)), rng.random(n))


def shared(rng, n, m):
    """All columns of a target are one column."""
    return Data(np.repeat(rng.random((n, 1)), m, axis=1), rng.random(n))


def exact(data):
    return data.X[0]


def liberal(data):
    return data.X[0] / 2


#: Cells of the quick slice.
QUICK = plan.jobs(0, 0, quick=True)
#: Defaults that are the test of another one over columns of numbers, or at a fixed level what it is online.
SAME_TEST = {
    "correlation, fixed level": "correlation, online",
    "by type, online": "correlation, online",
    "by type, fixed level": "correlation, online",
    "tables, fixed level": "tables, online",
    "FastOSFS, by type": "FastOSFS",
}

EXACT = Subject("exact", by_p_value(exact), lambda family: True)


def test_the_interval_of_independent_tests_is_that_of_clopper_and_pearson():
    for count, tests in ((0, 100), (3, 100), (50, 1000), (100, 100)):
        share = count / tests
        ours = proportion_interval(share, share * (1 - share) / tests, tests)
        wanted = scipy.stats.binomtest(count, tests).proportion_ci(CONFIDENCE, "exact")
        np.testing.assert_allclose(ours, wanted, rtol=1e-10)


@pytest.mark.parametrize("draw", [uniform, shared])
def test_intervals_cover_the_level_also_where_columns_are_copies(draw):
    family = Family("uniform", draw)
    found = [sizes([simulate(family, 1, EXACT, 60, (seed,))])[0] for seed in range(300)]
    covered = np.mean([size.low <= 0.05 <= size.high for size in found])
    assert covered > 0.97
    width = np.mean([size.high - size.low for size in found])
    assert (width < 0.02) == (draw is uniform)


def test_no_more_information_is_claimed_than_there_is():
    # as many rejections for every target: less variance than independent tests have
    assert interval(500, 100 * 25, 100, 10000) == interval(500, 100 * 29, 100, 10000)


def test_rounds_add_up():
    family = Family("uniform", uniform)
    rounds = [simulate(family, 1, EXACT, 30, (0, number)) for number in range(3)]
    both = sizes(rounds)
    assert both[0].tests == 3 * 30 * EXACT.columns
    assert both[0].size == pytest.approx(np.mean([sizes([one])[0].size for one in rounds]))
    assert rounds[0] == simulate(family, 1, EXACT, 30, (0, 0))
    assert rounds[0] != rounds[1]


def test_a_liberal_test_is_called_liberal():
    family = Family("uniform", uniform)
    verdicts = [
        [
            size.verdict
            for size in sizes([simulate(family, 1, replace(EXACT, rejections=by_p_value(test)), 80, (0,))])
        ]
        for test in (exact, liberal, lambda data: 2 * data.X[0])
    ]
    assert verdicts[0] == ["right"] * len(LEVELS)
    assert verdicts[1][:2] == ["liberal"] * 2
    assert verdicts[2][:2] == ["conservative"] * 2


@pytest.mark.parametrize("name", plan.FAMILIES)
def test_families_are_complete_and_reproducible(name):
    family = plan.FAMILIES[name]
    assert any(subject.takes(family) for subject in plan.TESTS.values())
    assert any(subject.takes(family) and subject.default for subject in plan.TESTS.values())
    for n in family.sizes:
        one, two = (family.draw(np.random.default_rng(3), n, 5) for _ in range(2))
        assert one.X.shape == (n, 5)
        assert one.y.shape == (n,)
        assert np.ptp(one.y) > 0
        assert one.X.dtype == np.float64
        np.testing.assert_array_equal(one.X, two.X)
        assert np.isnan(one.X).any() == ("missing" in family.kind)


@pytest.mark.parametrize("subject", sorted({job.subject for job in QUICK} - SAME_TEST.keys()))
def test_a_default_is_liberal_nowhere_or_the_page_says_why(subject, tmp_path):
    check_quick([job for job in QUICK if job.subject == subject], tmp_path)


@pytest.mark.parametrize("subject", SAME_TEST)
def test_a_default_that_decides_as_another_one_where_it_is_not_the_same_test(subject, tmp_path):
    """Over most families, the same test: cells in which two targets are decided alike are counted once."""
    mine = {job[1:3]: job for job in QUICK if job.subject == subject}
    others = {job[1:3]: job for job in QUICK if job.subject == SAME_TEST[subject]}
    assert mine.keys() <= others.keys()
    two = {job: plan.compute(job, targets=2) for job in [*mine.values(), *(others[at] for at in mine)]}
    differ = [job for at, job in mine.items() if two[job] != two[others[at]]]
    assert len(differ) < len(mine) / 4
    check_quick(differ, tmp_path)


def check_quick(jobs, folder):
    store = plan.Store(folder / "stored.jsonl")
    plan.run(store, jobs, until=float("inf"), quick=True, say=lambda text: None)
    assert store.results.keys() == {*jobs}
    assert not page.unexplained(store.cells(0))


def test_the_quick_slice_of_a_test_is_a_page(capsys):
    assert command.main(["--quick", "--only", "rows, t"]) == 0, capsys.readouterr().out
    said = capsys.readouterr().out.splitlines()
    path = next(line.removeprefix("wrote ") for line in said if line.startswith("wrote "))
    text = check_page(page.Path(path))
    assert "## Liberal cells: why, and what to do" in text
    assert "Not explained yet" not in text


def test_a_red_cell_without_a_sentence_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(plan, "FAMILIES", {"uniform": Family("uniform", uniform, (5,))})
    monkeypatch.setattr(plan, "EXPERIMENTS", {})
    bad = Subject("bad", by_p_value(liberal), lambda family: True, default=True)
    monkeypatch.setattr(plan, "TESTS", {"bad": bad})
    for name in ("FAMILIES", "EXPERIMENTS", "TESTS"):
        monkeypatch.setattr(page, name, getattr(plan, name))
    monkeypatch.setattr(page, "write", lambda cells, docs: docs)
    assert command.main(["--quick"]) == 1
    assert "liberal, and no sentence says why: bad, uniform, n = 5" in capsys.readouterr().out
    monkeypatch.setitem(reasons.REASONS, ("bad", "*"), "It is halved.")
    assert command.main(["--quick"]) == 0


def test_a_run_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "stored.jsonl"
    jobs = [job for job in plan.jobs(0, 0, quick=True) if job.subject in plan.TESTS][:2]
    store = plan.Store(path)
    store.add(jobs[0], {"tests": 1})
    path.write_text(path.read_text() + '{"job": ["half')
    store = plan.Store(path)
    assert store.results == {jobs[0]: {"tests": 1}}
    store.add(jobs[1], {"tests": 2})
    assert [json.loads(line)["result"] for line in path.read_text().splitlines()] == [
        {"tests": 1},
        {"tests": 2},
    ]
    said = []
    assert plan.run(plan.Store(path), jobs, until=0, quick=True, say=said.append)
    assert not said
    assert plan.Store(path, fresh=True).results == {}


def test_a_check_says_what_todays_code_counts_differently(tmp_path, monkeypatch):
    family = Family("uniform", uniform, (5,))
    monkeypatch.setattr(plan, "FAMILIES", {"uniform": family})
    monkeypatch.setattr(plan, "EXPERIMENTS", {})
    store, said = plan.Store(tmp_path / "stored.jsonl"), []
    # more targets than a round has, as an older version may have stored
    store.add(plan.Job("exact", "uniform", 5, 1, 0, 0), simulate(family, 5, EXACT, 50, (0, 0)))
    for test, differ in ((exact, 0), (liberal, 1)):
        monkeypatch.setattr(plan, "TESTS", {"exact": replace(EXACT, rejections=by_p_value(test))})
        assert len(plan.stale(store, plan.jobs(0, 0), 2, said.append)) == differ
    assert said == [f"exact: {differ} of 1 cells differ, 1 are stored" for differ in (0, 1)]


def test_one_subject_can_be_counted_alone(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(plan, "run", lambda store, jobs, **_: asked.extend(jobs))
    monkeypatch.setattr(page, "write", lambda cells, docs: docs)
    assert command.main(["--quick", "--only", "tables*"]) == 0
    assert {job.subject for job in asked} == {"tables, fixed level", "tables, online", "tables, strata"}


def test_the_bound_of_rare_classes_is_where_the_gamma_distribution_begins_to_hold():
    """At .01, five rows in five levels, and at .001 16 rows in twenty, are far too liberal."""
    assert rare_levels.sizes(5, 5)[1] > 0.025
    assert rare_levels.sizes(RARE_LEVEL, 20)[2] > 0.0025
    for levels in (5, 20):
        bound = max(RARE_LEVEL, RARE_PER_CLASS * levels)
        for size, level in zip(rare_levels.sizes(bound, levels), rare_levels.ALPHAS, strict=True):
            assert size < 1.2 * level + 3 * np.sqrt(level / rare_levels.DRAWS)


def test_the_default_has_the_power_of_t_where_t_is_exact_and_rows_are_not_few():
    for name in ("Gaussian x, two equal classes", "y linear in Gaussian x"):
        cell = power.counted(name, 100, 300)
        assert cell["t"][0] > 0.7
        assert max(power.lost(cell)) <= power.ALLOWED
    assert "Gaussian x, two equal classes | 100" in power.page(
        [power.counted("Gaussian x, two equal classes", 100, 50)]
    )


def test_promises_are_counted_and_the_page_shows_the_numbers():
    stored = json.loads(promises.RESULTS.read_text())
    assert promises.PAGE.read_text() == promises.page(**stored)
    reasons = promises.PAGE.read_text().partition("| method |")[0]
    for cell in stored["cells"]:
        if cell["low"] > cell["bound"] and cell["family"] not in promises.SPREAD:
            assert cell["method"].partition('"')[0] in reasons, "a bold cell has a sentence"
    assert all(f"*{family.capitalize()}*" in reasons for family in promises.SPREAD)
    cell = promises.counted('`Screen("t")`, p <= .01', "a rare class of large spread", 5)
    assert 0 <= cell["low"] <= cell["rate"] <= cell["high"] <= 0.1
    for draw in (promises.INDEPENDENT | promises.GROUPED).values():
        noise = draw(np.random.default_rng(0))
        assert noise.X.shape == (len(noise.y), promises.COLUMNS)


def test_rates_of_procedures():
    rounds = [{"streams": 10, "with signals": 10, "sums": {"a": [1.0, 1.0, 5.0]}}]
    found = rate("a", rounds)
    assert (found.fdr, found.power) == (0.1, 0.5)
    assert found.low < 0.01
    assert found.high > 0.4
    assert rate("a", [{**rounds[0], "with signals": 0}]).power is None


def test_oracles_agree():
    found = list(oracles.agreements())
    assert len(found) == len(oracles.ORACLES)
    for one in found:
        assert one.apart <= one.wanted, one


def test_the_published_page_is_whole():
    text = check_page(HERE.parent / "docs" / "evidence" / "calibration.md")
    cells = plan.Store(HERE / "results" / "calibration.jsonl").cells(0)
    assert {(job.subject, job.data, job.n) for job in plan.jobs(0, 0)} <= {*cells}
    assert not page.unexplained(cells)
    assert "Not explained yet" not in text
    assert "†" in text
