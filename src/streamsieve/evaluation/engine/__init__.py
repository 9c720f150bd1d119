"""How protocols run: independent jobs, stored results, reproducible settings.

============ ====================================================================
jobs         jobs in any order, in any number of processes
store        the folder of a run: settings and finished jobs
settings     methods, data and versions of a report, as JSON
problem      rows and target, checked once
indicators   nominal columns as indicators of their levels, for learners
splits       assignment of rows to folds: random, by groups, by time
sizes        numbers of features to try
scaling      features in units of their standard deviation
copies       unfitted copies of estimators
sources      target, identity and batches of a source, for protocols
============ ====================================================================
"""
