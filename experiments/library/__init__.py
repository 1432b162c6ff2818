"""What comes with the platform: scenarios with demonstrations, and system contexts. Files of this package, no rows."""
