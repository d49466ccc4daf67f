"""Where entries live between requests, runs and machines."""
