"""The models that the lab knows, as providers list them and as people choose them."""
