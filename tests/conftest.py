"""What holds for every test."""

from hypothesis import settings

# No deadline: the machine is shared. No database: tests leave nothing behind.
settings.register_profile("quick", deadline=None, database=None)
settings.load_profile("quick")
