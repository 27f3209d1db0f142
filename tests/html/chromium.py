"""
Chromium without a window, spoken to through a pipe: pages are opened, asked and watched. What the page writes to the console, throws or asks of
the network is kept in trouble and requests.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import page
from page import harness

LIMIT = 30  # seconds for an answer


def find():
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Chromium:
    def __init__(self, width=1280, height=800):
        program = find() or harness.skip("no chromium (Debian package: chromium)")
        self.folder = tempfile.mkdtemp(prefix="ompp-chromium-")
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
                 "--disable-background-networking", "--window-size=%d,%d" % (width, height), "--user-data-dir=" + self.folder,
                 "--remote-debugging-pipe", "about:blank"]
        shell = 'exec "$@" 3<&%d 4>&%d' % (to_read, from_write)
        self.process = subprocess.Popen(["bash", "-c", shell, "chromium", *words], pass_fds=(to_read, from_write), start_new_session=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.out, self.into = os.fdopen(to_write, "wb", 0), from_read
        self.buffer, self.number, self.session = b"", 0, None
        self.trouble, self.requests = [], []
        try:
            target = self.ask("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.ask(domain + ".enable")
        except Exception:
            self.close()
            raise

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def take(self, message):
        """Keeps what tells of something that should not be."""
        method, said = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.trouble.append("exception: " + json.dumps(said["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.trouble.append("console: " + json.dumps(said["args"])[:400])
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.trouble.append("log: " + json.dumps(said["entry"])[:400])
        elif method == "Page.javascriptDialogOpening":
            self.trouble.append("dialog: " + said["message"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])

    def message(self, deadline):
        import select
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], max(0, deadline - time.monotonic()))[0]:
                raise harness.Failure("chromium does not answer")
            more = os.read(self.into, 1 << 20)
            if not more:
                raise harness.Failure("chromium has ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if self.session:
            question["sessionId"] = self.session
        self.out.write(json.dumps(question).encode() + b"\0")
        deadline = time.monotonic() + LIMIT
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise harness.Failure("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.take(answer)

    def value(self, expression):
        """Of JavaScript, as JSON; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise harness.Failure("%s: %s" % (expression[:80], json.dumps(answer["exceptionDetails"])[:400]))
        return answer["result"].get("value")

    def open(self, path, hash_=""):
        """Waits until the profile is shown. \\return seconds that took."""
        begin = time.monotonic()
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url="file://%s#%s" % (path, hash_))
        while not self.value("!!document.querySelector('main') && document.querySelector('main').childNodes.length"):
            if time.monotonic() - begin > LIMIT:
                raise harness.Failure("%s: nothing is shown: %s" % (path, self.value("document.body.innerText")[:300]))
            time.sleep(0.02)
        return time.monotonic() - begin

    def go(self, hash_):
        """To another view; waits until it is drawn. \\return its text."""
        return self.value("new Promise(r => { const done = () => requestAnimationFrame(() => requestAnimationFrame(() => r(document.querySelector('main').innerText)));"
                          "if (location.hash === %s) done(); else { addEventListener('hashchange', done, {once: true}); location.hash = %s; } })"
                          % (json.dumps("#" + hash_), json.dumps("#" + hash_)))

    def dark(self, on):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def size(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)


__all__ = ["Chromium", "find", "page"]
