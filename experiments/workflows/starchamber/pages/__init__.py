"""StarChamber's talks: how they are set up, their figures, and the tokens of their answers."""
