"""The audit log. Private."""
