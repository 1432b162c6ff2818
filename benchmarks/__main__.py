"""`make bench`: ratios and medians, measured in one run on this machine."""

from benchmarks import battles, coding, durability, engine, leaderboard, library, pages, reading, start, studies, votes

if __name__ == "__main__":
    start.main()
    pages.main()
    engine.main()
    reading.main()
    durability.main()
    battles.main()
    coding.main()
    leaderboard.main()
    votes.main()
    studies.main()
    library.main()
