"""How a simulated model plays a contest of coding: it sets problems, solves them and judges solutions."""
