"""Transformers: ``Trainer(callbacks=[gapscope.transformers.Callback("traces")])``. Importable without it."""
from typing import Any, Optional

from ._profile import profile

try:
    from transformers import TrainerCallback as _Base  # type: ignore
except ImportError:
    _Base = object


class Callback(_Base):  # type: ignore
    """Records optimizer steps of the training as steps. Arguments: those of gapscope.profile."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__()
        self._arguments, self._named = arguments, named
        self.profile: Optional[profile] = None  #: of the training that runs, or ran last

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self.profile = profile(*self._arguments, **self._named).__enter__()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        if self.profile is not None:
            self.profile.step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        if self.profile is not None:
            self.profile.__exit__(None, None, None)
