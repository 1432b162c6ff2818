"""Reports and exports of one run: `formats` lists them, `views` and `api` hand them out, `jobs` makes long ones.

A report is for people: `narrative` puts its sections together from the `Rows` of `setup`, as blocks of `report`.
`setup`, `transcript` with `messages`, `judged` and `counting` are sections; costs, calls and summary are in
`narrative`. The template `reports/report.html`, `pdf` and `markdown` draw the blocks.

A document is the run as JSON (`document`). `importing` makes a run of it: `shapes` checks it, and `storing` writes the
rows. `csv_export` and `inspect_log` are exports for other programs.
"""
