"""What the main screen is made of. Each part has one job, and is given the other parts it needs."""
