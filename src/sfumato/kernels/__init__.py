"""Numerical kernels: arrays in, arrays out. They know no tables, names or files."""
