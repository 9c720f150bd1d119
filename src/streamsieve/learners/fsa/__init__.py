"""Feature selection with annealing: linear models that drop features by a schedule while they are fitted.

========== =============================================================================
classifier :class:`FSAClassifier`
regressor  :class:`FSARegressor`
annealed   their common base class: parameters, passes over rows, warnings, selection
model      weights of the columns left, and the schedule
rows       standardized rows, dense or sparse, that lose columns
========== =============================================================================
"""

from streamsieve.learners.fsa.classifier import FSAClassifier as FSAClassifier
from streamsieve.learners.fsa.regressor import FSARegressor as FSARegressor
