"""Formats compared by measuring, and the choice of one."""
