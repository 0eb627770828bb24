"""The vocabulary: roles, codebook, queries, pairs, findings, disclosures, formulas, files."""
