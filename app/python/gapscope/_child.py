"""The process that holds the loaded traces and answers (app/cli/answers.h has the protocol)."""
import os
import signal
import struct
import subprocess
import threading
import weakref
from typing import Any, List, Optional, Tuple

from ._program import Error, Path, answer_of, program, sentence_of, words_of

_HEADER = struct.Struct("<iIQQ")
_LENGTH = struct.Struct("<I")
_MOST_REQUEST_BYTES = 64 << 20
_PATIENCE_S = 3.0


class Child:
    """One process. Several threads may ask. Their questions are answered one after the other.

    It ends with ``close()``, with this object, and with the process that made it, however that ends. A process forked from
    that one gives up its copies of the pipes.
    """

    def __init__(self, words: List[Path]) -> None:
        command = [os.fsencode(program()), b"--answer"] + words_of(words)
        self._lock = threading.Lock()
        self._trouble = ""
        try:
            # In a session of its own, so that Ctrl+C reaches this process alone, which ends the question and not the trace.
            self._process: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                  bufsize=0, start_new_session=True)
        except OSError as trouble:
            raise Error(f"{program()} cannot be started: {trouble.strerror}.") from None
        self._end = weakref.finalize(self, end_process, self._process, os.getpid())
        _children.add(self)
        try:
            code, _, out, error = self._exchange(None)
        except BaseException:
            self.close()
            raise
        if code != 0:
            self.close()
            raise Error(sentence_of(bytes(error), code, "Loading"), code)
        self.paths = [os.fsdecode(path) for path in bytes(out).split(b"\0")[:-1]]

    @property
    def pid(self) -> Optional[int]:
        """The process's number; None when it is closed."""
        return self._process.pid if self._process else None

    def close(self) -> None:
        """Ends it. A question that runs ends, too."""
        self._process = None
        self._end()

    def forget(self) -> None:
        """Drops the process without ending it: for a fork of the process that created it."""
        process, self._process = self._process, None
        self._end.detach()
        self._lock = threading.Lock()
        if process is not None:
            process.returncode = 0  # nothing to wait for here
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()

    def ask(self, words: List[Path]) -> memoryview:
        """Standard output of a command. Raises Error with its sentence; a KeyboardInterrupt ends the command."""
        request = b"".join(word + b"\0" for word in words_of(words))
        if len(request) > _MOST_REQUEST_BYTES:
            raise Error("The question has more than 64 MB.", 2)
        with self._lock:
            code, was_ended, out, error = self._exchange(_LENGTH.pack(len(request)) + request)
        name = f"gapscope {os.fsdecode(words[0])}"
        if was_ended and code != 0:
            raise Error(f"{name} was ended by another thread.", code)
        return memoryview(answer_of(code, out, bytes(error), name))

    def _exchange(self, request: Optional[bytes]) -> Tuple[int, int, bytearray, bytearray]:
        process = self._process
        if process is None:
            raise Error("The trace is closed.")
        got: List[Any] = []
        # Pipes are read by a thread, which no signal interrupts, so that an answer is never read in part.
        done = threading.Event()  # not join(), which takes a thread for ended once a signal came
        try:
            threading.Thread(target=_talk, args=(process, request, got, done), name="gapscope", daemon=True).start()
            done.wait()
        except BaseException:  # Ctrl+C
            try:
                if request is None:
                    process.kill()
                process.stdin.write(_LENGTH.pack(0))
            except (OSError, ValueError):
                pass
            if not done.wait(_PATIENCE_S):
                process.kill()
                done.wait()
            raise
        if not got or got[0] is None:
            raise Error(self._last_words(process))
        return got[0]

    def _last_words(self, process: Any) -> str:
        if self._process is None:
            return "The trace was closed while it answered."
        try:
            said = process.stderr.read(1 << 16) or b""
            code = process.wait(_PATIENCE_S)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            said, code = b"", 0
        self.close()
        if said.strip():
            return sentence_of(said, code, "The process of this trace")
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"The process that held this trace has ended, {how}. Open the trace again."


def _talk(process: Any, request: Optional[bytes], got: List[Any], done: threading.Event) -> None:
    try:
        if request is not None:
            _write(process.stdin, request)
        header = _read(process.stdout, _HEADER.size)
        code, was_ended, out_bytes, error_bytes = _HEADER.unpack(header)
        got.append((code, was_ended, _read(process.stdout, out_bytes), _read(process.stdout, error_bytes)))
    except (OSError, EOFError, ValueError, MemoryError):
        got.append(None)
    done.set()


def _write(pipe: Any, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[pipe.write(rest):]


def _read(pipe: Any, size: int) -> bytearray:
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        n = pipe.readinto(rest)
        if not n:
            raise EOFError
        rest = rest[n:]
    return data


def end_process(process: Any, maker: int) -> None:
    """Ends a process that ends when its input does; nothing in a process forked from `maker`."""
    if os.getpid() != maker:
        return
    try:
        process.stdin.close()
    except OSError:
        pass
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdout, process.stderr):
        pipe.close()


_children: "weakref.WeakSet[Child]" = weakref.WeakSet()


def _after_fork() -> None:
    for child in list(_children):
        child.forget()
    _children.clear()


os.register_at_fork(after_in_child=_after_fork)
