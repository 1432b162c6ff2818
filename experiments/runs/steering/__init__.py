"""What people do to a run: answer its pauses, change it, go on from it, judge it again."""
