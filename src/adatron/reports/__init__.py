"""The report of a fit: one HTML file that answers eight questions."""

from .report import Report, report

__all__ = ["Report", "report"]
