"""A learner behind a changing selection: the width never changes, and the ledger has every change."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

import streamsieve as ss
from streamsieve.protocols import Event


def followed(output, wrap=np.asarray):
    """Run screen and learner in one loop; return both, the selections, and the accuracy before each batch."""
    stream = ss.DriftingStream(n_rows=12_000, n_features=60, n_relevant=6, shift_every=500, seed=1)
    screen = ss.Screen("f", k=6, half_life=1_000, output=output)
    learner = SGDClassifier(loss="log_loss", random_state=0)
    widths, hits, selections = set(), [], []
    for batch in stream.rows(400):
        X = wrap(batch.X)
        screen.partial_fit(X, batch.y)
        out = screen.transform(X)
        widths.add(out.shape[1])
        if selections:
            hits.append(learner.score(out, batch.y))
        learner.partial_fit(out, batch.y, classes=[0, 1])
        selections.append(tuple(screen.get_support(indices=True)))
    assert len(set(selections)) > 3, "the selection must change, or nothing is tested"
    return screen, learner, widths, hits, selections


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_zero_never_breaks_the_learner_and_follows_the_drift(wrap):
    _, learner, widths, hits, _ = followed("zero", wrap)
    assert widths == {60}
    assert learner.coef_.shape == (1, 60)
    assert np.mean(hits[-8:]) > 0.75


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_frozen_never_breaks_the_learner_and_the_ledger_says_what_would_have_changed(wrap):
    screen, learner, widths, _, selections = followed("frozen", wrap)
    assert widths == {6}
    assert learner.coef_.shape == (1, 6)
    assert screen.get_feature_names_out().tolist() == [f"x{j}" for j in selections[0]]
    present = set()
    for decision in screen.ledger_:  # replay: after the last line we must stand at the present top set
        if decision.event is Event.KEPT:
            present.add(decision.feature)
        else:
            present.remove(decision.feature)
    assert present == {f"x{j}" for j in selections[-1]}
    assert present != {f"x{j}" for j in selections[0]}


def test_following_beats_staying():
    following, staying = (followed(output)[3][-8:] for output in ("zero", "frozen"))
    assert np.mean(following) > np.mean(staying) + 0.05
