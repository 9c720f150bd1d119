"""Text formats for sparse rows.

======== =========================================================
svmlight lines of svmlight text: scanned, cut into batches, parsed
======== =========================================================
"""
