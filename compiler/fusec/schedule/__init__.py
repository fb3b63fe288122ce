"""What a set of operators is to the hardware: family, iteration space, tiles that fit, cost."""
