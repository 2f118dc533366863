"""Messages between windows, over libX11: what dropping files (xdnd.py) and asking a window whether it has seen everything need."""
import ctypes
import ctypes.util
import select
import time

CLIENT_MESSAGE, SELECTION_REQUEST, SELECTION_NOTIFY = 33, 30, 31
SUBSTRUCTURE_NOTIFY = 1 << 19
PATIENCE_S = 120

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


def library():
    lib = ctypes.CDLL(ctypes.util.find_library("X11"))
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    for name, result, arguments in (
            ("XOpenDisplay", pointer, [text]), ("XCloseDisplay", ctypes.c_int, [pointer]),
            ("XDefaultRootWindow", Id, [pointer]), ("XInternAtom", Id, [pointer, text, ctypes.c_int]),
            ("XCreateSimpleWindow", Id, [pointer, Id] + [ctypes.c_int] * 2 + [ctypes.c_uint] * 3 + [ctypes.c_ulong] * 2),
            ("XSetSelectionOwner", ctypes.c_int, [pointer, Id, Id, Id]), ("XSelectInput", ctypes.c_int, [pointer, Id, ctypes.c_long]),
            ("XSendEvent", ctypes.c_int, [pointer, Id, ctypes.c_int, ctypes.c_long, ctypes.POINTER(Event)]),
            ("XChangeProperty", ctypes.c_int, [pointer, Id, Id, Id, ctypes.c_int, ctypes.c_int, text, ctypes.c_int]),
            ("XPending", ctypes.c_int, [pointer]), ("XNextEvent", ctypes.c_int, [pointer, ctypes.POINTER(Event)]),
            ("XConnectionNumber", ctypes.c_int, [pointer]), ("XFlush", ctypes.c_int, [pointer])):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


class Connection:
    def __init__(self, display_name):
        self.x = library()
        self.display = self.x.XOpenDisplay(display_name.encode())
        assert self.display, f"no display {display_name}"
        self.root = self.x.XDefaultRootWindow(self.display)

    def close(self):
        self.x.XCloseDisplay(self.display)

    def atom(self, name):
        return self.x.XInternAtom(self.display, name.encode(), 0)

    def tell(self, target, message, *data):
        """`data`: five numbers at most."""
        event = Event()
        event.message = ClientMessage(CLIENT_MESSAGE, 0, 1, self.display, target, self.atom(message), 32, (ctypes.c_long * 5)(*data))
        self.x.XSendEvent(self.display, target, 0, 0, ctypes.byref(event))
        self.x.XFlush(self.display)

    def answer(self, message, take=lambda event: None):
        """Waits for a message; `take` is given every event before it. The message's data."""
        deadline, wanted = time.monotonic() + PATIENCE_S, self.atom(message)
        while time.monotonic() < deadline:
            if self.x.XPending(self.display) == 0:
                select.select([self.x.XConnectionNumber(self.display)], [], [], 0.1)
                continue
            event = Event()
            self.x.XNextEvent(self.display, ctypes.byref(event))
            take(event)
            if event.type == CLIENT_MESSAGE and event.message.message_type == wanted:
                return list(event.message.data)
        raise AssertionError(f"the window does not answer with {message} within {PATIENCE_S} s")


class Pings:
    """What window managers ask a window to see whether it still answers (_NET_WM_PING). It answers when it has read all that came
    before the question, and shows that before it reads on."""

    def __init__(self, display_name, window):
        self.connection, self.window = Connection(display_name), window
        self.ping = self.connection.atom("_NET_WM_PING")
        self.connection.x.XSelectInput(self.connection.display, self.connection.root, SUBSTRUCTURE_NOTIFY)
        self.sent = 0

    def ask(self):
        self.sent += 1
        self.connection.tell(self.window, "WM_PROTOCOLS", self.ping, self.sent, self.window)
        while self.connection.answer("WM_PROTOCOLS")[:2] != [self.ping, self.sent]:
            pass

    def close(self):
        self.connection.close()
