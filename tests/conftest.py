"""What all tests share."""

from __future__ import annotations

import asyncio
import os
import signal

from hypothesis import settings

pytest_plugins = ["tests.cluster.plugin"]

# On Python 3.11 the first async test asks for the main thread's event loop, which makes one that nobody closes; its
# ResourceWarning then fails whichever test runs when it is collected. Saying that there is none prevents that.
asyncio.set_event_loop(None)

# On a busy machine one example can take any time.
settings.register_profile("ktui", deadline=None)
settings.load_profile("ktui")

# Programs that tests start behave as they do for a person, whatever the machine that runs the tests has set.
os.environ.pop("PYTHONUNBUFFERED", None)

# A shell's background job, and all that it starts, ignores ctrl-c; tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
