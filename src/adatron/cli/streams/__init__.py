"""Streams: lines of an input, learned one after the other by a model that outlives being killed."""
