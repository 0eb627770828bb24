"""Log-likelihoods of regressions on protected data, with their derivatives, and how they are maximised."""
