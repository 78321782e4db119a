"""Pictures. matplotlib is imported only to draw one."""
