"""Tournaments from the terminal: for organisers on the command line, for players on the screen.

`scene` folds what the server shows of a tournament; `sheets` and `bracket` paint it, as wide
and long as it needs; `pages` shows a part of that on the screen. `cli` has the organiser's
commands, `office` the line on which they go, `keyring` the secrets that allow them.
"""
