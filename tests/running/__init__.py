"""Runs the tests and says what came of it: `make test`, `.ci/run`, `make nightly`, `make again`.

`.ci/run` starts before anything is installed, so nothing here but `plugin` needs more than Python itself.
"""
