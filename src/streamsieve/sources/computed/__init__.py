"""Columns computed on demand by a feature factory.

=========== ===============================================
compute     the items of a factory, and the columns or errors computed from them
workers     the same in worker processes
blocks      computed columns collected in a block
transformed columns computed from the columns of another source
=========== ===============================================
"""
