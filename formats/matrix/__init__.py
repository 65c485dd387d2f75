"""What every matrix has in common: its contract, the conversions between formats, and the memory that they take."""
