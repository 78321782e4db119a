"""A real browser, headless: Chromium of the distribution, spoken to through its DevTools pipe."""

import functools
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = f"no browser: none of {', '.join(NAMES)} is installed (Debian: apt-get install chromium)"
PATIENCE = 60.0  # Seconds that an answer may take.


def found():
    """Path of a browser that runs, or None."""
    return next((path for name in NAMES if (path := shutil.which(name)) and _runs(path)), None)


@functools.cache
def _runs(path):
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=PATIENCE, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class Browser:
    """A page of a browser; requests, messages of the console and errors of scripts are kept."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="browser")
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()
        flags = (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
            "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={self.folder}",
        )  # fmt: skip

        def pipes():  # the browser reads commands from 3 and writes answers to 4
            first, second = os.dup(to_read), os.dup(to_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [found(), *flags, "about:blank"], preexec_fn=pipes, close_fds=False,  # noqa: PLW1509 (no threads yet)
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self.rest, self.numbers, self.events, self.session = b"", itertools.count(1), [], None
        try:
            self._attach()
        except BaseException:
            self.__exit__()
            raise

    def _attach(self):
        pages = self.ask("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in pages if one["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        return self._until(lambda one: one.get("id") == number)["result"]

    def _until(self, wanted):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            while b"\0" in self.rest:
                first, self.rest = self.rest.split(b"\0", 1)
                one = json.loads(first)
                assert "error" not in one, one
                if wanted(one):
                    return one
                self.events.append(one)
            if select.select([self.into], [], [], max(0.0, end - time.monotonic()))[0]:
                more = os.read(self.into, 1 << 20)
                if not more:
                    raise EOFError("the browser has ended")
                self.rest += more
        raise TimeoutError("the browser does not answer")

    def open(self, path, width=1280, height=800, dark=False):
        """Open a file in a window of some width, in light or dark colours."""
        self.events.clear()
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=Path(path).resolve().as_uri())
        if not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self._until(lambda one: one.get("method") == "Page.loadEventFired")

    def resize(self, width, height=800):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def run(self, script):
        """The value of an expression."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def requests(self):
        """Addresses that were asked for."""
        sent = [
            one["params"]["request"]["url"] for one in self.events if one.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in sent if not url.startswith("data:")]

    def complaints(self):
        """What the console says, and errors of scripts."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [one["params"] for one in self.events if one.get("method") in kinds]
