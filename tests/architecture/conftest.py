"""What tests of the architecture share."""

import pytest

from tools.shape.tree import Tree


@pytest.fixture(scope="session")
def tree():
    """The syntax trees of the package, which take seconds to read."""
    return Tree()
