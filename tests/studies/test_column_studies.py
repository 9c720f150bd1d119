"""The studies of column streams run at a tiny size, and what they measure is what it should be."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import beta

from studies.__main__ import main
from studies._columns import cells, classifiers, toolbox
from studies._columns.published import figures, printed
from studies._columns.splits import ColumnData, Split
from studies.arrival import DRAWN, LOOKS, _figure, _when
from studies.markov_blankets._networks import NAMES as NETWORKS
from studies.markov_blankets._networks import blanket
from studies.markov_blankets.truth import compared
from studies.osfs._runs import CASES as OF_OSFS
from studies.saola._runs import CASES as OF_SAOLA
from studies.saola._runs import PAPERS
from tests.real_data import load_real
from tests.reference import su
from tests.studies.test_studies import check_page

STUDIES = ("saola", "osfs", "order", "arrival", "markov_blankets")
CODES = {"hiva_train", "dorothea"}
SPARSE = {"dexter", "dorothea", "rcv1_vw_slice"}
SPLIT = {"madelon", "arcene", "dexter", "dorothea", "rcv1_vw_slice"}
FILES = SPLIT | {
    "hiva_train", "leukemia_golub_raw", "colon_raw", "prostate_spls6033", "colon_disc", "leukemia_disc",
    "wdbc", "ionosphere", "spectf", "spambase",
}  # fmt: skip


@pytest.fixture
def tiny_data(tmp_path, monkeypatch):
    """Small files with the names and kinds of the real ones."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    n, p = 60, 24
    for name in FILES:
        y = rng.permutation(np.arange(n) % 2).astype(np.int8)
        most = 2 if name in CODES else 6
        X = rng.integers(0, most, (n, p)) * (rng.random((n, p)) < 0.7)
        X[:, 3], X[:, 7] = y, np.where(rng.random(n) < 0.8, y, 1 - y)
        pieces = {"X": X.astype(np.uint16)}
        if name in SPARSE:
            csr = sp.csr_array(X)
            shape = np.array(X.shape)
            pieces = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": shape}
        if name in SPLIT:
            pieces |= {"train_idx": np.arange(40), "test_idx": np.arange(40, n)}
        np.savez(folder / f"{name}.npz", y=y, **pieces)
    networks = {}
    for name in NETWORKS:
        graph = np.zeros((6, 6), np.uint8)
        graph[[0, 1, 3], [1, 2, 2]] = 1
        networks[f"{name}_graph"] = graph
        networks[f"{name}_X"] = rng.integers(0, 3, (3, 80, 6)).astype(np.uint8)
    np.savez(folder / "bayesnet_s500.npz", **networks)
    monkeypatch.setenv("STREAMSIEVE_DATA", str(folder))
    return folder


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_runs_and_goes_on_where_it_stopped(study, tiny_data, tmp_path, monkeypatch, capsys):
    assert main([study, "--quick", "--out", str(tmp_path)]) == 0
    page = tmp_path / f"{study.upper()}.md"
    text = check_page(page)
    assert "Not done" not in text
    assert f"python -m studies {study}" in text
    assert all(method in text for method in ("ADDIS", "TopK"))
    capsys.readouterr()
    monkeypatch.delenv("STREAMSIEVE_DATA")  # with everything stored, the data is not needed any more
    assert main([study, "--quick", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{study}: wrote {page}"]
    assert check_page(page) == text


def test_a_missing_set_is_skipped_aloud(tiny_data, tmp_path):
    (tiny_data / "dorothea.npz").unlink()
    main(["osfs", "--quick", "--out", str(tmp_path)])
    text = check_page(tmp_path / "OSFS.md")
    assert "## Not done" in text
    assert "dorothea.npz is not there" in " ".join(text.split())


def test_splits_part_the_rows(tiny_data):
    data = ColumnData("colon_raw")
    X, y = data.matrices
    for split, tested in (
        (data.random(1 / 3, 0), 20),
        (data.few(5, 1), 10),
        (ColumnData("arcene").published(), 20),
    ):
        assert len(split.test_y) == tested
        assert len(split.y) == len(y) - tested
    tested = np.concatenate([split.test_X for split in data.folds(10, 0)])
    assert sorted(map(tuple, tested)) == sorted(map(tuple, X))
    again = data.random(1 / 3, 0)
    np.testing.assert_array_equal(again.test_X, data.random(1 / 3, 0).test_X)
    assert (again.test_X != data.random(1 / 3, 1).test_X).any()


def test_nearest_neighbours_by_hand():
    split = Split(
        np.array([[0.0], [0.0], [4.0], [9.0]]), np.array([0, 1, 1, 0]), np.array([[1.0], [5.0], [6.5]]),
        np.array([1, 1, 1]),
    )  # fmt: skip
    # the first row is as near to both classes, the second to one, the third lies in the middle of both
    assert classifiers.nearest(split, [0]) == (2 / 3, 1 / 3, 1.0)
    assert classifiers.nearest(split, []) == (0.0, 0.0, 0.0)  # the first of equal classes, which is wrong
    sparse = Split(sp.csc_array(split.X), split.y, sp.csc_array(split.test_X), split.test_y)
    found = [classifiers.nearest(*case) for case in ((sparse, [0]), (split, [0]), (sparse, None))]
    assert found[0] == found[1] == found[2]


def test_the_tree_is_cut_back_to_what_the_data_supports():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(120, int), np.ones(80, int)]
    noise = rng.normal(size=(200, 3))
    split = Split(noise, y, noise, y)
    assert classifiers.tree(split, [0, 1, 2]) == pytest.approx(0.6, abs=0.02)  # one leaf, or nearly
    clear = np.c_[noise, y + 0.1 * rng.normal(size=200)]
    assert classifiers.tree(Split(clear, y, clear, y), [0, 3]) == 1.0
    assert classifiers.tree(split, []) == 0.6


def test_pessimistic_errors_are_those_of_c45():
    n = np.array([1.0, 6.0, 9.0, 16.0, 100.0])
    errors = np.array([0.0, 0.0, 0.0, 1.0, 10.0])
    found = (errors + classifiers._extra_errors(n, errors)) / n
    np.testing.assert_allclose(found[:3], [0.75, 0.206, 0.143], atol=5e-4)  # printed in Quinlan's book
    exact = beta.ppf(0.75, errors + 1, n - errors)
    np.testing.assert_allclose(found, exact, atol=0.01)  # C4.5 takes a normal limit for one error and more


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("other", [-1.0, 0.0])
def test_alpha_investing_with_a_forced_column_equals_a_plain_loop(seed, other):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 40)
    X = rng.normal(size=(40, 30)) + rng.random(30) * y[:, None]
    X[:, 5] = 2 * X[:, 4]
    target = np.where(y == y.max(), 1.0, other)
    wealth, model = 0.5, [0]
    for j in range(1, 30):
        level = wealth / (2 * (j + 1))
        wealth -= level
        before, after = (rss(X[:, chosen], target) for chosen in (model, [*model, j]))
        if before - after > 1e-9 and math.exp(-(before - after) / (2 * before / 40)) < level:
            wealth += 0.5
            model.append(j)
    toolbox_model = toolbox.forced_alpha_investing(X, y, other)
    assert toolbox_model.tolist() == model
    assert toolbox.forced_alpha_investing(sp.csc_array(X), y, other).tolist() == model


def rss(X, y):
    return float(np.sum((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2))


def test_an_empty_first_column_stops_everything():
    y = np.arange(20) % 2
    assert toolbox.forced_alpha_investing(np.c_[np.zeros(20), y], y).tolist() == [0]


def test_uncertainty_is_that_of_the_slow_twin():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 8)).astype(float)
    y = X[:, 0]
    n, both, ones = 50, X.T @ y, X.sum(axis=0)
    found = toolbox.uncertainty(both, ones, y.sum(), n)
    for j in range(8):
        table = [[np.sum((X[:, j] == a) & (y == b)) for a in (0, 1)] for b in (0, 1)]
        assert found[j] == pytest.approx(su.score_of(np.array(table, float).tolist(), n), abs=1e-12)


def test_printed_sizes_come_out():
    X, y = load_real("madelon", "train")
    assert (toolbox.forced_alpha_investing(X, y) + 1).tolist() == [1, 49, 65, 242]
    X, y = load_real("hiva_train")
    size = printed("saola", "IV", "hiva", "Alpha-investing", "n_selected")
    assert len(toolbox.forced_alpha_investing(X, y, 0.0)) == size
    size = printed("saola", "XIII", "hiva", "SAOLA-max", "n_selected")
    assert len(toolbox.saola_max_without_evictions(X, y)) == size


def test_every_printed_figure_is_there():
    for name in OF_SAOLA:
        for method in PAPERS:
            assert 0 < printed("saola", "III", name, method, "accuracy", "nearest") <= 1
            assert 0 < printed("saola", "II", name, method, "accuracy", "tree") <= 1
            assert printed("saola", "IV", name, method, "n_selected") >= 1
            assert printed("saola", "V", name, method, "time_s") > 0
    for name in OF_OSFS:
        for method in ("OSFS", "Fast-OSFS"):
            assert printed("osfs", "3", name, method, "time_s", "0.01") >= 0
            assert printed("osfs", "4", name, method, "time_s", "0.05") >= 0
    assert printed("saola", "XIII", "dorothea", "SAOLA-max", "n_selected") == 516
    assert sum(key[1] == "XIV" for key in figures()) == 24


def test_cells_say_whether_a_difference_is_within_the_noise():
    near = cells.Cell(("II", "a", "m"), 0.75, 0.76, cells.of_share(0.75, 300))
    far = cells.Cell(("II", "b", "m"), 0.75, 0.85, cells.of_share(0.75, 300))
    size = cells.Cell(("IV", "a", "m"), 21, 21.0, 0.0, 1)
    assert cells.of_share(0.75, 300) == pytest.approx(0.05)
    assert [near.text, far.text, size.text] == ["0.7500 / 0.7600", "0.7500 / 0.8500*", "21 / 21"]
    assert cells.apart([near, size], {}) == "None.\n"
    assert cells.apart([near, far], {}).endswith("0.7500, ours 0.8500. Not explained.\n")
    text = cells.agreement([near, far, size])
    assert "3 figures, 1 equal to the last digit printed, 1 more within" in text
    assert ", 1 apart" in text
    assert [cells.seconds(t) for t in (0.0004, 0.25, 1.26, 58)] == ["0.4 ms", "250 ms", "1.3 s", "58 s"]


def test_a_blanket_is_parents_children_and_their_other_parents():
    graph = np.zeros((7, 7), bool)
    for parent, child in ((0, 1), (1, 2), (3, 2), (2, 4), (5, 0)):
        graph[parent, child] = True
    assert np.flatnonzero(blanket(graph, 1)).tolist() == [0, 2, 3]
    assert np.flatnonzero(blanket(graph, 6)).tolist() == []
    found = compared(np.array([0, 4]), blanket(graph, 1))
    assert found == {"precision": 0.5, "recall": pytest.approx(1 / 3), "f1": pytest.approx(0.4), "size": 2.0}
    assert compared(np.zeros(0, int), blanket(graph, 1))["f1"] == 0


def test_when_an_accuracy_stays():
    assert _when([0.5, 0.8, 0.7, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.9], 0.8) == "40 %"
    assert _when([0.9] * 10, 0.8) == "10 %"
    assert _when([0.9] * 9 + [0.7], 0.8) == "-"


def test_the_line_of_all_columns_is_explained():
    found = {"colon": {"all": 0.7, "accuracy": {name: [0.6] * LOOKS for name in DRAWN}}}
    labels = [text.get_text() for text in _figure(found).legends[0].get_texts()]
    assert "all columns" in labels
    assert len(labels) == len(DRAWN) + 1
