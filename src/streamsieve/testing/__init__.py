"""Contract checks that every selector, criterion and summary passes, importable for your own.

    import pytest
    from streamsieve.testing import parametrize_with_contracts

    @parametrize_with_contracts([MySelector()])
    def test_contract(contract):
        contract()

They come on top of scikit-learn's ``parametrize_with_checks``, which knows nothing of streams.
``check_criterion(MyCriterion())`` and ``check_summary(MySummary)`` do the same for these parts.
"""

from streamsieve.testing._run import check_selector as check_selector
from streamsieve.testing._run import contracts as contracts
from streamsieve.testing._run import parametrize_with_contracts as parametrize_with_contracts
from streamsieve.testing.criteria import check_criterion as check_criterion
from streamsieve.testing.summaries import check_summary as check_summary

__all__ = [
    "check_criterion",
    "check_selector",
    "check_summary",
    "contracts",
    "parametrize_with_contracts",
]
