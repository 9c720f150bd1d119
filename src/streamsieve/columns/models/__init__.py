"""Regression models that columns join and leave, and the processes that decide which.

==================  ============================================  ==========================================
file                model                                         a column
==================  ============================================  ==========================================
``stepwise.py``     (contract, and the process)                   joins if it passes a test given the model
``linear.py``       least squares; with downdating                ... t or F test, likelihood gain
``logistic.py``     logistic regression                           ... score test
``lasso.py``        L1-penalized, three losses                    joins if its gradient exceeds the penalty
``substitution.py`` k columns, squared or logistic loss           replaces the one of smallest coefficient
==================  ============================================  ==========================================

``losses.py`` and ``coordinate_descent.py`` serve ``lasso.py``: losses with their targets, and the solver.
``multi_pass.py`` makes repeated passes over all columns; ``threads.py`` serves ``substitution.py``.
"""
