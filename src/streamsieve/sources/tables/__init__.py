"""Tables in files and dataframes, read by rows or by columns.

================ =================================================================
reading          a file as a table, by its format and the options for reading it
files            a file as validated Arrow record batches: Parquet, Arrow IPC
text, dialect    CSV of any dialect and JSON lines, compressed or not; separators, decimal marks, encodings
nested           objects within rows of JSON as columns
converted        workbooks, databases, JSON arrays, standard input
streams          one stream of record batches as a table
producers        what record batches come from: lazy frames, relations, readers, iterators
layout           which columns are features or target, and how they become arrays
conditions       which rows are read: ``age>=18``, rows whose target is known
encoding, dates  text and dates as numbers
refusals         columns that cannot be offered, in one error
blocks           some columns of all files as one array
frames           dataframes of any library as matrices
transpose        text or sparse rows converted to temporary files that can be read by columns
fingerprint      samples by which files are recognized as those of an earlier run
================ =================================================================
"""
