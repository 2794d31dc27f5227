"""Tournaments, pure: who meets whom, who stands where, and what follows from each result."""
