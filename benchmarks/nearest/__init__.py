"""Goals that an arm cannot reach, the best answers known to them, and a judge of anybody's answers: see README.md."""
