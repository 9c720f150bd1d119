"""Tables in files and dataframes, read by rows or by columns.

================ =================================================================
streams          one stream of record batches as a table
producers        what record batches come from: lazy frames, relations, readers, iterators
files            one file as checked Arrow record batches: Parquet, CSV, Arrow IPC
layout           which columns are features or target, and how they become arrays
frames           dataframes of any library as matrices
transpose        text or sparse rows written again, in a temporary folder, to be read by columns
fingerprint      evidence that files are those of an earlier run
================ =================================================================
"""
