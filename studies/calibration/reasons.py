"""Why a test or rule is liberal, and what to do: a sentence for every red cell of the page."""

from __future__ import annotations

from fnmatch import fnmatchcase

#: Subject and data, as patterns, and the sentence; the first that fits counts.
REASONS: dict[tuple[str, str], str] = {
    ("correlation, z", "*"): (
        'Fisher\'s z, as in the papers (`p_value="z"`): the normal limit has too light a tail for few rows, '
        "and nothing allows for heavy tails on both sides. It is there to reproduce published tables; use "
        "the default."
    ),
    ("correlation, t", "*"): (
        'The t test (`p_value="t"`) is exact if x or y is Gaussian, and liberal in its tail where both are '
        "heavy-tailed, discrete or skewed. Use the default, which confirms such columns by their ranks."
    ),
    ("G2, chi2*", "*"): (
        'The chi-squared limit of G2 (`p_value="chi2"`) fails in tables with small expected counts. It is '
        "there to reproduce published tables; use the default, the permutation moments."
    ),
    ("X2, chi2*", "*"): (
        'The chi-squared limit of X2 (`p_value="chi2"`) fails where both margins are skewed. It is there to '
        "reproduce published tables; use the default, the permutation moments."
    ),
    ("correlation, not declared", "*"): (
        "The rows are dependent and the selector was not informed. Declare it: `begin(y, serial=True)` or "
        "`begin(y, groups=...)`."
    ),
    ("statsmodels*", "*"): (
        "Robust standard errors of another library, for comparison: Newey-West with its usual bandwidth "
        "underestimates strong autocorrelation, and the cluster variance is biased for few groups."
    ),
}


def reason(subject: str, data: str) -> str | None:
    """Return the sentence for a cell, or None."""
    for (some, where), sentence in REASONS.items():
        if fnmatchcase(subject, some) and fnmatchcase(data, where):
            return sentence
    return None
