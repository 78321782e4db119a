"""How a program is solved: one algorithm a file, and the table that picks one."""
