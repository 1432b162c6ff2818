import math as m

total = m.fsum
