"""Measures of risk and of utility, one file each."""
