"""Every selector in the registry keeps every contract: the laws in two variants, the door in each class.

In the full tier every variant keeps the laws and passes the checks of the door.
"""

from streamsieve import registry
from streamsieve.testing import parametrize_with_contracts
from tests.helpers import tier

VARIANTS = [
    variant for cls in registry.selectors().values() for variant in tier.spread(list(cls.variants()), 2)
]


@parametrize_with_contracts(VARIANTS, doors="each" if tier.FULL else "once")
def test_contract(contract):
    contract()
