"""Estimating equations on noisy values that are unbiased for those of the true ones."""
