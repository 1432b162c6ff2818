"""How debates are set up and shown."""
