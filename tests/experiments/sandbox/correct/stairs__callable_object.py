class Stairs:
    def __init__(self, known):
        self.known = known

    def __call__(self, steps):
        while len(self.known) <= steps:
            self.known.append(self.known[-1] + self.known[-2])
        return self.known[steps]


stairs = Stairs([1, 1])
