"""Live pages of runs: the WebSocket, the viewers of a process, and what a viewer has not seen yet."""
