"""Classes of records that share their keys: counts with missing parts, risks, population uniques, suppressed cells."""
