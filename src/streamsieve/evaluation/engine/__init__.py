"""How protocols run: independent jobs, stored results, reproducible settings.

============ ====================================================================
jobs         jobs in any order, in any number of processes
store        the folder of a run: settings and finished jobs
settings     what makes a report, as JSON
problem      rows and target, checked once
indicators   nominal columns as learners need them: an indicator for each level
splits       which rows are tested together: random folds, groups, later rows
sizes        numbers of features to try
scaling      features in units of their standard deviation
copies       unfitted copies of estimators
sources      what protocols ask of a source of rows
============ ====================================================================
"""
