"""Runs the built program as a person would meet it: a window under Xvfb, keys and pointer through xdotool.

What the window shows is read from GAPSCOPE_STATE_FILE (see app/state/state_file.h), so a test waits for a state instead of
sleeping, and for as long as a busy machine may take. Everything lives in a temporary folder: settings, state, screen contents. A test
has a screen of its own, so that several run side by side.

    with App(sys.argv[1], trace) as app:
        before = app.wait_for(lambda s: not s["loading"], "the trace is open")
        app.hold("w", lambda s: visible_ns(s) < visible_ns(before) / 2, "W zooms in")
"""
import atexit
import contextlib
import ctypes
import functools
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from x11 import Pings

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 120  # a busy machine with software rendering; a passing test never waits this long
WIDTH, HEIGHT = 1600, 900


def die_with_parent():
    """In a child before it becomes its program: a test that is killed leaves nothing running."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def visible_ns(state):
    return state["end_ns"] - state["begin_ns"]


class Screen:
    """An Xvfb on a free display number whose contents can be read from a file."""

    def __init__(self, folder):
        self.contents = folder / "Xvfb_screen0"
        read_end, write_end = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write_end), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", str(folder),
             "-nolisten", "tcp", "-noreset"], pass_fds=[write_end], stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent)
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            number = pipe.readline().strip()
        if not number:
            sys.exit("Xvfb did not start: install it (apt install xvfb).")
        self.display = ":" + number

    def save_png(self, path):
        """Xvfb keeps its screen as an XWD file: a header of 32-bit big-endian numbers, colours, rows of BGRX."""
        data = self.contents.read_bytes()
        header = struct.unpack(">25I", data[:100])
        width, height, row_bytes = header[4], header[5], header[12]
        start = header[0] + header[19] * 12
        rows = bytearray()
        for y in range(height):
            row = data[start + y * row_bytes:start + y * row_bytes + 4 * width]
            rgb = bytearray(3 * width)
            rgb[0::3], rgb[1::3], rgb[2::3] = row[2::4], row[1::4], row[0::4]
            rows += b"\0" + rgb
        write_png(path, width, height, bytes(rows))

    def stop(self):
        self.process.terminate()
        self.process.wait()


@functools.cache
def own_screen():
    """Of this test: the programs that it runs one after the other share it."""
    folder = tempfile.TemporaryDirectory(prefix="gapscope screen ")
    screen = Screen(pathlib.Path(folder.name))
    atexit.register(folder.cleanup)
    atexit.register(screen.stop)  # before that
    return screen


def write_png(path, width, height, rows):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
                                   chunk(b"IEND", b""))


class App:
    """The running program. Leaving the `with` block ends it; an exception in the block saves a screenshot first."""

    def __init__(self, program, *arguments, state_home=None, first_run=False):
        """`state_home`: a folder that outlives the run, for what one run leaves to the next. `first_run`: with hints, and all that moves."""
        self.stack = contextlib.ExitStack()
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="gapscope e2e ")))
        self.state_file = self.folder / "state.json"
        self.screen = own_screen()
        self.environment = dict(os.environ, DISPLAY=self.screen.display, GAPSCOPE_STATE_FILE=str(self.state_file),
                                HOME=str(self.folder), XDG_CONFIG_HOME=str(self.folder / "config"),
                                XDG_STATE_HOME=str(state_home or self.folder / "state"),
                                LIBGL_ALWAYS_SOFTWARE="1", LP_NUM_THREADS="1")  # others draw, too
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = ""  # nothing of the desktop that the tests run on
        if not first_run:
            settings = self.folder / "config/gapscope/settings.json"
            settings.parent.mkdir(parents=True)
            settings.write_text(json.dumps({"preferences": {"tour_seen": True, "animate": False}}))
        self.shown = self.written = None  # the state as it was read last, and its file
        self.process = subprocess.Popen([program, *map(str, arguments)], env=self.environment,
                                        preexec_fn=die_with_parent)
        self.stack.callback(self.kill)

    def __enter__(self):
        try:
            self.find_window()
        except BaseException:  # `with` calls __exit__ only once it has entered
            self.__exit__(*sys.exc_info())
            raise
        return self

    def find_window(self):
        self.wait_for(lambda state: True, "the first frame")
        self.window = self.xdotool("search", "--sync", "--onlyvisible", "--class", "gapscope").split()[0]
        self.xdotool("windowfocus", "--sync", self.window)
        self.pings = Pings(self.screen.display, int(self.window))
        self.stack.callback(self.pings.close)

    def __exit__(self, kind, *_):
        if kind:
            picture = pathlib.Path(tempfile.gettempdir()) / f"gapscope_e2e_{pathlib.Path(sys.argv[0]).stem}.png"
            self.screenshot(picture)
            state = {name: value for name, value in (self.state() or {}).items() if name not in ("slices", "texts_at")}  # too many to read
            print(f"The screen as it was: {picture}\nThe state: {state}", file=sys.stderr)
        self.stack.close()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def state(self):
        """What the window shows now; None before its first frame."""
        try:
            with open(self.state_file) as file:
                stat = os.fstat(file.fileno())
                written = stat.st_ino, stat.st_mtime_ns
                if written != self.written:  # reading it takes longer than waiting for the next one
                    self.shown, self.written = json.load(file), written
        except FileNotFoundError:
            return None
        return self.shown

    def wait_for(self, condition, what):
        """The first state for which `condition` holds. Fails with the sentence `what` after PATIENCE_S."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            state = self.state()
            if state is not None and condition(state):
                return state
            if self.process.poll() is not None:
                raise AssertionError(f"the program ended with {self.process.returncode} while waiting for: {what}")
            time.sleep(0.01)
        raise AssertionError(f"did not happen within {PATIENCE_S} s: {what}")

    def wait_until_still(self):
        """The state once all input was seen, nothing moves any more and nothing is being worked out."""
        for _ in range(2):  # the second question is read after a frame with all that came before the first
            self.pings.ask()
        return self.wait_for(lambda s: s["at_rest"], "the window comes to rest")

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=True, capture_output=True,
                              text=True, timeout=PATIENCE_S).stdout

    def key(self, *names):
        """Presses and releases, by X's names: "w", "question", "ctrl+q"."""
        self.xdotool("key", *names)

    def hold(self, name, until, what):
        """A key, until a condition holds. The state once everything is at rest again."""
        self.xdotool("keydown", name)
        self.wait_for(until, what)
        self.xdotool("keyup", name)
        return self.wait_until_still()

    def type(self, text):
        self.xdotool("type", "--delay", "1", text)

    def point_at(self, x, y):
        self.xdotool("mousemove", "--window", self.window, round(x), round(y))

    def run(self, command):
        """Runs a command by its title."""
        self.key("ctrl+shift+p")
        self.wait_for(lambda s: s["box"] is not None, "the box of commands opens")
        self.type(command)
        self.wait_for(lambda s: s["box"] == command, "the title is typed")
        self.key("Return")
        self.wait_for(lambda s: s["box"] is None, "the command is run")

    def click_text(self, text):
        """The one drawn last, which is the one in front."""
        state = self.wait_for(lambda s: text in s["texts"], f"\"{text}\" is in sight")
        at = max(i for i, drawn in enumerate(state["texts"]) if drawn == text)
        self.click(*state["texts_at"][at])

    def click(self, x, y, button=1, times=1):
        """The pointer jumps and presses at once: often both are in one frame."""
        self.xdotool("mousemove", "--window", self.window, round(x), round(y), "click", "--repeat", times, "--delay", "0", button)

    def wheel(self, steps):
        """Positive scrolls down."""
        self.xdotool("click", "--repeat", abs(steps), "--delay", "0", 5 if steps > 0 else 4)

    def screenshot(self, path):
        self.screen.save_png(path)

    def wait_for_end(self):
        """The exit code, once the program ends by itself."""
        return self.process.wait(timeout=PATIENCE_S)

    def processor_seconds(self):
        """CPU time that the program has used so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
