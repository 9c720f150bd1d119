"""Checks that all parts of the library pass, importable for parts of your own.

======================== ==========================================================
check_selector           a selector over rows, columns or offline
check_measure            a dependence measure: ``SAOLA(measure=...)``
check_independence_test  a conditional test: ``FastOSFS(test=...)``
check_rule               a redundancy rule
check_source             a source of rows or columns
======================== ==========================================================

    import pytest
    from streamsieve.testing import parametrize_with_contracts

    @parametrize_with_contracts([MySelector()])
    def test_contract(contract):
        contract()

They come on top of scikit-learn's ``parametrize_with_checks``, which knows nothing of streams.
"""

from streamsieve.testing._run import check_selector as check_selector
from streamsieve.testing._run import contracts as contracts
from streamsieve.testing._run import parametrize_with_contracts as parametrize_with_contracts
from streamsieve.testing.parts import check_independence_test as check_independence_test
from streamsieve.testing.parts import check_measure as check_measure
from streamsieve.testing.parts import check_rule as check_rule
from streamsieve.testing.sources import check_source as check_source

__all__ = [
    "check_independence_test",
    "check_measure",
    "check_rule",
    "check_selector",
    "check_source",
    "contracts",
    "parametrize_with_contracts",
]
