"""The studio: a plan made in the browser, on this machine alone. Every page is a view of the data and the plan."""
