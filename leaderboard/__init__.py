"""Boards, votes and ratings. What people call a board is a `Ladder` here; a `Board` holds the battles of one."""
