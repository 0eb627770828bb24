"""The engine for data that live on a Spark cluster: only here is Spark known, and it is imported when it is used."""

from __future__ import annotations

from sfumato.engines.spark.dataset import SparkDataset
from sfumato.engines.spark.opening import open_parts

__all__ = ["SparkDataset", "open_parts"]
