"""Estimating equations of noisy data that are unbiased for those of the true data."""
