"""Measures: numbers computed from predictions and selections.

========= ===========================================================
accuracy  accuracy, AUC and R^2
fading    the same with exponential fading over a stream
stability similarity of selections over folds and runs
agreement selections against the truth, online against offline scores
memory    bytes held in arrays
========= ===========================================================
"""
