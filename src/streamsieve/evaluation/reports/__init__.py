"""Reports: tables, curves and recommendations made of results.

============== ================================================================
report         a table with the settings that made it, saved and loaded
table          a tidy table: one array per column
curves         scores by number of features, peaks, inputs of tests
recommendation which selector and learner to use, and whether it is significant
wording        a recommendation as a sentence
final_fit      every selector fitted once to all rows
track          scores of screens over a stream
html/          a report as one HTML page
============== ================================================================
"""
