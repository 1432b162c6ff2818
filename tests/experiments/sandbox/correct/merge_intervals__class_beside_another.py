class Stack:
    def __init__(self, things=()):
        self.things = list(things)

    def top(self):
        return self.things[-1]


class Solution:
    def merge_intervals(self, intervals):
        stack = Stack()
        for start, end in sorted(intervals):
            if stack.things and start <= stack.top()[1]:
                stack.top()[1] = max(end, stack.top()[1])
            else:
                stack.things.append([start, end])
        return stack.things
