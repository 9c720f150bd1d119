"""Every selector in the registry keeps every contract, in every variant."""

from streamsieve import registry
from streamsieve.testing import parametrize_with_contracts

VARIANTS = [variant for cls in registry.selectors().values() for variant in cls.variants()]


@parametrize_with_contracts(VARIANTS)
def test_contract(contract):
    contract()
