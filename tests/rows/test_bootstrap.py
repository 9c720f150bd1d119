"""Bootstrap equals its slow twin, merges exactly, is saved whole, and keeps planted features."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from streamsieve import criteria, registry, state
from streamsieve.exceptions import CapabilityError, InputError, MergeError, ParameterError, StateError
from streamsieve.protocols import RowBatch
from streamsieve.rows import Screen
from streamsieve.rows.bootstrap import Bootstrap
from streamsieve.rows.fsds import FSDS
from tests.helpers.tier import cases
from tests.reference import bootstrap as twin
from tests.rows.toys import table, table_for


def planted(n=300, p=20, seed=0, effect=0.8):
    """Columns 0 and 1 follow the label, the others are noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, :2] += effect * y[:, None]
    return X, y


def selections(bootstrap):
    return np.array([replica.get_support() for replica in bootstrap._members_[1:]])


# ------------------------------------------------------------------------------------ the slow twin


@pytest.mark.parametrize("criterion", ["f", "fisher", "correlation", "t"])
def test_equals_the_slow_twin_on_random_rows(criterion):
    rng = np.random.default_rng(1)
    for seed in range(cases(40)):
        n, p = int(rng.integers(30, 60)), int(rng.integers(2, 9))
        X, y = table_for(criterion, n=n, p=p, seed=seed)
        X += rng.normal(size=X.shape) * 1e-3  # no equal columns: rounding decides between equals
        k, replicas, first = int(rng.integers(1, p + 1)), int(rng.integers(2, 8)), int(rng.integers(0, 2**40))
        threshold = float(rng.choice([0.3, 0.5, 0.6, 1.0]))
        bootstrap = Bootstrap(
            Screen(criterion, k=k),
            replicas=replicas,
            min_frequency=threshold,
            random_state=seed,
            first_row=first,
        ).fit(X, y)
        options = {"replicas": replicas, "seed": seed, "first_row": first, "k": k}
        expected = twin.frequencies(criterion, X, y, **options)
        assert np.array_equal(bootstrap.scores_, expected)
        assert np.array_equal(bootstrap.get_support(), expected >= threshold)
        if k < p:
            assert bootstrap.stability_ == pytest.approx(twin.stability(selections(bootstrap)))
        if threshold > 0.5:
            bound = twin.expected_false(selections(bootstrap), threshold)
            assert bootstrap.expected_false_ == pytest.approx(bound)


@pytest.mark.parametrize("criterion", ["f", "mutual_info", "correlation", "gini"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_replica_is_the_selector_with_the_draws_for_weights(criterion, form):
    X, y = table_for(criterion, n=90)
    bootstrap = Bootstrap(Screen(criterion, k=3), replicas=6, random_state=9).fit(form(X), y)
    for replica, member in enumerate(bootstrap._members_[1:]):
        weights = [twin.weight(9, row, replica) for row in range(len(X))]
        alone = Screen(criterion, k=3).fit(form(X), y, sample_weight=weights)
        assert np.array_equal(member.scores_, alone.scores_)
    assert np.array_equal(bootstrap.selector_.scores_, Screen(criterion, k=3).fit(form(X), y).scores_)


# ------------------------------------------------------------------------------------ choosing


def test_planted_features_are_frequent_and_noise_is_not():
    X, y = planted()
    bootstrap = Bootstrap(Screen("f", k=5)).fit(X, y)
    assert bootstrap.get_support().nonzero()[0].tolist()[:2] == [0, 1]
    assert np.array_equal(bootstrap.scores_[:2], [1.0, 1.0])
    assert bootstrap.scores_.sum() == pytest.approx(5)  # every replica selects five
    assert bootstrap.scores_[2:].mean() == pytest.approx(3 / 18)
    assert bootstrap.stability_ > 0.3
    assert {d.feature for d in bootstrap.ledger_.kept()} >= {"x0", "x1"}


def test_the_bound_on_false_features_holds_in_the_mean():
    false, bounds = [], []
    for seed in range(30):
        X, y = planted(n=100, p=30, seed=seed)
        bootstrap = Bootstrap(Screen("f", k=4), min_frequency=0.75).fit(X, y)
        false.append(bootstrap.get_support()[2:].sum())
        bounds.append(bootstrap.expected_false_)
    assert np.mean(bounds) == pytest.approx(16 / (0.5 * 30))
    assert 0 < np.mean(false) <= np.mean(bounds)


def test_k_keeps_the_most_frequent_and_then_the_best():
    X, y = planted(effect=3.0)
    X[:, 1] += y  # both are always selected, the second scores better
    assert Bootstrap(Screen("f", k=5), k=1).fit(X, y).ranked_.tolist() == [1]
    both = Bootstrap(Screen("f", k=5), k=2).fit(X, y)
    assert both.ranked_.tolist() == [1, 0]
    # k is the most there may be, the threshold still holds
    assert Bootstrap(Screen("f", k=5), k=15, min_frequency=1.0).fit(X, y).ranked_.tolist() == [1, 0]


def test_stability_is_one_for_equal_and_about_zero_for_random_selections():
    X, y = planted(effect=5.0)
    assert Bootstrap(Screen("f", k=2)).fit(X, y).stability_ == 1.0
    assert Bootstrap(Screen("f", k=20)).fit(X, y).stability_ == 1.0  # all by all
    assert Bootstrap(Screen("f", alpha=1e-200)).fit(X, y).stability_ == 1.0  # none by all
    rng = np.random.default_rng(2)
    noise = Bootstrap(Screen("f", k=3), replicas=200)
    noise.fit(rng.normal(size=(40, 30)), rng.integers(0, 2, 40))
    for replica in noise._members_[1:]:
        replica._cache_["selection"] = np.flatnonzero(rng.permutation(30) < 3)
    noise._cache_.clear()
    assert abs(noise.stability_) < 0.02


def test_without_a_majority_there_is_no_bound():
    X, y = planted()
    assert Bootstrap(min_frequency=0.5, replicas=2).fit(X, y).expected_false_ == np.inf


def test_other_seeds_draw_other_weights():
    X, y = planted()
    a, b, c = (
        Bootstrap(Screen("f", k=5), random_state=seed).fit(X, y).scores_.tolist() for seed in (0, 1, 1)
    )
    assert a != b == c


# ------------------------------------------------------------------------------------ streams


def test_gathered_rows_and_dict_rows_draw_the_same_weights():
    X, y = planted(n=200, p=6)
    whole = Bootstrap(Screen("f", k=2)).fit(X, y)
    one_by_one, by_dict = Bootstrap(Screen("f", k=2)), Bootstrap(Screen("f", k=2))
    for row, label in zip(X, y, strict=True):
        one_by_one.partial_fit(row[None, :], np.array([label]))
        by_dict.learn_one({f"x{j}": v for j, v in enumerate(row)}, int(label))
    for other in (one_by_one, by_dict):
        assert np.array_equal(other.scores_, whole.scores_)
        assert other.selector_.n_samples_seen_ == 200
        np.testing.assert_allclose(other.selector_.scores_, whole.selector_.scores_, rtol=1e-9)


def test_late_features_and_hashed_ones():
    X, y = planted(n=120, p=6, effect=3.0)
    for hashed in (None, 64):
        bootstrap = Bootstrap(Screen("f", k=2, hashed=hashed), replicas=4)
        for i, (row, label) in enumerate(zip(X, y, strict=True)):
            bootstrap.learn_one({f"x{j}": v for j, v in enumerate(row) if i > 5 * j}, int(label))
        assert set(bootstrap.get_feature_names_out()) == {"x0", "x1"}
        assert bootstrap.selector_.get_feature_names_out().tolist() == ["x0", "x1"] or hashed
        assert bootstrap.n_features_in_ == (hashed or 6)


def test_a_selector_learns_missing_values_and_text_as_it_does_alone():
    X, y = planted(n=100, p=5, effect=3.0)
    X[::7, 2] = np.nan
    assert Bootstrap(Screen("f", k=2)).fit(X, y).get_support().nonzero()[0].tolist() == [0, 1]
    words = pd.DataFrame(
        {"same": np.where(y == 1, "a", "b"), "noise": np.where(np.arange(100) % 2, "a", "b")}
    )
    screen = Screen(criteria.MutualInfo(discrete=True), k=1)
    assert Bootstrap(screen, replicas=4).fit(words, y).get_feature_names_out().tolist() == ["same"]


def test_a_selector_given_as_parameter_is_never_fitted():
    X, y = planted()
    screen = Screen("f", k=3)
    bootstrap = Bootstrap(screen, replicas=3).fit(X, y)
    assert not hasattr(screen, "n_features_in_")
    assert bootstrap.set_params(selector__k=1).fit(X, y).scores_.sum() == pytest.approx(1)
    assert clone(bootstrap).selector is not screen


@pytest.mark.parametrize("bad", [np.inf, 1e200])
def test_a_refused_batch_changes_no_replica(bad):
    X, y = planted(n=50, p=4)
    worse = X.copy()
    for row in range(5):  # some replica draws the first bad row 0 times
        worse[row, 3] = bad
        bootstrap, expected = (Bootstrap(Screen("f", k=2)).fit(X, y) for _ in range(2))
        with pytest.raises(InputError, match="feature 'x3' holds"):
            bootstrap.partial_fit(worse, y)
        with pytest.raises(InputError, match="labels so far were like"):
            bootstrap.partial_fit(X, y.astype(str))
        bootstrap.partial_fit(X, y)
        expected.partial_fit(X, y)
        assert same(bootstrap, expected)


def test_a_refused_dict_row_changes_no_replica():
    bootstrap, expected = Bootstrap(replicas=4), Bootstrap(replicas=4)
    for each in (bootstrap, expected):
        for i in range(20):
            each.learn_one({"a": i % 3, "b": float(i)}, i % 2)
    with pytest.raises(InputError, match="feature 'c' holds inf"):
        bootstrap.learn_one({"a": 1.0, "c": np.inf}, 1)
    assert bootstrap.n_features_in_ == 2
    expected._flush_buffer()  # rows that were kept are learnt before a row that is refused
    for each in (bootstrap, expected):
        each.learn_one({"a": 1.0, "d": 2.0}, 1)
    assert same(bootstrap, expected)


def same(a, b):
    """Whether two are equal to the last bit, replicas included."""
    mine, theirs = (
        (plain, {name: array.tobytes() for name, array in arrays.items()})
        for plain, arrays in (each._saved() for each in (a, b))
    )
    return mine == theirs


# ------------------------------------------------------------------------------------ merging


def part(X, y, low, high, **options):
    return Bootstrap(Screen("f", k=3), replicas=7, first_row=low, **options).fit(X[low:high], y[low:high])


def test_numbered_parts_merge_to_the_whole():
    X, y = planted(n=120)
    whole = part(X, y, 0, 120)
    cuts = [0, 1, 3, 40, 41, 100, 120]
    parts = [part(X, y, low, high) for low, high in pairwise(cuts)]
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 1, 4, 3]):
        merged = Bootstrap.from_bytes(parts[order[0]].to_bytes())
        for i in order[1:]:
            merged.merge(parts[i])
        assert np.array_equal(merged.scores_, whole.scores_)
        np.testing.assert_allclose(merged.selector_.scores_, whole.selector_.scores_, rtol=1e-9)
        # later rows have draws of their own
        assert merged._next_row_ == whole._next_row_ == 120
        again = Bootstrap.from_bytes(whole.to_bytes())
        for each in (merged, again):
            each.partial_fit(X[:30], y[:30])
        assert np.array_equal(merged.scores_, again.scores_)


def test_parts_that_all_begin_at_row_0_merge_too():
    X, y = planted(n=120, effect=2.0)
    halves = [Bootstrap(Screen("f", k=3)).fit(X[rows], y[rows]) for rows in (slice(60), slice(60, 120))]
    merged = halves[0].merge(halves[1])
    assert merged.n_samples_seen_ == 120
    assert merged.get_support()[:2].all()
    np.testing.assert_allclose(merged.selector_.scores_, Screen("f").fit(X, y).scores_, rtol=1e-9)


def test_only_equal_selectors_merge():
    X, y = planted()
    with pytest.raises(MergeError, match=r"selector is Screen\(k=3\) here and Screen\(k=4\) there"):
        Bootstrap(Screen(k=3)).fit(X, y).merge(Bootstrap(Screen(k=4)).fit(X, y))
    with pytest.raises(MergeError, match="random_state is 0 here and 1 there"):
        Bootstrap().fit(X, y).merge(Bootstrap(random_state=1).fit(X, y))
    drifting = Bootstrap(Screen(on_drift="reset"), replicas=2)
    assert not drifting.traits.merges
    with pytest.raises(CapabilityError, match="Bootstrap cannot merge"):
        clone(drifting).fit(X, y).merge(clone(drifting).fit(X, y))


# ------------------------------------------------------------------------------------ saving


@pytest.fixture
def saved(tmp_path):
    """Return a saved bootstrap, and its parts."""
    path = tmp_path / "bootstrap.sieve"
    X, y = table(n=60, p=4)
    screen = Screen(criteria.MutualInfo(bins=4), k=2)
    bootstrap = Bootstrap(screen, replicas=3).fit(pd.DataFrame(X, columns=list("abcd")), y)
    bootstrap.save(path)
    return path, bootstrap


def test_a_selector_within_a_selector_is_saved_by_its_parameters(saved):
    path, bootstrap = saved
    parameters = state.read(path)[0]["parameters"]["selector"]
    assert parameters["$estimator"] == "streamsieve.Screen"
    assert parameters["parameters"]["criterion"]["$object"] == "streamsieve.MutualInfo"
    loaded = Bootstrap.load(path)
    assert repr(loaded) == repr(bootstrap)
    assert isinstance(loaded.selector, Screen)
    assert np.array_equal(loaded.scores_, bootstrap.scores_)
    assert (
        loaded.selector_.get_feature_names_out().tolist()
        == bootstrap.selector_.get_feature_names_out().tolist()
    )
    assert same(loaded, bootstrap)


def test_names_are_saved_once_for_all_replicas(tmp_path):
    bootstrap = Bootstrap(replicas=5)
    for i in range(40):
        bootstrap.learn_one({f"feature {j}": float(i * j % 7) for j in range(i % 9)}, i % 2)
    bootstrap.save(tmp_path / "open.sieve")
    arrays = state.read(tmp_path / "open.sieve")[1]
    assert sum("text" in name and "labels" not in name for name in arrays if "vocabulary" in name) == 1
    loaded = Bootstrap.load(tmp_path / "open.sieve")
    for each in (loaded, bootstrap):
        each.learn_one({"feature 3": 1.0, "late": 2.0}, 1)
    assert same(loaded, bootstrap)
    assert loaded.selector_.n_features_in_ == 9


def selector(**changes):
    return lambda header, arrays: header["parameters"]["selector"].update(changes)


def parameter(**changes):
    return lambda header, arrays: header["parameters"].update(changes)


def without(prefix):
    return lambda header, arrays: [arrays.pop(name) for name in list(arrays) if name.startswith(prefix)]


def array(name, value):
    return lambda header, arrays: arrays.update({name: value})


def nested(header, arrays):
    for _ in range(200):
        header["parameters"]["selector"] = {
            "$estimator": "streamsieve.Bootstrap",
            "parameters": {"selector": header["parameters"]["selector"]},
        }


HOSTILE = {
    "an unknown class": selector(**{"$estimator": "streamsieve.Popen"}),
    "a class that is no selector": selector(**{"$estimator": "streamsieve.Moments"}),
    "an abstract class": selector(**{"$estimator": "streamsieve.RowSelector"}),
    "a list for a class": selector(**{"$estimator": ["streamsieve.Screen"]}),
    "unknown parameters": selector(parameters={"command": "ls"}),
    "no parameters": selector(parameters=None),
    "another selector": selector(**{"$estimator": "streamsieve.FSDS", "parameters": {}}),
    "another criterion": selector(parameters={"criterion": "f"}),
    "bad parameters": selector(parameters={"criterion": "mutual_info", "k": -1}),
    "a part for a selector": parameter(selector={"$part": "TopSet"}),
    "selectors within selectors": nested,
    "text for a selector": parameter(selector="Screen"),
    "more replicas": parameter(replicas=4),
    "fewer replicas": parameter(replicas=2),
    "a row before the first": parameter(first_row=100),
    "no members": lambda header, arrays: [arrays.pop(k) for k in list(arrays) if k.startswith("members_/")],
    "one member less": lambda header, arrays: [
        arrays.pop(k) for k in list(arrays) if k.startswith("members_/3/")
    ],
    "a member of another class": array("members_/1/$kind", np.frombuffer(b"streamsieve.FSDS", np.uint8)),
    "a bootstrap for a member": array("members_/1/$kind", np.frombuffer(b"streamsieve.Bootstrap", np.uint8)),
    "a member of other parameters": lambda header, arrays: arrays.update(
        {"members_/1/$parameters": arrays["members_/0/$parameters"]}
    ),
    "members of another width": lambda header, arrays: arrays.update(
        {f"members_/{i}/n_features_in_": np.array(5) for i in range(4)}
    ),
    "arrays of no member": array("members_/9/summary_/rows", np.zeros(3)),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_states_that_do_not_fit_are_refused(saved, change):
    path, _ = saved
    header, arrays = state.read(path)
    change(header, arrays)
    state.write(path, header, arrays)
    with pytest.raises(StateError):
        Bootstrap.load(path)


def test_an_own_selector_is_saved_and_loaded_within_another(tmp_path):
    @state.register
    class OwnScreen(Screen):
        """A third party's selector."""

    X, y = planted(n=40, p=4)
    Bootstrap(OwnScreen("f", k=1), replicas=2).fit(X, y).save(tmp_path / "own.sieve")
    assert type(Bootstrap.load(tmp_path / "own.sieve").selector) is OwnScreen
    assert "own_screen" not in registry.selectors()


# ------------------------------------------------------------------------------------ refusals


PARAMETERS = [
    ({"selector": "screen"}, ParameterError, r"selector must be a selector over rows.*got 'screen'"),
    ({"selector": Screen}, ParameterError, "selector must be a selector over rows"),
    (
        {"selector": FSDS()},
        CapabilityError,
        r"selector=FSDS\(\) does not support sample weights.*use Screen or RunningAverages",
    ),
    ({"selector": Bootstrap()}, CapabilityError, r"selector=Bootstrap\(\) does not support sample weights"),
    ({"selector": Screen(k=0)}, ParameterError, "k must be a whole number at least 1; got 0"),
    ({"replicas": 1}, ParameterError, "replicas must be a whole number at least 2 and at most 10000; got 1"),
    ({"min_frequency": 0}, ParameterError, "min_frequency must be a number above 0 and at most 1; got 0"),
    ({"min_frequency": 60}, ParameterError, "min_frequency must be a number above 0 and at most 1; got 60"),
    ({"random_state": "one"}, ParameterError, "random_state must be a whole number"),
    ({"random_state": -1}, ParameterError, "random_state must be a whole number"),
    ({"first_row": -1}, ParameterError, "first_row must be a whole number"),
]


@pytest.mark.parametrize(("parameters", "kind", "message"), PARAMETERS, ids=[str(p) for p, *_ in PARAMETERS])
def test_parameters_out_of_range_are_refused(parameters, kind, message):
    X, y = planted(n=20, p=4)
    bootstrap = Bootstrap(**parameters)
    with pytest.raises(kind, match=message):
        bootstrap.fit(X, y)
    assert not hasattr(bootstrap, "n_features_in_")
    assert bootstrap.__sklearn_tags__() is not None


def test_weights_are_refused():
    X, y = planted(n=20, p=4)
    with pytest.raises(CapabilityError, match="Bootstrap does not support sample_weight"):
        Bootstrap().learn(RowBatch(X, y, np.ones(20)))
