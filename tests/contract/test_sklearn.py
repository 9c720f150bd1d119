"""Every selector in the registry passes scikit-learn's own checks, in every variant."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from streamsieve import registry

VARIANTS = [variant for cls in registry.selectors().values() for variant in cls.variants()]


def exceptions(selector):
    """Checks that cannot hold, each with its reason."""
    if getattr(selector, "half_life", None) is None:
        return {}
    reason = "copies of a row take time, and under a half-life time fades"
    return dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        reason,
    )


@parametrize_with_checks(VARIANTS, expected_failed_checks=exceptions)
def test_estimator(estimator, check):
    check(estimator)
