"""Values become positions, lines and ticks; what draws them only draws."""
