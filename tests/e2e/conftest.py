from tests.chromium import browser

__all__ = ["browser"]
