"""The compiler of equations: loops of a user's function of verbs become one compiled loop with the same bits."""
