"""What browsers request for a page. Private."""
