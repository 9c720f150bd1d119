"""Feature selection with annealing: linear models that drop features by a schedule while they are fitted.

========== =============================================================================
estimators :class:`FSAClassifier` and :class:`FSARegressor`
annealed   their common base class: parameters, passes over rows, warnings, selection
model      weights of the columns left, and the schedule
rows       standardized rows, dense or sparse, that lose columns
========== =============================================================================
"""

from streamsieve.learners.fsa.estimators import FSAClassifier as FSAClassifier
from streamsieve.learners.fsa.estimators import FSARegressor as FSARegressor
