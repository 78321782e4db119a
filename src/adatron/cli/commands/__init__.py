"""The commands of the tool, one a file."""
