"""``switchout explore``: pages to look at policies, corpora and runs, on this machine only.

* Plain functions make the data (`playground`, `catalogue`, `comparison`, `translation`).
* `api` gives it away as JSON, `pages` as HTML; `guard` decides who may ask.
* Nothing is written to disk, and nothing is loaded from another machine.
"""
