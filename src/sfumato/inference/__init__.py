"""Regression on protected data: the disclosed noise is taken out of estimates and put into their standard errors."""
