"""Parts that several offline selectors share.

=================== ====================================================
ranking             the best of some scores, ties to the first column
standardized        standardized columns and their correlations
discrete            discretized columns and their information
neighbors           nearest rows (Relief family)
row_similarity      Gaussian similarity of rows (SPEC, SPFS)
separating_sets     sets that separate a feature from the target (HITON)
stepwise_regression features entering a regression (LARS, SPFS)
eigenvectors        the leading eigenvectors of a large symmetric matrix
feature_generation  groups added to a support vector machine (FGM, GDM)
typed_features      types of features, for methods over tables
=================== ====================================================
"""
