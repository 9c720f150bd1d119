"""Engines: one stream of rows, cut into parts, learned in several places and merged in a fixed tree.

========= ===================================================================================
run       a source through a selector on an engine; ``streamsieve.run(..., engine=...)`` calls it
plan      parts of the source, and the tree in which their states merge
declared  the schema fixed before the first part is read: features, target, versions
task      the tasks of a worker: learn a part, merge some states
local     threads or processes of this machine, the reference engine
dask      a Dask cluster, or Dask's threads
spark     the executors of Spark, and its streaming queries
columns   blocks of columns measured by workers, and decided in this process
factories features computed and measured by workers, and decided in this process
ordered   tasks of workers, with results in order
checks    refusal of what cannot run on an engine
========= ===================================================================================

Workers of any other engine need only ``build`` and ``merge_all``.
"""

from streamsieve.engines.columns import distribute_columns as distribute_columns
from streamsieve.engines.declared import Declared as Declared
from streamsieve.engines.declared import declared_of as declared_of
from streamsieve.engines.plan import Plan as Plan
from streamsieve.engines.plan import plan_of as plan_of
from streamsieve.engines.run import distribute as distribute
from streamsieve.engines.task import build as build
from streamsieve.engines.task import merge_all as merge_all
