"""Full-domain generalisation and local recoding with suppression, to k-anonymity and its kin."""
