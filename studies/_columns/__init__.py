"""What the studies of column streams share: splits, methods, classifiers, printed figures."""
