"""The public pages of tournaments.

`sheet` collects what a visitor is sent; `layout`, `figures`, `rows`, `words` and `render` make
HTML and SVG of it and are pure; `site` answers page requests and `live` pushes what changes.
"""
