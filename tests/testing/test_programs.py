"""Random programs of operations agree with their twins, and they do find mistakes."""

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from streamsieve import registry
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.rows import Screen
from streamsieve.state import register
from streamsieve.summaries import Moments, Quantiles
from streamsieve.testing import programs
from streamsieve.testing.programs import ColumnProgram, RowProgram, SummaryProgram, machine, program_for, run
from tests.helpers.tier import cases
from tests.summaries.test_contract import VARIANTS as SUMMARIES

#: Those that have a program; a program learns on construction, which collecting tests should not wait for.
SELECTORS = [
    variant
    for cls in registry.selectors().values()
    if issubclass(cls, RowSelector | ColumnSelector)
    for variant in cls.variants()
]
FEW = settings(max_examples=4, stateful_step_count=12, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("make", SUMMARIES.values(), ids=SUMMARIES)
def test_programs_of_summaries(make, form):
    for seed in range(cases(6)):
        run(SummaryProgram(make, form=form), 20, seed)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_programs_of_selectors(selector):
    for seed in range(cases(3)):
        run(program_for(selector), 12, seed)


@pytest.mark.full
@pytest.mark.parametrize("make", SUMMARIES.values(), ids=SUMMARIES)
def test_machines_of_summaries(make):
    run_state_machine_as_test(machine(lambda: SummaryProgram(make)), settings=FEW)


@pytest.mark.full
@pytest.mark.parametrize("cls", {type(s): s for s in SELECTORS}.values(), ids=lambda s: type(s).__name__)
def test_machines_of_selectors(cls):
    run_state_machine_as_test(machine(lambda: program_for(cls)), settings=FEW)


# ------------------------------------------------------------------------------------ mistakes are found


@register
class Doubled(Quantiles):
    """Right after a merge, right after a save; saved after a merge, it has a row too many."""

    merged = False

    def merge(self, other):
        super().merge(other)
        self.merged = True

    def state(self):
        if self.merged:
            self.update(np.zeros((1, self.n_features)), np.zeros(1, int))
        return super().state()


def test_what_is_wrong_only_after_another_operation_is_found():
    with pytest.raises(AssertionError, match=r"fails after .*merge.*(save|refused): "):
        run(SummaryProgram(Doubled), 50)


def test_a_machine_finds_it_too():
    once = settings(FEW, max_examples=50, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError, match=r"n_rows is|left a trace|reads? back"):
        run_state_machine_as_test(machine(lambda: SummaryProgram(Doubled)), settings=once)


def test_every_operation_of_a_program_happens():
    for program in (SummaryProgram(Moments), RowProgram(Screen()), ColumnProgram(SELECTORS[-1])):
        assert {*run(program, 120)} == {*program.applicable()}
    assert programs.__doc__.count("Program`") == 3
