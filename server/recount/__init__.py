"""Recounts a finished tournament from its archive, trusting nothing in it.

`archive` reads the file; `journal` folds the entries and asks of each whether it had to, or
might, be there; `races` holds the results against the replays; `tables` what the archive says
of standings and results against what follows from the journal. `python -m server.recount
FILE` prints what was checked: 0 for a sound record, 1 for one that breaks a promise, 2 for a
file that cannot be read.
"""
