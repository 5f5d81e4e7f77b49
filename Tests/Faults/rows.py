"""All rows, in the order of the table."""

from __future__ import annotations

import faults_network  # noqa: F401
import faults_program  # noqa: F401
from row import ROWS, Row

__all__ = ["ROWS", "Row"]
