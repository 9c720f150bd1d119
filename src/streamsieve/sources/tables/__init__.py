"""Tables in files and dataframes, read by rows or by columns.

================ =================================================================
files            one file as checked Arrow record batches: Parquet, CSV, Arrow IPC
layout           which columns are features or target, and how they become arrays
frames           dataframes of any library as matrices
transpose_csv    a table of text written again so that it can be read by columns
transpose_sparse sparse rows written as columns on disk
fingerprint      evidence that files are those of an earlier run
scratch          temporary folders
================ =================================================================
"""
