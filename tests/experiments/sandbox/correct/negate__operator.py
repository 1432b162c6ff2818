from operator import neg as negate
