"""Where the program is, and one command of it."""
import json
import os
import shutil
import subprocess
import sys
import warnings
from typing import Any, List, Optional, Sequence, Union

Path = Union[str, "os.PathLike[str]"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_BUNDLED = os.path.join(_HERE, "program", "bin", "gapscope")
_BUILT = os.path.join(_HERE, "..", "..", "..", ".build", "gapscope")  # in a checkout


def printable(text: str) -> str:
    """A text without control characters, which could steer a terminal: they become U+FFFD. Line ends stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


class Error(Exception):
    """What failed, as the program's own message.

    ``exit_code`` is the command's: 1 bad input, 2 usage, below 0 the number of the signal that ended it; None where no
    command ran.
    """

    def __init__(self, sentence: str, exit_code: Optional[int] = None) -> None:
        super().__init__(printable(sentence))
        self.exit_code = exit_code

    def __reduce__(self) -> Any:
        return Error, (str(self), self.exit_code)


def program() -> str:
    """The path of the program: ``GAPSCOPE_PROGRAM``, the one of this package or checkout, or ``gapscope`` on the PATH.

    Raises Error where there is none.
    """
    named = os.environ.get("GAPSCOPE_PROGRAM", "")
    found = named or next((p for p in (_BUNDLED, _BUILT) if os.access(p, os.X_OK)), shutil.which("gapscope"))
    if not found:
        raise Error("The program gapscope is not found: install the wheel, or name it in GAPSCOPE_PROGRAM.")
    return found


def sentence_of(text: bytes, code: int, asked: str) -> str:
    """What a command printed on standard error, as a sentence."""
    said = text.decode("utf-8", "replace").strip()
    said = "\n".join(line[10:] if line.startswith("gapscope: ") else line for line in said.splitlines())
    if said:
        return said
    return f"{asked} was ended by signal {-code}." if code < 0 else f"{asked} ended with {code} and said nothing."


def answer_of(code: int, out: bytes, error: bytes, asked: str) -> bytes:
    """Standard output of a command that succeeded. What it printed on standard error becomes a warning."""
    if code not in (0, 3) and not (code == 1 and out):  # 3: a condition holds; 1 with an answer: not of all files
        raise Error(sentence_of(error, code, asked), code)
    if error.strip():
        warnings.warn(sentence_of(error, code, asked), stacklevel=4)
    return out


def words_of(words: Sequence[Path]) -> List[bytes]:
    """Words of a command as bytes. Raises Error for one with a NUL in it."""
    out = [os.fsencode(word) for word in words]
    if any(b"\0" in word for word in out):
        raise Error("A word of a command cannot hold a NUL character.", 2)
    return out


def run(*words: Path) -> bytes:
    """Standard output of one command in a process of its own. Raises Error with its sentence."""
    command = [os.fsencode(program())] + words_of(words)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as trouble:
        raise Error(f"{program()} cannot be started: {trouble.strerror}.") from None
    return answer_of(done.returncode, done.stdout, done.stderr, f"gapscope {os.fsdecode(words[0])}")


def run_json(*words: Path) -> Any:
    """The same, parsed: for a command with --json."""
    return json.loads(run(*words))


def main() -> None:
    """The command ``gapscope``: the program takes the place of this process."""
    try:
        path = _BUNDLED if os.access(_BUNDLED, os.X_OK) else program()  # GAPSCOPE_PROGRAM may be this command itself
        os.execv(path, [path] + sys.argv[1:])
    except (Error, OSError) as trouble:
        sys.exit(f"gapscope: {trouble}")
