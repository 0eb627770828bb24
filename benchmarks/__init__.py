"""Benchmarks: each bar is a ratio to a named baseline, measured in the same run. `make bench` runs them all."""
