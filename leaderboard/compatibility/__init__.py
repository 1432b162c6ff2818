"""The read routes of GenArena's viewer, over the ladders that a person may see. A subset is a ladder, by its slug."""
