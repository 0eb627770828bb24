"""Method `corrected`: from release and disclosure to equations that are unbiased for those of the true data."""
