"""Kernels of tables of sums: secondary suppression, and what an attacker can work out of a protected table."""
