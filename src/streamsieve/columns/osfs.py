"""OSFS and Fast-OSFS: parents and children of the target from streaming columns."""

from __future__ import annotations

from typing import ClassVar

from streamsieve.base import ColumnSelector
from streamsieve.columns.markov_blanket_selector import MarkovBlanketSelector


class OSFS(MarkovBlanketSelector, ColumnSelector):
    """Online streaming feature selection (OSFS): parents and children of the target.

    A column that is associated with y joins the kept ones.  Then every kept column, the new one last, is
    evicted if some set of up to ``max_conditioning`` others renders it conditionally independent of y.  Of
    two columns with the same information the later one stays.  ``FastOSFS`` examines the new column first and
    is faster.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of all tests, in (0, 1), for independent rows.  The paper uses 0.05 and 0.01.
    test : {"auto", "fisher_z", "g2", "chi2", "basis"} or ConditionalTest, default="auto"
        Test of independence: of the (partial) correlation, or the likelihood-ratio or chi-squared
        test of contingency tables of discretized columns (see ``bins``).  "auto" chooses by the types of the
        columns: "fisher_z" for numbers, "g2" for levels and classes (and the trend of ordinal columns, see
        docs/column_types.md), and a test of indicators (degenerate Gaussian, Wilks' lambda) where both meet.
        "basis" detects U-shapes and thresholds: the joint F test of Legendre polynomials (degree 1 to 3) of
        the column's ranks, given those of the conditioning set; linear effects need somewhat more rows, and
        given columns the test is liberal.  An object with ``conditional(x, y, given)`` is called once per
        test: correct, but slower.
    max_conditioning : int or "auto", default="auto"
        Maximum size of a conditioning set, in [0, 3].  0 keeps every relevant column.  "auto" is 3, but 2
        while 200 or more columns are kept, and 1 from 400 on, with a warning: k columns need about k^4 / 6
        tests of sets of 3.  Tables of n rows with more than two levels take these steps at
        ``(8e8 / n)^(1/3)`` and twice as many columns if that is fewer (93 for 1,000 rows, 34 for 20,000,
        at least 16), tables of two levels at four times as many.
    degrees : {"strata", "nominal", "zero_cells"}, default="strata"
        Degrees of freedom for "g2" and "chi2": counted over the nonempty strata, by the numbers of categories
        alone, or by these minus one for every empty cell.
    reliable : {"occupied", "nominal"}, default="occupied"
        When "g2" and "chi2" have enough rows, five per degree of freedom: "nominal", the paper's rule, counts
        all categories; "occupied" also accepts a larger table if five rows per degree are where column and
        target both vary.
    unreliable : {"skip", "independent"}, default="skip"
        How to treat a test with too few rows: "skip" ignores the conditioning set; "independent", the paper's
        rule, accepts independence, recorded as "unreliable test".
    spouses : int or "auto", default=0
        Number of rejected columns whose values are remembered in order to find spouses, other parents of the
        target's children, which depend on y only given a child.  0 looks for none; "auto" remembers what
        256 MiB hold.  A full pool forgets the column that has been in it for longest.  For test "auto",
        "fisher_z" and "g2", without ``fdr`` and missing values; see Notes.
    p_value : {"auto", "confirmed", "t", "z", "moments", "chi2"}, default="auto"
        How p-values are computed; must be available for the test.  Correlations: "t" is Student's t (F for
        more than two classes), exact if y or the column is normal.  "confirmed", the default, is t, but if
        both are skewed or heavy-tailed its permutation p-value or, over many rows, the larger of t and a test
        of normal scores, and Fisher's exact test for small 2 x 2 tables; see ``FisherZ``.  Given other
        columns it is t, which is liberal at small levels if the residuals of column and y are both
        heavy-tailed.  "z" is Fisher's transformation, as in the papers: liberal at small levels.
        Tables: "moments", the default, takes the mean and variance of Pearson's statistic over all
        permutations, and Fisher's exact test for small 2 x 2 tables; see ``GSquared``.  "chi2" is the
        limiting chi-squared distribution, as in the papers: liberal in sparse tables.
    missing : {"refuse", "omit"}, default="refuse"
        How to treat NaN.  "omit" performs each test over the rows where all its columns are observed
        (test-wise deletion), and is for ``test="fisher_z"``.
    bins : int, default=5
        For tables: number of equal-frequency bins for columns with more than 32 distinct values, unless they
        are whole numbers that repeat or nominal, in [2, 1024].
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  Other types are inferred from the dtype or guessed: two distinct values are
        binary, whole numbers of at most one value per 20 rows (and 256) ordinal, everything else numeric.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond", "lond_any", \
"alpha_spending"}, default=None
        Online FDR procedure that sets the level of each relevance test, so that alpha bounds the false
        discovery rate of the columns found relevant, not of those kept (see ``n_found_``); rows must be
        independent.  See ``OnlineFDR`` for the assumptions of each procedure.  If None, all levels are alpha.
    lag : int, default=0
        For ``fdr``: number of preceding tests whose outcome may not affect the current level; it must reach
        the range over which columns depend on each other.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is the absolute correlation with y ("g2", "chi2": the test
        statistic), for a redundant or evicted column the partial one given the columns in ``by``
    n_found_, n_kept_ : number of columns found relevant, and of those kept.  The bound on the false discovery
        rate applies to the former; a redundancy rule may drop more true columns than false ones
    spouses_ : arrival numbers of the columns that are kept as spouses; ``selected_`` has them, too
    n_pooled_, n_forgotten_ : number of rejected columns in memory, and of those that a full pool forgot
    n_features_in_ : number of columns offered
    column_types_ : types of the columns by name, declared, inferred from dtypes, or guessed
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** Column f joins if ``f`` and y are dependent at level alpha. Then each kept column g leaves if
    some set Z of at most ``max_conditioning`` other kept columns has ``p(g, y | Z) > alpha``. With "fisher_z"
    the test is that of the partial correlation, ``t = r sqrt((n - |Z| - 2) / (1 - r^2))``.

    **When it fails.** Assumes that dependence shows in single columns (faithfulness), that partial
    correlations or tables describe it, and independent rows. Of two columns that explain each other one is
    evicted, even if both are causes; with few rows conditional tests have no power and too much is called
    redundant.  Tables are not tested with too few rows (see ``unreliable``), and where that holds for almost
    all sets, almost every relevant column stays, with a warning: 96 rows of nine classes, for instance.

    Sets are searched by size, then by order of arrival; the first that separates a column from y is in the
    ledger.  An older column survived all sets of earlier columns, so only sets that contain the newcomer are
    tried again; the paper repeats them all, with the same result.

    "fisher_z" with more than two classes: y is all contrasts between classes, and the test the analysis of
    covariance of the partial correlation ratio, F with C - 1 and ``n - |Z| - C`` degrees of freedom.  A
    column that is a linear function of the set is redundant (reason "collinear"); a set that contains such a
    column is skipped, since a smaller one was tried.  A test needs at least 1 degree of freedom.

    The paper speaks of a Markov blanket.  What is kept are the target's parents and children in a Bayesian
    network; the children's other parents (spouses) belong to the blanket too, but one that is independent of
    y by itself fails the test of relevance.  With ``spouses``, the columns rejected last are remembered with
    the set that made each independent of y.  One is a spouse through a kept column c if it is associated
    with c and depends on y given its set and c, unless c and up to two (``max_conditioning - 1``) others
    render it independent of y again (of these sets, at most 4,096 are tried).  Where all columns are compared
    by tables, inter-IAMB over the columns kept and such candidates decides instead, and a kept
    column that is independent of y given the others leaves: with too few rows to test sets of columns with
    many levels, OSFS keeps too many columns.  Tests are at ``alpha``, correlations by t.  Spouses are
    computed from the columns now kept and in the pool, so the ledger shows the current decision, such as
    "kept, spouse through c", instead of the one that ``offer`` returned.  A column that was dropped from the
    pool before its child arrived cannot be found (``n_forgotten_``).  ``IAMB`` and ``InterIAMB`` find spouses
    offline.

    The authors' toolbox skips columns whose *sum* is 0; here only constant columns are.  Relevance is tested
    column by column, so two columns that are informative only jointly (exclusive or) are not found.  The
    result depends on the order of columns, but not on the size of blocks.

    With ``missing="omit"``, a test of a column given a set uses the n rows where the column and the whole set
    are observed, and the degrees of freedom of these rows.  Its size is that of complete data if, given the
    set, missingness depends on y alone or on the column alone; if it depends on both, no test over observed
    rows is valid.  Missing values cost power: with fewer complete rows, more columns are called independent.
    Of sets of two or three columns, those that pairwise correlations call independent are tested first.  For
    one column at most 4,096 of these and 4,096 others are tested (columns that miss the same rows cost
    nothing and are not counted), so with up to 29 kept columns all are.  A test over fewer than 4 rows, or
    where y or one of the columns does not vary, is unreliable.  Mean imputation instead would shrink
    correlations between columns and hide redundancy.

    p-values assume independent rows; for time series or repeated measurements of a subject, pass ``serial``
    or ``groups`` to ``begin``.  Tests then use residuals row by row, which is slower.

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

    _newcomer_first: ClassVar[bool] = False


class FastOSFS(MarkovBlanketSelector, ColumnSelector):
    """Fast-OSFS: parents and children of the target, examining each new column first.

    A column that is associated with y is rejected if some set of up to ``max_conditioning`` kept columns
    renders it conditionally independent of y.  If it is kept, the other kept columns are tested again, given
    sets that contain the new column, and evicted if such a set renders them conditionally independent of y.
    Of two columns with the same information the earlier one is kept.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of all tests, in (0, 1), for independent rows.  The paper uses 0.05 and 0.01.
    test : {"auto", "fisher_z", "g2", "chi2", "basis"} or ConditionalTest, default="auto"
        Test of independence: of the (partial) correlation, or the likelihood-ratio or chi-squared
        test of contingency tables of discretized columns (see ``bins``).  "auto" chooses by the types of the
        columns: "fisher_z" for numbers, "g2" for levels and classes (and the trend of ordinal columns, see
        docs/column_types.md), and a test of indicators (degenerate Gaussian, Wilks' lambda) where both meet.
        "basis" detects U-shapes and thresholds: the joint F test of Legendre polynomials (degree 1 to 3) of
        the column's ranks, given those of the conditioning set; linear effects need somewhat more rows, and
        given columns the test is liberal.  An object with ``conditional(x, y, given)`` is called once per
        test: correct, but slower.
    max_conditioning : int or "auto", default="auto"
        Maximum size of a conditioning set, in [0, 3].  0 keeps every relevant column.  "auto" is 3, but 2
        while 200 or more columns are kept, and 1 from 400 on, with a warning: k columns need about k^4 / 6
        tests of sets of 3.  Tables of n rows with more than two levels take these steps at
        ``(8e8 / n)^(1/3)`` and twice as many columns if that is fewer (93 for 1,000 rows, 34 for 20,000,
        at least 16), tables of two levels at four times as many.
    degrees : {"strata", "nominal", "zero_cells"}, default="strata"
        Degrees of freedom for "g2" and "chi2": counted over the nonempty strata, by the numbers of categories
        alone, or by these minus one for every empty cell.
    reliable : {"occupied", "nominal"}, default="occupied"
        When "g2" and "chi2" have enough rows, five per degree of freedom: "nominal", the paper's rule, counts
        all categories; "occupied" also accepts a larger table if five rows per degree are where column and
        target both vary.
    unreliable : {"skip", "independent"}, default="skip"
        How to treat a test with too few rows: "skip" ignores the conditioning set; "independent", the paper's
        rule, accepts independence, recorded as "unreliable test".
    spouses : int or "auto", default=0
        Number of rejected columns whose values are remembered in order to find spouses, other parents of the
        target's children, which depend on y only given a child.  0 looks for none; "auto" remembers what
        256 MiB hold.  A full pool forgets the column that has been in it for longest.  For test "auto",
        "fisher_z" and "g2", without ``fdr`` and missing values; see Notes.
    p_value : {"auto", "confirmed", "t", "z", "moments", "chi2"}, default="auto"
        How p-values are computed; must be available for the test.  Correlations: "t" is Student's t (F for
        more than two classes), exact if y or the column is normal.  "confirmed", the default, is t, but if
        both are skewed or heavy-tailed its permutation p-value or, over many rows, the larger of t and a test
        of normal scores, and Fisher's exact test for small 2 x 2 tables; see ``FisherZ``.  Given other
        columns it is t, which is liberal at small levels if the residuals of column and y are both
        heavy-tailed.  "z" is Fisher's transformation, as in the papers: liberal at small levels.
        Tables: "moments", the default, takes the mean and variance of Pearson's statistic over all
        permutations, and Fisher's exact test for small 2 x 2 tables; see ``GSquared``.  "chi2" is the
        limiting chi-squared distribution, as in the papers: liberal in sparse tables.
    missing : {"refuse", "omit"}, default="refuse"
        How to treat NaN.  "omit" performs each test over the rows where all its columns are observed
        (test-wise deletion), and is for ``test="fisher_z"``.
    bins : int, default=5
        For tables: number of equal-frequency bins for columns with more than 32 distinct values, unless they
        are whole numbers that repeat or nominal, in [2, 1024].
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  Other types are inferred from the dtype or guessed: two distinct values are
        binary, whole numbers of at most one value per 20 rows (and 256) ordinal, everything else numeric.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond", "lond_any", \
"alpha_spending"}, default=None
        Online FDR procedure that sets the level of each relevance test, so that alpha bounds the false
        discovery rate of the columns found relevant, not of those kept (see ``n_found_``); rows must be
        independent.  See ``OnlineFDR`` for the assumptions of each procedure.  If None, all levels are alpha.
    lag : int, default=0
        For ``fdr``: number of preceding tests whose outcome may not affect the current level; it must reach
        the range over which columns depend on each other.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is the absolute correlation with y ("g2", "chi2": the test
        statistic), for a redundant or evicted column the partial one given the columns in ``by``
    n_found_, n_kept_ : number of columns found relevant, and of those kept.  The bound on the false discovery
        rate applies to the former; a redundancy rule may drop more true columns than false ones
    spouses_ : arrival numbers of the columns that are kept as spouses; ``selected_`` has them, too
    n_pooled_, n_forgotten_ : number of rejected columns in memory, and of those that a full pool forgot
    n_features_in_ : number of columns offered
    column_types_ : types of the columns by name, declared, inferred from dtypes, or guessed
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** Column f joins if f and y are dependent at level alpha and no set Z of at most
    ``max_conditioning`` kept columns has ``p(f, y | Z) > alpha``. Then each kept g leaves for which some Z
    that contains f has ``p(g, y | Z) > alpha``. With "fisher_z" the test is that of the partial correlation,
    ``t = r sqrt((n - |Z| - 2) / (1 - r^2))``.

    **When it fails.** As for :class:`OSFS`: pairs that are informative only jointly are not found, and with
    few rows conditional tests have no power, so that too much is called redundant; tables with too few rows
    to be tested at all leave too many columns, with a warning.

    The notes of ``OSFS`` on tests, sets, ties and missing values apply here as well.

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
    >>> sieve = ss.FastOSFS(alpha=0.01).begin(y)
    >>> for decision in sieve.offer(np.c_[cause, noise, dose], names=["cause", "noise", "dose"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    cause kept relevant
    noise rejected irrelevant
    cause evicted redundant dose
    dose kept relevant
    """

    _newcomer_first: ClassVar[bool] = True
