"""`make bench`: ratios and medians, measured in one run on this machine."""

from benchmarks import engine

if __name__ == "__main__":
    engine.main()
