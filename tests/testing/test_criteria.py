"""A criterion that is wrong is refused, and the check names what is wrong."""

from dataclasses import dataclass

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.criteria import Criterion, Needs, WelchT
from streamsieve.exceptions import CapabilityError, TargetError
from streamsieve.protocols import CLASSIFICATION, Task
from streamsieve.state import register
from streamsieve.testing import check_criterion

rng = np.random.default_rng(0)
X, LABELS = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)


class MeanGap(Criterion):
    """Difference of the extreme class means, for two classes by its tasks alone."""

    name = "mean_gap"
    tasks = frozenset({Task.BINARY})
    needs = Needs.MOMENTS

    def score(self, block):
        return np.ptp(block.mean, axis=0) if len(block.mean) else np.zeros(block.mean.shape[1])


@register
@dataclass(frozen=True)
class ByMass(WelchT):
    """Takes the mass for a number of rows."""

    def p_value(self, block):
        return np.where(self.score(block) > 0, np.exp(-self.score(block) * block.mass.sum(axis=0)), 1.0)


@register
@dataclass(frozen=True)
class AnyClasses(WelchT):
    """Takes any number of classes, whatever its tasks say."""


AnyClasses.most_classes = None


def test_a_p_value_from_the_mass_is_named():
    with pytest.raises(AssertionError, match="p_value depends on the unit of mass"):
        check_criterion(ByMass())


def test_more_classes_than_the_tasks_allow_are_refused():
    with pytest.raises(TargetError, match=r"'mean_gap' compares 2 classes, but y holds 3 \(0, 1, 2, ...\)"):
        ss.Screen(MeanGap()).fit(X, LABELS)
    summary = MeanGap().new_summary()
    summary.update(X, LABELS)
    with pytest.raises(TargetError, match="compares 2 classes"):
        MeanGap()(summary)
    ss.Screen(type("AnyGap", (MeanGap,), {"tasks": CLASSIFICATION, "most_classes": None})()).fit(X, LABELS)


def test_a_criterion_that_takes_more_classes_than_it_says_is_named():
    with pytest.raises(AssertionError, match=r"no Task.MULTICLASS, but four classes are taken"):
        check_criterion(AnyClasses())


def test_the_advice_for_a_wrong_task_fits_the_task():
    class Numeric(MeanGap):
        tasks = frozenset({Task.REGRESSION})

    with pytest.raises(CapabilityError, match="with labels use .*'?f"):
        ss.Screen(Numeric(), task="classification").fit(X, LABELS)
    with pytest.raises(CapabilityError, match="with a numeric target use .*correlation"):
        ss.Screen(MeanGap(), task="regression").fit(X, X[:, 0])


@pytest.mark.parametrize("score", [np.zeros(1), np.zeros((1, 4)), 1.0], ids=["short", "2-d", "number"])
@pytest.mark.parametrize("method", ["score", "p_value"])
def test_one_number_per_feature_is_wanted(method, score):
    wrong = type("Wrong", (MeanGap,), {"p_value": MeanGap.score, method: lambda self, block: score})()
    screen = ss.Screen(wrong, k=1).fit(X, LABELS % 2)
    with pytest.raises(ValueError, match=rf"Wrong.{method} returned an array of shape .* for 4 features"):
        _ = screen.scores_ if method == "score" else screen.pvalues_


@register
@dataclass(frozen=True)
class Sound(WelchT):
    """A criterion with nothing wrong, from which broken ones derive."""


def nan_scores(self, block):
    return np.full(block.mean.shape[1], np.nan)


def second_class(self, block):
    assert not len(block.mean) or block.mean[1].size
    return WelchT.score(self, block)


def halved(self, block):
    p = WelchT.p_value(self, block)
    return np.where(p < 1, p / 2, p)


BROKEN = {
    "scores must be finite": {"score": nan_scores},
    "a score is below `worst`, the score of a feature": {
        "score": lambda self, block: WelchT.score(self, block) - 1
    },
    "fails with one class only .IndexError": {"score": second_class},
    "p-values are liberal: .* binary target": {"p_value": halved},
}


@pytest.mark.parametrize(("message", "members"), BROKEN.items(), ids=BROKEN)
def test_a_broken_criterion_is_named(message, members):
    check_criterion(Sound())
    kind = type("UnsoundCriterion", (Sound,), {"__module__": __name__, **members})
    with pytest.raises(AssertionError, match=message):
        check_criterion(register(dataclass(frozen=True)(kind))())


def test_a_criterion_that_cannot_be_saved_is_named():
    with pytest.raises(AssertionError, match=r"cannot be saved: decorate it with @register and @dataclass"):
        check_criterion(MeanGap())
