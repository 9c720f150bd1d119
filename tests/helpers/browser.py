"""Headless Chromium for tests, spoken to by its DevTools protocol."""

import json
import os
import shutil
import subprocess
import sys

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
#: Chromium reads from 3 and writes to 4; either may be one of the pipe's own ends.
WIRED = """
import os, sys
high = [os.dup2(int(end), 103 + i) for i, end in enumerate(sys.argv[1:3])]
for i, end in enumerate(high):
    os.dup2(end, 3 + i)
os.execv(sys.argv[3], sys.argv[3:])
"""
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """Headless Chromium, spoken to by its DevTools protocol over a pipe: JSON with a zero byte at the end."""

    def __init__(self, program, folder):
        to_it, self._write = os.pipe()
        self._read, from_it = os.pipe()
        command = [program, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", WIRED, str(to_it), str(from_it), *command],
            pass_fds=(to_it, from_it), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_it)
        os.close(from_it)
        self._waiting, self._number, self.events = b"", 0, []

    def call(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self._waiting:
            piece = os.read(self._read, 2**16)
            assert piece, "Chromium has gone"
            self._waiting += piece
        message, _, self._waiting = self._waiting.partition(b"\0")
        return json.loads(message)

    def open(self, path, width):
        """Open a page as on a screen or telephone of this width, and return its session."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", session)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", session, **size)
        self.go(session, path.as_uri())
        return session

    def go(self, session, url):
        """Load a page and wait until it says that it is there."""
        self.events.clear()
        self.call("Page.navigate", session, url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def evaluate(self, session, expression):
        """Return the value of an expression that gives JSON, or a promise of it."""
        answer = self.call("Runtime.evaluate", session, expression=expression, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return json.loads(answer["result"]["value"])

    def close(self):
        try:
            self.call("Browser.close")
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._write)
            os.close(self._read)


def complaints(events):
    """Return the events that say that something went wrong: errors, warnings, and files that did not load."""
    kinds = {
        "Runtime.exceptionThrown": lambda event: True,
        "Network.loadingFailed": lambda event: True,
        "Log.entryAdded": lambda event: event["entry"]["level"] in ("warning", "error"),
        "Runtime.consoleAPICalled": lambda event: event["type"] in ("warning", "error", "assert"),
    }
    return [event for event in events if kinds.get(event["method"], lambda _: False)(event["params"])]


def started(folder):
    """Return a browser with a profile in ``folder``; skip, aloud, where there is none."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"NO BROWSER: none of {', '.join(PROGRAMS)} is on PATH, so no page was looked at")
    return Browser(program, folder)
