"""Checks that all parts of the library pass, importable for parts of your own.

======================== ==========================================================
check_selector           a selector over rows, columns or offline
check_criterion          a criterion: ``Screen(MyCriterion())``
check_summary            a summary of rows
check_measure            a dependence measure: ``SAOLA(measure=...)``
check_independence_test  a conditional test: ``FastOSFS(test=...)``
check_rule               a redundancy rule
check_source             a source of rows or columns
======================== ==========================================================

The contracts of a selector are also there one by one::

    @parametrize_with_contracts([MySelector()])
    def test_contract(contract):
        contract()

They come on top of scikit-learn's ``parametrize_with_checks``, which knows nothing of streams.  ``common``,
``rows``, ``columns`` and ``hooks`` hold the contracts of selectors; ``criteria``, ``summaries``, ``sources``
and ``parts`` the laws of the parts; ``states`` forges states, ``programs`` runs random sequences of calls.
"""

from streamsieve.testing._run import check_selector as check_selector
from streamsieve.testing._run import contracts as contracts
from streamsieve.testing._run import parametrize_with_contracts as parametrize_with_contracts
from streamsieve.testing.criteria import check_criterion as check_criterion
from streamsieve.testing.parts import check_independence_test as check_independence_test
from streamsieve.testing.parts import check_measure as check_measure
from streamsieve.testing.parts import check_rule as check_rule
from streamsieve.testing.sources import check_source as check_source
from streamsieve.testing.summaries import check_summary as check_summary

__all__ = [
    "check_criterion",
    "check_independence_test",
    "check_measure",
    "check_rule",
    "check_selector",
    "check_source",
    "check_summary",
    "contracts",
    "parametrize_with_contracts",
]
