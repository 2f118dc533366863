"""Files dropped onto a window as a file manager does it: the source's side of XDND (freedesktop.org, version 5), over libX11."""
import ctypes
import ctypes.util
import pathlib
import select
import time
import urllib.parse

CLIENT_MESSAGE, SELECTION_REQUEST, SELECTION_NOTIFY = 33, 30, 31
ATOM, PROP_MODE_REPLACE, XDND_VERSION = 4, 0, 5
PATIENCE_S = 20

Id = ctypes.c_ulong  # windows, atoms, times


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("window", Id), ("message_type", Id), ("format", ctypes.c_int), ("data", ctypes.c_long * 5)]


class SelectionRequest(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("owner", Id), ("requestor", Id), ("selection", Id), ("target", Id), ("property", Id), ("time", Id)]


class SelectionNotify(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("requestor", Id), ("selection", Id), ("target", Id), ("property", Id), ("time", Id)]


class Event(ctypes.Union):
    _fields_ = [("type", ctypes.c_int), ("message", ClientMessage), ("request", SelectionRequest), ("notify", SelectionNotify),
                ("pad", ctypes.c_long * 24)]


def x11():
    lib = ctypes.CDLL(ctypes.util.find_library("X11"))
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, arguments in (
            ("XOpenDisplay", pointer, [text]), ("XCloseDisplay", ctypes.c_int, [pointer]),
            ("XDefaultRootWindow", Id, [pointer]), ("XInternAtom", Id, [pointer, text, ctypes.c_int]),
            ("XCreateSimpleWindow", Id, [pointer, Id] + [ctypes.c_int] * 2 + [ctypes.c_uint] * 3 + [ctypes.c_ulong] * 2),
            ("XSetSelectionOwner", ctypes.c_int, [pointer, Id, Id, Id]),
            ("XSendEvent", ctypes.c_int, [pointer, Id, ctypes.c_int, ctypes.c_long, ctypes.POINTER(Event)]),
            ("XChangeProperty", ctypes.c_int, [pointer, Id, Id, Id, ctypes.c_int, ctypes.c_int, text, ctypes.c_int]),
            ("XPending", ctypes.c_int, [pointer]), ("XNextEvent", ctypes.c_int, [pointer, ctypes.POINTER(Event)]),
            ("XConnectionNumber", ctypes.c_int, [pointer]), ("XFlush", ctypes.c_int, [pointer])):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


class Source:
    def __init__(self, display_name, target):
        self.x = x11()
        self.display = self.x.XOpenDisplay(display_name.encode())
        assert self.display, f"no display {display_name}"
        self.target = target
        self.window = self.x.XCreateSimpleWindow(self.display, self.x.XDefaultRootWindow(self.display), 0, 0, 1, 1, 0, 0, 0)
        self.uris = self.atom("text/uri-list")
        self.x.XSetSelectionOwner(self.display, self.atom("XdndSelection"), self.window, 0)

    def atom(self, name):
        return self.x.XInternAtom(self.display, name.encode(), 0)

    def tell(self, message, *data):
        event = Event()
        event.message = ClientMessage(CLIENT_MESSAGE, 0, 1, self.display, self.target, self.atom(message), 32,
                                      (ctypes.c_long * 5)(self.window, *data))
        self.x.XSendEvent(self.display, self.target, 0, 0, ctypes.byref(event))
        self.x.XFlush(self.display)

    def give(self, request, text):
        """What the target asked for, as a property of its own window."""
        self.x.XChangeProperty(self.display, request.requestor, request.property, request.target, 8, PROP_MODE_REPLACE, text,
                               len(text))
        event = Event()
        event.notify = SelectionNotify(SELECTION_NOTIFY, 0, 1, self.display, request.requestor, request.selection,
                                       request.target, request.property, request.time)
        self.x.XSendEvent(self.display, request.requestor, 0, 0, ctypes.byref(event))
        self.x.XFlush(self.display)

    def answer(self, message, text):
        """Waits for a message of the target; gives it the dropped text where it asks. The message's data."""
        deadline, wanted = time.monotonic() + PATIENCE_S, self.atom(message)
        while time.monotonic() < deadline:
            if self.x.XPending(self.display) == 0:
                select.select([self.x.XConnectionNumber(self.display)], [], [], 0.1)
                continue
            event = Event()
            self.x.XNextEvent(self.display, ctypes.byref(event))
            if event.type == SELECTION_REQUEST and event.request.target == self.uris:
                self.give(event.request, text)
            if event.type == CLIENT_MESSAGE and event.message.message_type == wanted:
                return list(event.message.data)
        raise AssertionError(f"the window does not answer with {message} within {PATIENCE_S} s")


def drop(display_name, window, paths, x=400, y=300):
    """Drops files and folders at a place of the screen over the window with this id."""
    text = "".join("file://" + urllib.parse.quote(str(pathlib.Path(path).resolve())) + "\r\n" for path in paths).encode()
    source = Source(display_name, int(window))
    copy = source.atom("XdndActionCopy")
    source.tell("XdndEnter", XDND_VERSION << 24, source.uris, 0, 0)
    source.tell("XdndPosition", 0, x << 16 | y, 0, copy)
    status = source.answer("XdndStatus", text)
    assert status[1] & 1, "the window does not take files"
    source.tell("XdndDrop", 0, 0, 0, 0)
    finished = source.answer("XdndFinished", text)
    assert finished[1], "the window did not take what was dropped"  # GLFW says how many bytes it took
    source.x.XCloseDisplay(source.display)
