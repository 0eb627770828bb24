"""From a plan and data to a release: run, measure, judge, package."""
