"""OSFS: keep the columns that no few others make independent of the target."""

from __future__ import annotations

from streamsieve.columns._blanket_selector import BlanketSelector


class OSFS(BlanketSelector):
    """Keep a Markov blanket of the target: columns that stay relevant given any few others.

    A new column that depends on y joins the kept ones.  Then every kept column, the new one last, is
    evicted if some set of up to ``max_conditioning`` others makes it independent of y.  Few columns stay, and
    the later of two that say the same.  ``FastOSFS`` asks the newcomer first and is quicker still.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of all tests, 0 < alpha < 1.  The paper uses 0.05 and 0.01.
    test : {"fisher_z", "g2", "chi2"}, default="fisher_z"
        Test of independence: Fisher's z of the (partial) correlation, or the likelihood ratio or chi-squared
        test of the contingency tables of columns as codes (see bins).
    max_conditioning : int, default=3
        Members that a set may have, 0 to 3.  0 keeps every relevant column.
    degrees : {"strata", "nominal", "zero_cells"}, default="strata"
        Degrees of freedom for "g2" and "chi2": counted where the table is not empty, by the numbers of
        levels alone, or by these minus one for every empty cell.
    reliable : {"occupied", "nominal"}, default="occupied"
        Which tables of "g2" and "chi2" have rows enough, five for each degree of freedom: "nominal", the
        paper's rule, counts all levels; "occupied" also takes a larger table if five rows for each degree
        are where column and target both vary.
    unreliable : {"skip", "independent"}, default="skip"
        What a test says that has too few rows: nothing, so that its set is passed over, or the paper's
        "independent".  The ledger's reason "unreliable test" shows where the latter struck.
    missing : {"refuse", "omit"}, default="refuse"
        What to do about NaN.  "omit" compares columns over the rows where both are seen, and is for
        ``test="fisher_z"``.
    bins : int, default=5
        For "g2" and "chi2": columns with more than 32 distinct values are cut into so many bins of equal
        frequency, 2 to 1024.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond"}, default=None
        With a rule, a column is tested for relevance at the level that this rule gives it, so that of all
        columns found relevant an expected share of at most alpha is not; see ``OnlineFDR``.  With None every
        column is tested at alpha, and of many junk columns the share alpha is relevant.
    lag : int, default=0
        For a rule: how many columns before a column must not influence its level; see ``OnlineFDR``.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is the absolute correlation with y ("g2", "chi2": the test
        statistic), for a redundant or evicted column the partial one given the columns in ``by``
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    Sets are searched by size, then by order of arrival; the first that separates a column from y is in the
    ledger.  An older column survived all sets of earlier columns, so only sets that contain the newcomer are
    tried again; the paper repeats them all, with the same result.

    "fisher_z" with more than two classes: y is all contrasts between classes, and the test the analysis of
    covariance, F with C - 1 and n - |Z| - C degrees of freedom, of the partial correlation ratio.  A column
    that is a linear function of the set is redundant (reason "collinear"); a set with such a column in it is
    passed over, since a smaller one was tried.  No test has a meaning below 1 degree of freedom.

    The authors' toolbox skips columns whose *sum* is 0; here only constant columns are.  Relevance is asked
    column by column, so of two columns that matter only together (exclusive or) neither is found.  The
    result depends on the order of columns; the size of blocks never matters.

    With ``missing="omit"``, correlations are over joint rows, and a test given a set has the degrees of
    freedom of the fewest joint rows of two of its columns.  A set of one column is judged over the rows where
    it and the column in question are seen, with y over the same rows.  For larger sets all correlations are
    pairwise; where they contradict each other, so that a variance would be negative, the eigenvalues of their
    matrix are raised above 0.  Numbers of different rows are a rough guide for columns that are nearly a
    function of two or three others: some of these may stay.  A column with gaps that is seen in fewer than 4
    rows, or where y does not vary, is unreliable, and so is a test over such joint rows.  Filling in means
    instead would shrink correlations between columns, so that redundancy is not seen.

    References
    ----------
    Wu, Yu, Ding, Wang, Zhu: Online feature selection with streaming features, TPAMI 35, 2013.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.normal(size=(2, 500))
    >>> dose = cause + rng.normal(size=500)
    >>> y = dose + rng.normal(size=500)
    >>> sieve = ss.OSFS(alpha=0.01).begin(y)
    >>> for decision in sieve.offer(np.c_[cause, noise, dose], names=["cause", "noise", "dose"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    cause kept relevant
    noise rejected irrelevant
    cause evicted redundant dose
    dose kept relevant
    """

    _newcomer_first = False
