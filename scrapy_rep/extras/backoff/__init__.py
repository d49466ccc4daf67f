"""Sites that ask to slow down, or fail repeatedly. Private."""
