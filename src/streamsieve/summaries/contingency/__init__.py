"""Exact counts of every value of every feature per class.

================ =====================================================================
summary          :class:`Contingency`: rows in, contingency tables out
value_tables     growable tables of counts (value, class), one per feature
category_encoder numbers and text as float64 keys
================ =====================================================================
"""

from streamsieve.summaries.contingency.summary import Category as Category
from streamsieve.summaries.contingency.summary import Contingency as Contingency
