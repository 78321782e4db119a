"""The report of a fit: one HTML file that answers eight questions."""

from .page import Report
from .report import report

__all__ = ["Report", "report"]
