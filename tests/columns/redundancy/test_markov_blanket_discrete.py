"""The search over contingency tables against the slow twins: bits and numbers, every rule, any blocks."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.columns.composition import Composition
from streamsieve.columns.osfs import OSFS, FastOSFS
from streamsieve.columns.redundancy import slots
from streamsieve.columns.redundancy.markov_blanket import discrete
from streamsieve.columns.redundancy.markov_blanket.discrete import TABLE_TESTS, MarkovBlanketDiscrete
from streamsieve.columns.redundancy.markov_blanket.rule import MarkovBlanketConfig
from streamsieve.decisions import Decisions
from streamsieve.exceptions import StateError
from streamsieve.feature_names import FeatureNames
from streamsieve.protocols import ColumnBlock, Reason, Task
from tests.helpers.tier import cases
from tests.real_data import load_real
from tests.reference.chi_square import chi_square
from tests.reference.fast_osfs import fast_osfs
from tests.reference.g_squared import Tables, g_squared
from tests.reference.lines import Line
from tests.reference.osfs import osfs

TWINS = {True: fast_osfs, False: osfs}
STATISTICS = {"g2": g_squared, "chi2": chi_square}
TASKS = {2: Task.BINARY, 3: Task.MULTICLASS, 4: Task.MULTICLASS}


def store(y, *, fast=True, **rules):
    """Return a composition without columns, with the paper's rules."""
    rules = {"test": "g2", "alpha": 0.05, "most": 3, "skip": False, "reliable": "nominal", **rules}
    most, skip, test = (rules.pop(name) for name in ("most", "skip", "test"))
    bound = TABLE_TESTS[test](y, TASKS[len(np.unique(y))], **rules)
    config = MarkovBlanketConfig(most, skip_unreliable=skip, newcomer_first=fast)
    return Composition(bound, MarkovBlanketDiscrete(bound, config))


def stream(rng, n, C, kinds):
    """Return labels, and columns that know them directly, through other columns, or not at all."""
    y = np.concatenate([np.arange(C), rng.integers(0, C, n - C)])
    columns = [y]
    for _ in range(int(rng.integers(4, 9))):
        levels = int(rng.choice(kinds))
        source = columns[rng.integers(len(columns))]
        follows = rng.random(n) < rng.choice([0.2, 0.6, 0.9, 1.0], p=[0.3, 0.4, 0.25, 0.05])
        random = rng.integers(0, levels, n)
        columns.append(np.where(follows, rng.permutation(64)[source] % levels, random))
    order = rng.permutation(len(columns) - 1) + 1
    return y, np.array(columns).T[:, order].astype(float) - 1.0


def run(kept, X, *, blocks=None, reload=False):
    """Offer all columns; return what was kept and every decision, in the words of the twins."""
    lines, start = [], 0
    for size in blocks or [X.shape[1]]:
        settled = kept.offer(ColumnBlock(X[:, start : start + size]), start)
        for d in Decisions(settled, FeatureNames()):
            by = tuple(int(name[1:]) for name in d.by)
            lines.append(Line(int(d.feature[1:]), str(d.event), str(d.reason), by, d.statistic, d.p_value))
        start += size
        if reload:
            kept = Composition.from_state(kept.state())
    return kept.features.tolist(), lines


def same(ours, theirs, n):
    (kept, lines), (wanted_kept, wanted) = ours, theirs
    assert kept == wanted_kept
    assert [line[:4] for line in lines] == [line[:4] for line in wanted]
    for line, other in zip(lines, wanted, strict=True):
        (statistic, p), (wanted_statistic, wanted_p) = line[4:], other[4:]
        assert statistic == pytest.approx(wanted_statistic, rel=1e-9, abs=1e-12 * n)
        # near 1 a p-value goes with a small power of the statistic, of which only rounding is left
        assert min(p, 0.999) == pytest.approx(min(wanted_p, 0.999), rel=1e-9, abs=1e-12 * n)


@pytest.mark.parametrize("kinds", [(2,), (2, 3), (2, 3, 4, 40), (7, 20)], ids=str)
@pytest.mark.parametrize("fast", [True, False], ids=["fast", "osfs"])
def test_every_decision_is_that_of_the_twin(kinds, fast):
    rng = np.random.default_rng([len(kinds), kinds[-1], fast])
    reasons = set()
    for case in range(cases(90, 48)):
        n, C = int(rng.choice([20, 60, 150, 300])), int(rng.choice(list(TASKS)))
        y, X = stream(rng, n, C, kinds)
        rules = {
            "alpha": float(rng.choice([0.01, 0.05, 0.2])),
            "degrees": str(rng.choice(["nominal", "zero_cells", "strata"])),
            "reliable": str(rng.choice(["nominal", "occupied"])),
            "bins": int(rng.choice([2, 3, 5])),
            "p_value": ("moments", "chi2", "chi2")[case % 3],
        }
        test, skip, most = str(rng.choice(list(STATISTICS))), bool(rng.random() < 0.5), int(rng.integers(4))
        judge = Tables(
            X, y, **rules, unreliable="skip" if skip else "independent", statistic=STATISTICS[test]
        )
        theirs = TWINS[fast](judge, X.shape[1], most)
        ours = run(store(y, test=test, skip=skip, most=most, **rules, fast=fast), X)
        same(ours, theirs, n)
        reasons |= {(line.event, line.reason) for line in theirs[1]}
    assert {("kept", "relevant"), ("rejected", "irrelevant"), ("evicted", "redundant")} <= reasons
    assert {("rejected", "redundant")} <= reasons
    assert "unreliable test" in {reason for _, reason in reasons}


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "osfs"])
def test_neither_the_form_nor_the_size_of_blocks_nor_a_reload_changes_a_bit(fast):
    rng = np.random.default_rng(1)
    for kinds in [(2,), (2, 2, 2, 3), (2, 5, 40)] * 4:
        y, X = stream(rng, 150, 3, kinds)
        X = np.hstack([X, X[:, ::-1] * 2 + 1])
        rules = {"skip": bool(rng.random() < 0.5), "reliable": str(rng.choice(["nominal", "occupied"]))}
        ones = [1] * X.shape[1]
        for way in ("chi2", "moments"):
            rules["p_value"] = way
            whole = run(store(y, **rules, fast=fast), X)
            assert run(store(y, **rules, fast=fast), X, blocks=ones) == whole
            sparse = run(store(y, **rules, fast=fast), sp.csc_array(X), blocks=[3, X.shape[1] - 3])
            if way == "chi2":
                assert sparse == whole
            same(sparse, whole, len(y))  # levels may have other names, and sums another order
            assert run(store(y, **rules, fast=fast), X, blocks=ones, reload=True) == whole


def test_bits_and_numbers_say_the_same():
    rng = np.random.default_rng(2)
    for case in range(40):
        y, X = stream(rng, int(rng.integers(20, 300)), 2, (2,))
        rules = {"degrees": str(rng.choice(["nominal", "zero_cells", "strata"])), "skip": rng.random() < 0.5}
        rules["p_value"] = ("chi2", "moments")[case % 2]
        bits, numbers = store(y, **rules), store(y, **rules)
        numbers.rule._unpack()
        ours, theirs = run(bits, X), run(numbers, X)
        assert bits.rule._packed
        same(ours, theirs, len(y))


def test_a_wide_block_is_taken_in_parts(monkeypatch):
    rng = np.random.default_rng(3)
    y, X = stream(rng, 150, 2, (2, 3))
    X = np.hstack([X] * 20)
    whole = run(store(y), X)
    monkeypatch.setattr(discrete, "CHUNK_VALUES", 300)
    monkeypatch.setattr(slots, "FIRST_SLOTS", 1)
    assert run(store(y), X) == whole


def noisy(rng, x, keep):
    return np.where(rng.random(len(x)) < keep, x, rng.integers(0, x.max() + 1, len(x)))


def test_a_chain_leaves_the_link_next_to_the_target():
    rng = np.random.default_rng(4)
    for levels in (2, 4):
        y = rng.integers(0, levels, 2000)
        near = noisy(rng, y, 0.8)
        far = noisy(rng, near, 0.8)
        for fast in (True, False):
            selected, lines = run(store(y, alpha=0.001, fast=fast), np.column_stack([far, near, near]))
            assert selected == ([1] if fast else [2])
            assert lines[1][:4] == (0, "evicted", "redundant", (1,))
            assert {line.reason for line in lines[2:] if line.event != "kept"} == {"collinear"}


def test_a_copy_goes_however_few_the_rows():
    rng = np.random.default_rng(5)
    y = np.arange(100) % 2
    wide = np.where(rng.random(100) < 0.5, y * 8, 0) + rng.integers(0, 8, 100)
    X = np.column_stack([wide, wide % 16, wide * -3.0])
    for reliable in ("nominal", "occupied"):
        selected, lines = run(store(y, skip=True, reliable=reliable), X)
        assert selected == [0]
        assert [line.reason for line in lines] == ["relevant", "collinear", "collinear"]
    assert [line.reason for line in run(store(y), X)[1]] == ["relevant", *["unreliable test"] * 2]


def test_unreliable_sets_empty_the_selection_or_are_passed_over():
    """Two columns that know different things about y, each of too many levels for the other to be given."""
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 6, (2, 160))
    y = (a >= 3) * 2 + (b >= 3)
    X = np.column_stack([noisy(rng, a, 0.9), noisy(rng, b, 0.9)])
    kept, lines = run(store(y), X)
    assert kept == [0]
    assert lines[1] == Line(1, "rejected", "unreliable test", (0,), 0.0, 1.0)
    assert run(store(y, fast=False), X)[0] == [1]
    assert run(store(y, skip=True), X)[0] == [0, 1]


def test_what_determines_the_target_makes_all_others_redundant():
    rng = np.random.default_rng(7)
    for C in (2, 3):
        y = np.arange(90) % C
        X = np.column_stack([noisy(rng, y, 0.5), y + 10, noisy(rng, y, 0.5)])
        kept, lines = run(store(y), X)
        assert kept == [1]
        assert {line[4:] for line in lines if line.reason == "redundant"} == {(0.0, 1.0)}


def test_without_sets_every_relevant_column_stays():
    rng = np.random.default_rng(8)
    y = np.arange(200) % 2
    X = np.column_stack([noisy(rng, y, 0.8)] * 50)
    assert run(store(y, most=0), X)[0] == list(range(50))


def test_memory_is_a_bit_a_row_until_a_column_has_more_than_two_levels():
    rng = np.random.default_rng(9)
    y = np.arange(6400) % 2
    kept = store(y)
    run(kept, np.column_stack([noisy(rng, y, 0.2)]))
    assert kept.rule.state()["bits"].nbytes == 6400 / 8
    levels = noisy(rng, y, 0.3) * 2 + rng.integers(0, 2, 6400)
    run(kept, np.column_stack([levels]))
    assert kept.rule.state()["numbers"].nbytes == len(kept.features) * 6400 * 2


@pytest.mark.parametrize("cls", [OSFS, FastOSFS])
@pytest.mark.parametrize(("alpha", "selected"), [(0.01, [14, 22]), (0.05, [13, 14, 22])])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_spect_is_selected_as_by_the_authors_toolbox(cls, alpha, selected, form):
    X, y = load_real("spect")
    for degrees in ("nominal", "strata"):
        sieve = cls(alpha=alpha, test="g2", degrees=degrees, p_value="chi2").fit(form(X), y)
        assert (sieve.selected_ + 1).tolist() == selected


#: Number of columns that Fast-OSFS keeps of dorothea's training part; by "chi2" those of the prototypes.
#: Most columns are rare, and there Fisher's test is more cautious than the limit.
DOROTHEA = {("chi2", 0.01): 10, ("chi2", 0.05): 20, ("moments", 0.01): 11, ("moments", 0.05): 16}


@pytest.mark.parametrize(("way", "alpha"), DOROTHEA)
def test_dorothea_keeps_a_handful_of_a_hundred_thousand(way, alpha):
    X, y = load_real("dorothea", "train")
    sieve = FastOSFS(alpha=alpha, test="g2", ledger="kept", p_value=way).fit(sp.csc_array(X), y)
    assert len(sieve.selected_) == DOROTHEA[way, alpha]
    assert sieve.selected_[0] == 411


def test_the_ledger_says_where_the_rule_for_few_rows_struck():
    rng = np.random.default_rng(10)
    X = rng.integers(0, 6, (60, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] > 5).astype(int)
    sieve = FastOSFS(alpha=0.2, test="g2", unreliable="independent").fit(X, y)
    unreliable = [d for d in sieve.ledger_ if d.reason is Reason.UNRELIABLE]
    assert unreliable
    assert all(d.by and d.p_value == 1.0 for d in unreliable)


def kept_state(kinds):
    rng = np.random.default_rng(11)
    while True:
        y, X = stream(rng, 200, 3, kinds)
        kept = store(y)
        run(kept, X)
        if len(kept.features) > 1 and kept.rule._packed == (kinds == (2,)):
            return kept.rule.state()


@pytest.mark.parametrize(
    ("kinds", "name", "place", "value"),
    [((2,), "bits", (0, -1), ~np.uint64(0)), ((3,), "numbers", (0, 5), 40)],
)
def test_categories_that_a_column_cannot_have_are_refused(kinds, name, place, value):
    state = kept_state(kinds)
    state[name][place] = value
    with pytest.raises(StateError, match="do not fit together"):
        MarkovBlanketDiscrete.from_state(state)
