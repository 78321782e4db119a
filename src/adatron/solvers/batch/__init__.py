"""Programs that are one block in memory: one of them, or many in one go."""
