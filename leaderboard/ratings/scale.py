"""The scale of ratings: 400 points are odds of ten to one, and the mean is 1000."""

import math

MEAN = 1000.0
SCALE = 400.0
ELO = SCALE / math.log(10)  # Elo points in one nat
NORMAL = 1.959963984540054  # the 97.5 % quantile of the normal distribution
TAIL = 0.025
COVERAGE = 1 - 2 * TAIL
