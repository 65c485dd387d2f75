"""The verbs, and what each of them does: find its implementation, check, bring to one dtype, write by the rule."""
