"""Every selector in the registry passes scikit-learn's own checks.

They look at the face of an estimator, which its variants share, so the first stands for all, and in the full
tier the first and the last; in the quick tier three classes of an axis stand for the others, see
``tests/conftest.py``.  Our own contracts run over every variant.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamsieve import registry
from tests.helpers import tier


def some(cls):
    variants = list(cls.variants())
    return variants[:1] if not tier.FULL or len(variants) < 2 else [variants[0], variants[-1]]


VARIANTS = [variant for cls in registry.selectors().values() for variant in some(cls)]


def exceptions(selector):
    """Checks that cannot hold, each with its reason."""
    if getattr(selector, "half_life", None) is None:
        return {}
    reason = "copies of a row take time, and under a half-life time fades"
    return dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
        reason,
    )


@pytest.mark.filterwarnings("ignore:No features were selected")  # the checks' targets are unrelated to X
@parametrize_with_checks(VARIANTS, expected_failed_checks=exceptions)
def test_estimator(estimator, check):
    check(estimator)
