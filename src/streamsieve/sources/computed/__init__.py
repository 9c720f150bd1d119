"""Columns computed on demand by a feature factory.

=========== ===============================================
items       the items of a factory, in order
compute     an item to columns of numbers, or to an error
workers     the same in worker processes
transformed columns made of the columns of another source
=========== ===============================================
"""
