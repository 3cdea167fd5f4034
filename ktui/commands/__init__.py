"""The shell commands behind `ktui.cli`, one a file. They fill a state, ask the views, and print; they draw no screens."""
