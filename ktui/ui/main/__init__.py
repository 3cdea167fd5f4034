"""What the main screen is made of. Each part has one job, and is given the parts it needs, which come before it here:

`decks` what there is to look at · `panes` the widgets, and which of them are seen · `menu` which commands are available ·
`detail` what stands beside the rows · `figures` asks for what is used · `painter` draws · `flusher` takes in what changed ·
`showing` what is shown in the place of what.

Commands are carried out by: `arrangement` which rows, in which order · `links` where a row leads · `pages` what is read on a
screen of its own · `dialogs` actions and recordings · `playback` which moment is shown · `sessions` opens them. The screen
itself, in `ktui/ui/screens/main.py`, puts the parts together.
"""
