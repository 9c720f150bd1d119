"""Group-SAOLA decides as its slow twin does, whatever the blocks, and keeps its laws."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.columns.group_saola import GroupSAOLA
from streamsieve.exceptions import SchemaError
from tests.columns.streams import (
    columns,
    equal_twin,
    kept_by_group,
    lines,
    offered,
    orthogonal,
    reloaded,
    slices,
)
from tests.helpers.tier import cases
from tests.real_data import load_real
from tests.reference.group_saola import group_saola
from tests.reference.saola import saola

MEASURES = ("fisher_z", "su", "mutual_info")
VARIANTS = ("corrected", "paper")


def test_who_has_fallen_drives_others_out_in_the_papers_variant_only():
    """The last column falls to the first, which is better, and would drive out the second, which is worse."""
    e = orthogonal(np.random.default_rng(2), 60, 4)
    last = e[:, 0]
    first = 0.9 * last + np.sqrt(1 - 0.9**2) * e[:, 1]
    second = 0.5 * last + np.sqrt(1 - 0.5**2) * e[:, 2]
    y = e @ [0.5, 0.4, 0.26, 0.7]
    X = np.column_stack([first, second, last])
    for variant, selected in (("corrected", [0, 1]), ("paper", [0])):
        *twin, _ = group_saola(X, y, "regression", [1, 2, 3], variant=variant)
        assert twin[0] == selected
        equal_twin(GroupSAOLA(variant=variant).fit(X, y), twin, what=variant)


def test_of_two_equals_the_newcomer_goes_inside_and_the_older_one_between_groups():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    x = np.where(rng.random(60) < 0.2, 1 - y, y).astype(float)
    for measure in MEASURES:
        assert GroupSAOLA(measure=measure, group_size=2).fit(np.c_[x, x], y).selected_.tolist() == [0]
        assert GroupSAOLA(measure=measure, group_size=1).fit(np.c_[x, x], y).selected_.tolist() == [1]


def test_more_columns_than_slots():
    """Orthogonal columns are all kept, so that tables double."""
    rng = np.random.default_rng(4)
    Q = orthogonal(rng, 100, 70)
    y = Q.sum(axis=1) + 0.01
    X = np.column_stack([Q[:, :60], Q[:, :10].sum(axis=1), Q[:, 60:], Q[:, :5]])
    for size in (7, 40):
        *twin, _ = group_saola(X, y, "regression", slices(X.shape[1], size), alpha=0.9)
        assert len(twin[0]) > 50
        equal_twin(offered(GroupSAOLA(alpha=0.9, group_size=size).begin(y), X, rng), twin, what=size)


@pytest.mark.parametrize("measure", MEASURES)
def test_dense_pieces_change_nothing(measure, monkeypatch):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 40)
    X = columns(rng, y, 60, far=False)
    sieve = GroupSAOLA(measure=measure, alpha=0.3, group_size=8)
    whole = lines(sieve.fit(X, y))
    for values in (1, 40 * 3, 40 * 7):
        for module in ("dependence.blocks", "columns.groups.pairwise"):
            monkeypatch.setattr(f"streamsieve.{module}.DENSE_VALUES", values)
        assert lines(sieve.fit(X, y)) == whole
        assert lines(sieve.fit(sp.csc_array(X), y)) == whole


def test_one_group_of_everything_is_saola():
    rng = np.random.default_rng(5)
    for _ in range(40):
        y = rng.integers(0, 2, 40)
        X = columns(rng, y, 20, far=False)
        selected = GroupSAOLA(alpha=0.3, group_size=20, p_value="t").fit(X, y).selected_.tolist()
        assert selected == saola(X, y, "binary", alpha=0.3)[0]


@pytest.mark.parametrize("measure", MEASURES)
def test_no_selected_column_dominates_one_of_another_group(measure):
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(cases(20)):
        y = rng.integers(0, 2, 40)
        X = columns(rng, y, 25, far=False)
        sieve = GroupSAOLA(alpha=0.3, measure=measure, group_size=4).fit(X, y)
        chosen = sieve.selected_
        assert len(chosen) > 0
        alone = GroupSAOLA(alpha=0.3, measure=measure, group_size=4).begin(y)
        for group in sieve.groups_.values():  # offered again, alone, nothing falls
            alone.offer_group(X[:, group])
            compared += 1
        assert len(alone.selected_) == len(chosen)
    assert compared > cases(40)


@pytest.mark.parametrize("ledger", ["kept", "none"])
def test_names_of_what_is_gone_are_forgotten_but_decisions_know_them(ledger):
    rng = np.random.default_rng(10)
    for _ in range(30):
        y = rng.integers(0, 2, 40)
        X = columns(rng, y, 30, far=False)
        names = [f"f{j}" for j in range(30)]
        sieve, full = (
            GroupSAOLA(alpha=0.5, ledger=variant, group_size=4).begin(y) for variant in (ledger, "all")
        )
        for low in range(0, 30, 10):
            part = slice(low, low + 10)
            mine, theirs = (s.offer(X[:, part], names=names[part]) for s in (sieve, full))
            assert [(d.feature, d.by) for d in mine] == [(d.feature, d.by) for d in theirs]
            assert sieve.get_feature_names_out().tolist() == full.get_feature_names_out().tolist()
        assert len(sieve.names_.known) <= len(sieve.selected_) + 4


def test_a_stop_closes_the_open_group_and_whole_groups_stop_too():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 80)
    X = y[:, None] + 2 * rng.normal(size=(80, 20))
    stop = ss.Stop(max_offers=8)
    expected = lines(GroupSAOLA(alpha=0.3, group_size=5).fit(X[:, :8], y))
    sized = GroupSAOLA(alpha=0.3, group_size=5, stop=stop).fit(X, y)
    labelled = GroupSAOLA(alpha=0.3, stop=stop).fit(X, y, groups=np.arange(20) // 5)
    for sieve in (sized, labelled):
        assert sieve.stopped_ == "max_offers=8"
        assert sieve.n_open_ == 0
        assert lines(sieve)[: len(expected)] == expected
        assert {d.reason for d in list(sieve.ledger_)[len(expected) :]} == {"stopped"}
        assert len(sieve.ledger_) == len(expected) + 12
    most = GroupSAOLA(alpha=0.3, group_size=5, stop=ss.Stop(max_features=2)).fit(X, y)
    assert len(most.selected_) == 2


def test_a_failing_callback_leaves_what_was_decided_on_record():
    rng = np.random.default_rng(12)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 20))
    X[:, 8] += y
    X[:, 14] -= y

    def broken(_):
        raise RuntimeError("no accuracy today")

    names = [f"f{j}" for j in range(20)]
    sieve = GroupSAOLA(group_size=5, stop=ss.Stop(target=0.9, callback=broken)).begin(y)
    sieve.offer(X[:, :3], names=names[:3])
    with pytest.raises(RuntimeError, match="no accuracy today"):
        sieve.offer(X[:, 3:], names=names[3:])
    seen = sieve.n_features_in_
    sieve.set_params(stop=None)
    sieve.offer(X[:, seen:], names=names[seen:])
    expected = GroupSAOLA(group_size=5).begin(y)
    expected.offer(X, names=names)
    assert [d[:4] for d in sieve.ledger_] == [d[:4] for d in expected.ledger_]


def toy(n=100, p=12):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, p)) + y[:, None] * (np.arange(p) % 3 == 0), y


def test_groups_that_overlap_are_refused_and_nothing_changes():
    X, y = toy()
    sieve = GroupSAOLA().begin(y)
    sieve.offer_group(X[:, :3], names=["a", "b", "c"], group="first")
    before = lines_by_name(sieve)
    with pytest.raises(SchemaError, match="the group 'first' is complete already"):
        sieve.offer_group(X[:, 3:5], names=["d", "e"], group="first")
    with pytest.raises(SchemaError, match="'b' occurs twice"):
        sieve.offer_group(X[:, 3:5], names=["d", "b"], group="second")
    with pytest.raises(SchemaError, match="some groups have a label and some have none"):
        sieve.offer_group(X[:, 3:5], names=["d", "e"])
    with pytest.raises(SchemaError, match="some groups have a label and some have none"):
        sieve.offer(X[:, 3:5], names=["d", "e"])
    with pytest.raises(SchemaError, match="text or a whole number; got"):
        sieve.offer_group(X[:, 3:5], names=["d", "e"], group=1.5)
    with pytest.raises(ValueError, match="NaN"):
        sieve.offer_group(X[:, 3:5] * np.nan, names=["d", "e"], group="second")
    assert lines_by_name(sieve) == before
    assert sieve.n_features_in_ == 3
    sieve.offer_group(X[:, 3:5], names=["d", "e"], group="second")  # neither names nor label were taken
    assert sieve.n_features_in_ == 5
    with pytest.raises(SchemaError, match=r"columns of the group 0 are not side by side: .* column 7;"):
        GroupSAOLA().fit(X, y, groups=[0] * 3 + [1] * 3 + [0] + [2] * 5)


def lines_by_name(sieve):
    return [(d.feature, d.event, d.reason, d.by) for d in sieve.ledger_]


def test_a_refused_label_is_remembered_over_a_week():
    X, y = toy()
    sieve = GroupSAOLA().begin(y)
    sieve.offer_group(X[:, :3], group=7)
    sieve.offer_group(X[:, 3:6], group="text")
    again = reloaded(sieve)
    assert kept_by_group(again) == kept_by_group(sieve)
    for label in (7, "text", np.int64(7)):
        with pytest.raises(SchemaError, match="is complete already"):
            again.offer_group(X[:, 6:], group=label)
    again.offer_group(X[:, 6:], group=8)


@pytest.mark.parametrize("groups", [[0] * 11, [0] * 13, [], 3, [None] * 12, [0.5] * 12])
def test_labels_that_do_not_fit_the_columns_are_refused(groups):
    X, y = toy()
    sieve = GroupSAOLA(group_size=4).fit(X, y)
    before = lines(sieve)
    with pytest.raises(SchemaError, match="group"):
        sieve.fit(X, y, groups=groups)
    assert lines(sieve) == before


def test_a_whole_group_ends_the_open_one():
    X, y = toy()
    sieve = GroupSAOLA(alpha=0.3, group_size=5, p_value="t").begin(y)
    sieve.offer(X[:, :2])
    decided = sieve.offer_group(X[:, 2:4])
    assert [d.feature for d in decided if d.event != "evicted"] == ["x0", "x1", "x2", "x3"]
    assert sieve.n_open_ == 0
    sieve.offer(X[:, 4:])
    assert sieve.n_open_ == 3
    *twin, groups = group_saola(X, y, "binary", [2, 4, 9, 12], alpha=0.3)
    equal_twin(sieve, twin, what="mixed")
    assert kept_by_group(sieve) == groups


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_wdbc_in_six_groups_of_five_is_what_the_toolbox_selects(alpha, variant):
    X, y = load_real("wdbc")
    for form in (np.ascontiguousarray, np.asfortranarray, sp.csc_array):
        for sieve in (
            GroupSAOLA(alpha=alpha, variant=variant, group_size=5).fit(form(X), y),
            GroupSAOLA(alpha=alpha, variant=variant).fit(form(X), y, groups=np.arange(30) // 5),
        ):
            assert (sieve.selected_ + 1).tolist() == [22, 28]
            assert sieve.n_groups_ == 2


def test_leukemia_in_groups_of_ten_equals_the_twin_on_its_relevant_columns():
    """Irrelevant columns leave no trace, so the slow twin looks at the others only, in the same groups."""
    X, y = load_real("leukemia_golub_raw")
    sieve = GroupSAOLA(alpha=1e-6, group_size=10).fit(X, y)
    relevant = np.flatnonzero([d.reason not in {"irrelevant", "constant"} for d in sieve.ledger_
                               if d.event != "evicted"])  # fmt: skip
    ends = np.searchsorted(relevant, np.unique(relevant // 10) * 10 + 10).tolist()
    selected, _, groups = group_saola(X[:, relevant], y, "binary", ends, alpha=1e-6)
    assert sieve.selected_.tolist() == relevant[selected].tolist()
    assert sieve.n_groups_ == len(groups) > 5
