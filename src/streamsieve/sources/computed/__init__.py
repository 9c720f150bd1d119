"""Columns computed on demand by a feature factory.

=========== ===============================================
items       the items of a factory, in order
compute     an item to columns, or to an error
as_column   what a function returned as a column of numbers
workers     the same in worker processes
transformed columns made of the columns of another source
=========== ===============================================
"""
