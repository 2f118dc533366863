"""The window of a trace in a browser, shown by a `gapscope serve` that stops together with this object."""
import base64
import html
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request
import weakref
from typing import Any, Callable

from ._child import end_process
from ._program import Error, program, sentence_of


class BrowserWindow:
    """``url``: where a browser on this machine finds it; from elsewhere after ``ssh -L PORT:localhost:PORT``."""

    def __init__(self, path: str, picture: Callable[[], bytes]) -> None:
        """`picture`: returns the PNG that a notebook shows. If it raises an Error, the notebook shows that instead."""
        folder, name = os.path.split(os.path.abspath(path))
        self._picture = picture
        self._process: Any = subprocess.Popen(
            [program(), "serve", "--port", "0", "--until-input-ends", "--", folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self._end = weakref.finalize(self, end_process, self._process, os.getpid())
        lines = iter(self._process.stdout.readline, b"")
        entrance = next((line.strip().decode() for line in lines if line.strip().startswith(b"http://")), "")
        if not entrance:
            error, code = self._process.stderr.read(), self._process.wait()
            raise Error(sentence_of(error, code, "gapscope serve"), code)
        server, _, token = entrance.partition("/?")
        page = f"{server}/window/?{token}"
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(page, timeout=30) as answer:
                cookie = answer.headers["Set-Cookie"].partition(";")[0]
            direct.open(urllib.request.Request(f"{server}/window/", headers={"Cookie": cookie}), timeout=30).close()
        except urllib.error.HTTPError:
            self.close()
            raise Error("There is no display, and this gapscope has no window for browsers: install gapscope-web, or use html() "
                        "and picture().") from None
        self.url = page + "#file=" + urllib.parse.quote("/file/" + urllib.parse.quote(os.fsencode(name)), safe="")
        self.port = int(server.rpartition(":")[2])  #: of the server

    def close(self) -> None:
        """Ends the server."""
        self._end()

    def __repr__(self) -> str:
        return f"<gapscope window: {self.url}>"

    def _repr_html_(self) -> str:
        try:
            shown = f'<img style="max-width:100%" src="data:image/png;base64,{base64.b64encode(self._picture()).decode()}">'
        except Error as trouble:
            shown = f"<p>No picture: {html.escape(str(trouble))}</p>"
        return (f'<p><a href="{html.escape(self.url)}" target="_blank">Open the window</a> (in a browser on this machine; from '
                f"elsewhere after <code>ssh -L {self.port}:localhost:{self.port} HOST</code>)</p>{shown}")
