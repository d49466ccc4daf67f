"""What the workers of a fleet share through Redis besides their store: the turns at download slots."""
