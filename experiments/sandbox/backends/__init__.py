"""The ways to make a box: each says why it cannot be used here, and how one box is started."""
