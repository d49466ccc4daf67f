"""Programs that answer for a parser: each reads questions and writes verdicts, as the conformance kit wants it."""
