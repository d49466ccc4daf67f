"""What pages say about themselves, dropped links, stamped items. Private."""
