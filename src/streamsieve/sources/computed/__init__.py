"""Columns computed on demand by a feature factory.

=========== ===============================================
compute     the items of a factory, and an item to columns of numbers, or to an error
workers     the same in worker processes
blocks      computed columns on their way into a block
transformed columns made of the columns of another source
=========== ===============================================
"""
