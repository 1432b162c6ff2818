def subsets(things):
    if not things:
        return [[]]
    rest = subsets(things[1:])
    return rest + [[things[0], *chosen] for chosen in rest]
