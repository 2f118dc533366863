"""Files dropped onto a window as a file manager does it: the source's side of XDND (freedesktop.org, version 5)."""
import ctypes
import pathlib
import urllib.parse

from x11 import SELECTION_NOTIFY, SELECTION_REQUEST, Connection, Event, SelectionNotify

PROP_MODE_REPLACE, XDND_VERSION = 0, 5


class Source(Connection):
    def __init__(self, display_name, target, text):
        super().__init__(display_name)
        self.target, self.text = target, text
        self.window = self.x.XCreateSimpleWindow(self.display, self.root, 0, 0, 1, 1, 0, 0, 0)
        self.uris = self.atom("text/uri-list")
        self.x.XSetSelectionOwner(self.display, self.atom("XdndSelection"), self.window, 0)

    def give(self, event):
        """What the target asks for, as a property of its own window."""
        if event.type != SELECTION_REQUEST or event.request.target != self.uris:
            return
        request = event.request
        self.x.XChangeProperty(self.display, request.requestor, request.property, request.target, 8, PROP_MODE_REPLACE, self.text, len(self.text))
        said = Event()
        said.notify = SelectionNotify(SELECTION_NOTIFY, 0, 1, self.display, request.requestor, request.selection,
                                      request.target, request.property, request.time)
        self.x.XSendEvent(self.display, request.requestor, 0, 0, ctypes.byref(said))
        self.x.XFlush(self.display)

    def ask(self, message, answer, *data):
        """The data of the target's answer."""
        self.tell(self.target, message, self.window, *data)
        return self.answer(answer, self.give)


def drop(display_name, window, paths, x=400, y=300):
    """Drops files and folders at a place of the screen over the window with this id."""
    text = "".join("file://" + urllib.parse.quote(str(pathlib.Path(path).resolve())) + "\r\n" for path in paths).encode()
    source = Source(display_name, int(window), text)
    source.tell(source.target, "XdndEnter", source.window, XDND_VERSION << 24, source.uris, 0, 0)
    status = source.ask("XdndPosition", "XdndStatus", 0, x << 16 | y, 0, source.atom("XdndActionCopy"))
    assert status[1] & 1, "the window does not take files"
    finished = source.ask("XdndDrop", "XdndFinished", 0, 0, 0, 0)
    assert finished[1], "the window did not take what was dropped"  # GLFW says how many bytes it took
    source.close()
