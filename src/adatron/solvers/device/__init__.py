"""Block ascent on a device: many programs side by side, without leaving it between proofs."""
