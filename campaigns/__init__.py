"""Campaigns that try to break StreamSieve; each can be run again: ``python -m campaigns NAME``.

=========  =====================================================================================
programs   random programs of update, merge, save, load, fade, forget against a twin
sparse     CSR and CSC matrices with broken pointers and indices, at every door
states     state files with right checksums and wrong contents
values     extreme, missing, huge, tiny and odd values and types, at every door
readers    damaged files of every format
files      outputs that name inputs or one another
kill       kill -9 in the middle of a run, then resuming, compared bit for bit
signals    SIGINT and SIGTERM in the middle of a run; system calls that fail during a save
threads    one object used by several threads; forks after use
soak       memory over a long stream
=========  =====================================================================================

Only if named, because they start clusters: ``dask_workers`` (workers killed in mid-run), ``spark_stream``
(drivers of a streaming query killed, Java), ``brokers`` (a Kafka broker killed, Java and Maven).

A campaign is a module with ``GOAL`` (what must hold), ``cases(rng)`` (an endless stream of cases) and
``attempt(case)``, which runs in a child process and returns an :class:`~campaigns.outcome.Outcome`.  A child
that dies or hangs is counted and replaced.
"""
