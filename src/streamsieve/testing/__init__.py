"""Contract checks that every selector passes, importable for selectors of your own.

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

__all__ = ["check_selector", "contracts", "parametrize_with_contracts"]
