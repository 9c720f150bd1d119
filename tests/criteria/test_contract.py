"""Every criterion of the registry, and a third-party one, keeps the laws; each broken law is named."""

from dataclasses import dataclass, fields

import numpy as np
import pytest

from streamsieve import registry
from streamsieve.criteria import Criterion, Fisher, Needs, WelchT, ratio
from streamsieve.protocols import Task
from streamsieve.state import register
from streamsieve.testing import check_criterion

CRITERIA = {name: kind() for name, kind in registry.criteria().items()}
CRITERIA |= {
    f"{name} of values": type(criterion)(discrete=True)
    for name, criterion in CRITERIA.items()
    if "discrete" in {field.name for field in fields(criterion)}
}


@register
@dataclass(frozen=True)
class SignalToNoise(Criterion):
    """The criterion that the documentation of ``Criterion`` writes."""

    name = "signal_to_noise"
    tasks = frozenset({Task.BINARY})
    needs = Needs.MOMENTS

    def score(self, block):
        deviations = np.sqrt(block.variance).sum(axis=0)
        return ratio(np.abs(np.diff(block.mean, axis=0)).sum(axis=0), deviations)


@pytest.mark.parametrize("criterion", [*CRITERIA.values(), SignalToNoise()], ids=[*CRITERIA, "third-party"])
def test_laws(criterion):
    check_criterion(criterion)


def broken(base=WelchT, **members):
    return register(
        dataclass(frozen=True)(type("BrokenCriterion", (base,), {"__module__": __name__, **members}))
    )()


def nan(self, block):
    return np.full(block.mean.shape[1], np.nan)


def negated(self, block):
    return 1.0 / (1.0 + Fisher().score(block))


BROKEN = {
    "has no `needs`": {"base": Criterion, "name": "x", "tasks": frozenset(), "score": nan},
    "tasks is empty": {"tasks": frozenset()},
    "must be finite": {"score": nan},
    "for 14 features: return one number": {"score": lambda self, block: np.zeros(3)},
    "must outscore noise": {"score": negated},
    "must not outscore any other": {
        "score": lambda self, block: np.where(block.variance.sum(axis=0) == 0, 99.0, Fisher().score(block))
    },
    "below `worst`": {"worst": 0.5},
    "in \\[0, 1\\]": {"p_value": lambda self, block: 1.0 + Fisher().score(block)},
}


@pytest.mark.parametrize(("message", "members"), BROKEN.items(), ids=BROKEN)
def test_a_broken_law_is_named(message, members):
    with pytest.raises(AssertionError, match=message):
        check_criterion(broken(**members))


def test_what_is_no_criterion_or_cannot_be_saved_is_named():
    with pytest.raises(AssertionError, match="must derive from streamsieve.criteria.Criterion"):
        check_criterion(object())

    @dataclass(frozen=True)
    class Unregistered(WelchT):
        pass

    with pytest.raises(AssertionError, match="cannot be saved: decorate it with @register"):
        check_criterion(Unregistered())
