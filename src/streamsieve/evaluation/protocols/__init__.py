"""Protocols: how selectors and learners are compared.

=========== =================================================================
screening   cross-validation over selectors, learners and numbers of features
streaming   columns arrive: accuracy, size and time on the way
prequential rows arrive: test-then-train
recovery    known relevant features: how many are found, online and offline
=========== =================================================================
"""
