"""The parts that every matrix shares: its contract, the conversions between formats, and the memory that they take."""
