"""What several processes share: permits to start requests, and Redis. Private."""
