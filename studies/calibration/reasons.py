"""Why a test or rule is liberal, and what to do: a sentence for every red cell of the page."""

from __future__ import annotations

from fnmatch import fnmatchcase

HEAVY_LEFT = """
        Partial correlations are tested by t, without a confirmation by ranks: given what explains most of x
        and y, what is left of both is heavy-tailed. Transform such columns and y (logarithm, ranks), or test
        by tables (`test="g2"`)."""
#: Subject and data, as patterns, and the sentence; the first that fits counts.
REASONS: dict[tuple[str, str], str] = {
    ("correlation, z", "*"): """
        Fisher's z, as in the papers (`p_value="z"`): the normal limit has too light a tail for few rows, and
        nothing allows for heavy tails on both sides. It is there to reproduce published tables; use the
        default.""",
    ("correlation, t", "*"): """
        The t test (`p_value="t"`) is exact if x or y is Gaussian, and liberal in its tail where both are
        heavy-tailed, discrete or skewed. Use the default, which confirms such columns by their ranks.""",
    ("G2, chi2*", "*"): """
        The chi-squared limit of G2 (`p_value="chi2"`) fails in tables with small expected counts. It is there
        to reproduce published tables; use the default, the permutation moments.""",
    ("X2, chi2*", "*"): """
        The chi-squared limit of X2 (`p_value="chi2"`) fails where both margins are skewed. It is there to
        reproduce published tables; use the default, the permutation moments.""",
    ("FastOSFS, rank basis", "*"): """
        A few functions of the ranks of the given columns (`test="basis"`) need not take away all of a
        dependence through their values, and what is left counts as dependence. Use the default where columns
        depend linearly.""",
    ("FastOSFS*", "*heavy residuals*"): HEAVY_LEFT,
    ("FastOSFS*", "*Pareto and Laplace left"): HEAVY_LEFT,
    ("t in a linear model, not confirmed", "*"): """
        The t test of a coefficient (`OnlineFDR(scope="conditional", p_value="t")`), which is that of a
        partial correlation, is exact for Gaussian residuals, and liberal in its tail where the model leaves
        heavy tails or a rare class in both x and y. Use the default, which confirms such coefficients by the
        ranks of the residuals; `OSFS` and `FastOSFS` have no such confirmation: transform y there.""",
    ("rows, t", "*"): """
        Welch's t of a rare class and a skewed or discrete feature: the variance of the class rests on few
        rows. A row screen has moments only, and no ranks to confirm with. Use `Screen("mutual_info")`, whose
        tables are tested by permutation moments, or transform the feature.""",
    ("rows, F", "*"): """
        The F test of a skewed or discrete feature and rare classes: it is exact for Gaussian features, and a
        row screen has moments only, no ranks to confirm with. Use `Screen("mutual_info")`, or transform the
        feature.""",
    ("rows, correlation", "*"): """
        The t test of a correlation where feature and target are both heavy-tailed: a row screen has moments
        only, no ranks to confirm with. Use `Screen("mutual_info", task="regression")`, or transform one of
        the two.""",
    ("correlation, not declared", "*"): """
        The rows are dependent and the selector was not informed. Declare it: `begin(y, serial=True)` or
        `begin(y, groups=...)`.""",
    ("statsmodels*", "*"): """
        Robust standard errors of another library, for comparison: Newey-West with its usual bandwidth
        underestimates strong autocorrelation, and the cluster variance is biased for few groups.""",
}


def reason(subject: str, data: str) -> str | None:
    """Return the sentence for a cell, or None."""
    for (some, where), sentence in REASONS.items():
        if fnmatchcase(subject, some) and fnmatchcase(data, where):
            return " ".join(sentence.split())
    return None
