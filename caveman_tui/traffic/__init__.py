"""What the screen shows, without widgets."""
