"""A problem, a solution and a vote as models write them: plain data that readers and the sandbox accept."""

CODE = (
    "def widest_gap(numbers):\n"
    "    ordered = sorted(numbers)\n"
    "    return max(later - earlier for earlier, later in zip(ordered, ordered[1:]))\n"
)
PROBLEM = {
    "title": "Widest gap",
    "description": "Return the widest gap between neighbours once the numbers are in order.",
    "function_name": "widest_gap",
    "comparison": "exact",
    "test_cases": [
        {"input": "[[3, 1, 7]]", "expected_output": "4"},
        {"input": "[[2, 2]]", "expected_output": "0"},
        {"input": "[[10, 1]]", "expected_output": "9"},
        {"input": "[[5, 0, 5, 1]]", "expected_output": "4"},
        {"input": "[[-4, 4]]", "expected_output": "8"},
    ],
    "hidden_test_cases": [
        {"input": "[[1, 2, 3, 9]]", "expected_output": "6"},
        {"input": "[[100, -100, 0]]", "expected_output": "100"},
        {"input": "[[7, 7, 7, 8]]", "expected_output": "1"},
        {"input": "[[0, 30, 10, 20]]", "expected_output": "10"},
        {"input": "[[6, 1, 2, 15, 14]]", "expected_output": "8"},
    ],
    "evaluation_criteria": ["It sorts once.", "It handles repeated numbers."],
    "reference_solution": CODE,
}
VOTE = {
    "scores": {"correctness": 8, "efficiency": 8, "readability": 8, "robustness": 8, "explanation": 8},
    "overall_score": 8.0,
    "feedback": "It is right, and easy to follow.",
}
SOLUTION = {
    "solution_code": CODE,
    "explanation": "It sorts the numbers and compares neighbours.",
}
