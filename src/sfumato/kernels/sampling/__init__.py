"""Draws from a distribution: posteriors by importance or Markov chains, and correlated variables of a given shape."""
