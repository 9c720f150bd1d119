"""Parameters out of range and targets without a meaning are refused, with what was wrong and what to do."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import NotBegunError, ParameterError, TargetError

#: Per selector: parameters that are refused, and what the error says; by default the parameter's name.
REFUSED = {
    ss.OSFS: [
        ({"alpha": 0}, "alpha must be a number above 0"), ({"alpha": 1.0}, "below 1"),
        ({"test": "fisherz"}, "did you mean 'fisher_z'"), ({"max_conditioning": 4}, "at most 3; got 4"),
        ({"max_conditioning": 1.5}, "a whole number"), ({"degrees": "stratum"}, "degrees must be one of"),
        ({"unreliable": "dependent"}, ""), ({"missing": "drop"}, ""),
        ({"bins": 1}, "bins must be a whole number at least 2"),
        ({"missing": "omit", "test": "g2"}, "missing='omit' requires test='fisher_z'; got test='g2'"),
        ({"missing": "omit", "test": "chi2"}, "give missing values a code of their own"),
        ({"p_value": "exact"}, "p_value must be one of 'auto', 'confirmed', 't', 'z', 'moments', 'chi2'"),
        ({"p_value": "chi2", "test": "fisher_z"}, "not available for test='fisher_z': use .*p_value='z'"),
        ({"p_value": "z", "test": "g2"}, "p_value='z' is not available for test='g2': use .*p_value='chi2'"),
    ],
    ss.SAOLA: [
        ({"missing": "omit", "measure": "su"}, "requires measure='fisher_z'; got measure='su'"),
        ({"missing": "omit", "measure": "mutual_info"}, "or use missing='refuse'"),
        ({"missing": "category"}, "missing must be one of 'refuse', 'omit'; got 'category'"),
        ({"measure": "su", "fdr": "addis"}, r"fdr='addis' needs p-values, .* use measure='auto', 'fisher_"),
        ({"fdr": "none"}, "fdr must be one of"),
        ({"p_value": "chi2", "measure": "su"}, "is not available for measure='su': use p_value='auto'$"),
    ],
    ss.TopK: [
        ({"k": 0}, "k must be"), ({"k": 2.5}, "k must be"), ({"redundancy_weight": 1.1}, ""),
        ({"alpha": 0}, ""), ({"missing": "omit", "measure": "su"}, "fisher_z"),
        ({"p_value": "z", "measure": "mutual_info"}, "is not available for .* p_value='moments' or"),
        ({"alpha": None, "fdr": "addis"}, "fdr='addis' needs a rate, but alpha is None"),
    ],
    ss.GroupSAOLA: [
        ({"variant": "alive"}, ""), ({"group_size": 0}, ""), ({"group_size": 2.5}, ""),
        ({"measure": "z"}, ""), ({"bins": 1}, ""),
        ({"p_value": "z", "measure": "su"}, "is not available for measure='su'"),
        ({"measure": "su", "fdr": "addis"}, r"fdr='addis' needs p-values, .* use measure='fisher_z'"),
    ],
    ss.OnlineFDR: [
        ({"fdr": "adis"}, r"fdr must be one of 'lord', .* did you mean 'addis'"),
        ({"alpha": 1}, "alpha must be a number above 0 and below 1; got 1"),
        ({"lag": -1}, "lag must be a whole number at least 0 and at most 65536"),
        ({"p_value": "chi2"}, "p_value must be one of 'auto'"),
        ({"p_value": "z", "scope": "conditional"}, "requires scope='marginal': use p_value='auto'"),
        ({"scope": "joint"}, "scope must be one of 'marginal', 'conditional'; got 'joint'"),
    ],
    ss.AlphaInvesting: [
        ({"model": "probit"}, "model must be one of 'linear', 'logistic'; got 'probit'"),
        ({"wealth": 1e-300}, "wealth must be a number at least 1e-100 and at most 1; got 1e-300"),
    ],
    ss.InformationInvesting: [
        ({"wealth": 1e-300}, "wealth must be a number at least 1e-100 and at most 1; got 1e-300"),
        ({"coefficient_bits": -1}, "coefficient_bits must be a number at least 0; got -1"),
        ({"payout": 2}, "payout must be a number above 0 and at most 1; got 2"),
    ],
    ss.StreamwiseIC: [
        ({"information_criterion": "ebic"}, "must be one of 'aic', 'bic', 'ric'; got 'ebic'"),
        ({"n_candidates": 0}, "n_candidates must be a whole number at least 1; got 0"),
    ],
    ss.Grafting: [
        ({"l1": 0}, "l1 must be a number above 0; got 0"), ({"l1": np.nan}, "l1 must be a number above 0"),
        ({"l1_ratio": 0.0}, "l1_ratio must be a number above 0 and at most 1; got 0.0"),
        ({"l1_ratio": 1.5}, ""), ({"loss": "hinge"}, "loss must be one of 'auto', 'squared'"),
        ({"sweeps": 0}, "sweeps must be a whole number at least 1; got 0"), ({"sweeps": 1.5}, ""),
        ({"tol": 0}, "tol must be a number at least 1e-09"),
    ],
    ss.OnlineSubstitution: [
        ({"k": 0}, "k must be a whole number at least 1"), ({"k": 2.5}, "k must be a whole number"),
        ({"loss": "hinge"}, "loss must be one of 'auto', 'squared', 'logistic'"),
        ({"refresh": 0}, "refresh must be a whole number at least 1"),
        ({"step_size": 0}, "step_size must be a number above 0 and at most 1; got 0"),
        ({"step_size": 1.5}, ""), ({"sweeps": 0}, "sweeps must be a whole number at least 1"),
        ({"n_jobs": 0}, r"n_jobs must be -1 .* got 0"), ({"n_jobs": -2}, "at least -1; got -2"),
    ],
    ss.DOFS: [
        (parameters, "") for parameters in (
            {"stages": "yes"}, {"kernel": "linear"}, {"gamma": 0}, {"sampler": "all"}, {"truncation": 1},
            {"redundancy_test": "wilcoxon"}, {"max_rank_correlation": 0}, {"scatter": "labels"},
            {"reading": "paper"}, {"local": "none"}, {"min_gain": -1}, {"alpha": 0}, {"l1": -1},
            {"l1_ratio": 0}, {"least_weight": -1}, {"refit": "never"}, {"group_size": 0},
            {"random_state": -1},
        )
    ],
    ss.OGFS: [
        (parameters, "") for parameters in (
            {"min_gain": -0.1}, {"alpha": 0}, {"alpha": 1}, {"l1": 0}, {"l1": np.inf}, {"group_size": 0},
        )
    ],
    ss.OSSFSDD: [
        (parameters, "") for parameters in (
            {"lower": -0.1}, {"upper": 0.5}, {"upper": "high"}, {"pool": 0}, {"floor": -1}, {"floor": 1.5},
            {"variant": "text"}, {"alpha": 1}, {"p_value": "chi2"},
        )
    ],
    ss.InteractionScan: [
        (parameters, "") for parameters in (
            {"pool": 0}, {"pool": 2**17}, {"alpha": 0}, {"alpha": 1}, {"bins": 1}, {"bins": 9},
            {"p_value": "z"},
        )
    ],
}  # fmt: skip
REFUSED[ss.FastOSFS] = REFUSED[ss.OSFS]


@pytest.mark.parametrize("cls", REFUSED, ids=lambda cls: cls.__name__)
def test_bad_parameters_are_refused_by_name(cls):
    for parameters, message in REFUSED[cls]:
        with pytest.raises(ParameterError, match=message or next(iter(parameters))):
            cls(**parameters).begin([0, 1, 0, 1])


TARGETS = [
    (ss.AlphaInvesting(), [0, 1, 2, 1], r"AlphaInvesting needs .* but y is multiclass: .* use SAOLA"),
    (ss.AlphaInvesting(model="logistic"), [0.5, 1.5, 2.5], "AlphaInvesting needs a binary target, but y is"),
    (ss.AlphaInvesting(model="logistic"), [0, 1, 2], "AlphaInvesting needs a binary target, but y is"),
    (ss.InformationInvesting(), [0, 1, 2, 1], r"InformationInvesting needs .* use SAOLA"),
    (ss.StreamwiseIC(), [0, 1, 2, 1], r"StreamwiseIC needs .* use SAOLA"),
    (ss.OnlineFDR(scope="conditional"), [0, 1, 2, 1], r"OnlineFDR needs .* multiclass: use scope='marginal'"),
    (ss.Grafting(loss="squared"), [0, 1, 2, 1], r"but y is multiclass: loss='squared' is for numbers"),
    (ss.Grafting(loss="logistic"), [0, 1, 2, 1], r"but y is multiclass: loss='squared' is for numbers"),
    (ss.Grafting(loss="multinomial"), [0.5, 1.5, 2.0], "needs a binary or multiclass target, but"),
    (ss.OnlineSubstitution(), [0, 1, 2, 1], r"but y is multiclass: say task='regression' if .* use Grafting"),
    (ss.DOFS(), [0.5, 1.5, 2.0], "stages='unsupervised'"),
]  # fmt: skip


@pytest.mark.parametrize(("sieve", "y", "message"), TARGETS)
def test_a_target_without_meaning_is_refused_and_the_error_says_where_to_go(sieve, y, message):
    with pytest.raises(TargetError, match=message):
        sieve.begin(y)


def test_attributes_are_there_after_begin():
    for cls, names in (
        (ss.GroupSAOLA, ("groups_", "n_groups_", "n_open_")),
        (ss.InteractionScan, ("pairs_", "n_pairs_", "n_pooled_")),
        (ss.OSSFSDD, ("thresholds_", "n_waiting_")),
        (ss.Grafting, ("coef_", "intercept_")),
        (ss.OnlineSubstitution, ("coef_", "intercept_")),
    ):
        for name in names:
            with pytest.raises(AttributeError, match=f"{name} is available after begin or fit"):
                getattr(cls(), name)
    with pytest.raises(NotBegunError, match="begin"):
        ss.GroupSAOLA().offer_group(np.zeros((4, 1)))
