"""Looking at a model: what it attends to, and how its search went."""
