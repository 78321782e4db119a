"""Compiled code: the decorator with its cache, the exponential, the products of panels."""
