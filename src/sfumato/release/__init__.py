"""From a plan and data to a release: run, pair, measure, judge; the folder that it leaves as is `package`."""
