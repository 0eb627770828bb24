"""Fits that no single record can move far, of a subsample, with noise on the score: estimates without the records.

Subsample and noise come in as arrays. Who asks, and what that costs, is decided elsewhere.
"""
