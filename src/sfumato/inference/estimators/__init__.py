"""Ways of taking disclosed noise out of a regression, beside the fit that does not."""
