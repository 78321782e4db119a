"""The decorator for compiled code, and the folder in which its machine code is kept."""
