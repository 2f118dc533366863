"""Tables: columns of values, as numpy, pandas or polars take them."""
import html
import struct
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

_NULLS, _INTEGERS, _REALS, _TEXTS, _MIXED, _TAGGED = 0, 1, 2, 3, 4, 256
_SHOWN_ROWS = 20
_SHOWN_LETTERS = 60


class _Raw:
    """A column as the program sends it (app/cli/raw_columns.h): arrays, each text once."""

    def __init__(self, kind: int, rows: int, values: memoryview, tags: Optional[memoryview], ends: memoryview,
                 texts: memoryview) -> None:
        self._kind, self._rows, self._values, self._tags = kind, rows, values, tags
        self._ends, self._bytes = ends, texts
        self._texts: Optional[List[str]] = None

    def __len__(self) -> int:
        return self._rows

    def texts(self) -> List[str]:
        if self._texts is None:
            whole, begin, out = bytes(self._bytes), 0, []
            for end in self._ends:
                out.append(whole[begin:end].decode("utf-8", "replace"))
                begin = end
            self._texts = out
        return self._texts

    def list(self) -> List[Any]:
        if self._kind == _NULLS:
            return [None] * self._rows
        if self._kind == _TEXTS:
            texts = self.texts()
            values: List[Any] = [texts[number] for number in self._values] if texts else [None] * self._rows
        elif self._kind == _MIXED:
            return [self._mixed(bits, tag) for bits, tag in zip(self._values, self._tags or b"")]
        else:
            values = self._values.tolist()
        if self._tags is not None:
            values = [value if tag else None for value, tag in zip(values, self._tags)]
        return values

    def _mixed(self, bits: int, tag: int) -> Any:
        if tag == _NULLS:
            return None
        if tag == _TEXTS:
            return self.texts()[bits]
        return struct.unpack("<q" if tag == _INTEGERS else "<d", struct.pack("<Q", bits))[0]

    def numpy(self, np: Any) -> Any:
        if self._kind in (_NULLS, _MIXED):
            return _objects(np, self.list())
        if self._kind == _TEXTS:
            texts = _objects(np, self.texts())
            numbers = np.frombuffer(self._values, dtype=np.uint32)
            if self._tags is None:
                return texts[numbers]
            out = np.full(self._rows, None, dtype=object)
            there = np.frombuffer(self._tags, dtype=np.uint8) != 0
            out[there] = texts[numbers[there]]
            return out
        values = np.frombuffer(self._values, dtype=np.int64 if self._kind == _INTEGERS else np.float64)
        if self._tags is None:
            return values
        return np.ma.MaskedArray(values, mask=np.frombuffer(self._tags, dtype=np.uint8) == 0)


class _Listed:
    """A column of Python's own values."""

    def __init__(self, values: List[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def list(self) -> List[Any]:
        return list(self._values)

    def numpy(self, np: Any) -> Any:
        there = [value for value in self._values if value is not None]
        kinds = {type(value) for value in there}
        if not kinds or not kinds <= {int, float, bool} or (bool in kinds and kinds != {bool}):
            return _objects(np, self._values)
        if any(type(value) is int and not -(2**63) <= value < 2**63 for value in there):
            return _objects(np, self._values)
        kind = np.bool_ if kinds == {bool} else np.int64 if kinds == {int} else np.float64
        if len(there) == len(self._values):
            return np.array(self._values, dtype=kind)
        filled = np.array([0 if value is None else value for value in self._values], dtype=kind)
        return np.ma.MaskedArray(filled, mask=[value is None for value in self._values])


_Column = Union[_Raw, _Listed]


def _objects(np: Any, values: List[Any]) -> Any:
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):  # not in one assignment: values may be lists
        out[i] = value
    return out


class Table:
    """Rows and columns. Times are nanoseconds where a column's name ends in ``_ns``, and in SQL's ``ts`` and ``dur``.

    ``len(table)`` rows; iterating gives each row as a dict; ``table["name"]`` is a column as a list, ``table[3]`` a row.
    """

    def __init__(self, columns: Dict[str, _Column]) -> None:
        self._columns = columns

    @classmethod
    def of_rows(cls, rows: Iterable[Dict[str, Any]]) -> "Table":
        """Of dicts; a key that a row lacks is None there. Columns are in the order in which keys first come."""
        rows = list(rows)
        names = list(dict.fromkeys(name for row in rows for name in row))
        return cls({name: _Listed([row.get(name) for row in rows]) for name in names})

    @classmethod
    def of_bytes(cls, data: memoryview) -> List["Table"]:
        """What ``gapscope sql --raw`` prints: a table for each statement that gives rows. Raises ValueError."""
        reader, out = _Reader(data), []
        while not reader.is_over():
            out.append(cls(reader.table()))
        return out

    @property
    def columns(self) -> Tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __getitem__(self, key: Union[str, int]) -> Any:
        if isinstance(key, str):
            return self._columns[key].list()
        position = range(len(self))[key]
        return {name: column.list()[position] for name, column in self._columns.items()}

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        names = self.columns
        for values in zip(*(column.list() for column in self._columns.values())):
            yield dict(zip(names, values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.to_dict() == other.to_dict()

    def to_dict(self) -> Dict[str, List[Any]]:
        """Lists by column."""
        return {name: column.list() for name, column in self._columns.items()}

    def to_numpy(self) -> Dict[str, Any]:
        """Arrays by column, shape (rows,): int64, float64, bool, or object for texts, mixed and nested values.

        Numbers of which some are missing are masked arrays. Needs numpy: ImportError without.
        """
        import numpy as np
        return {name: column.numpy(np) for name, column in self._columns.items()}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Whole numbers of which some are missing are of the type Int64. ImportError without pandas."""
        import pandas as pd
        return pd.DataFrame({name: _for_pandas(pd, values) for name, values in self.to_numpy().items()}, columns=list(self.columns))

    def to_polars(self) -> Any:
        """A polars.DataFrame; nested values are of polars' own nested types. ImportError without polars."""
        import polars as pl
        return pl.DataFrame([pl.Series(name, column.list(), strict=False) for name, column in self._columns.items()])

    def _shown(self, most: int) -> List[List[str]]:
        cells = [column.list()[:most] for column in self._columns.values()]
        return [[_cell_text(value) for value in row] for row in zip(*cells)]

    def _more(self) -> str:
        rows = len(self)
        return f"{rows:,} row{'' if rows == 1 else 's'}" + (f", the first {_SHOWN_ROWS} shown" if rows > _SHOWN_ROWS else "")

    def __repr__(self) -> str:
        lines = [list(self.columns)] + self._shown(_SHOWN_ROWS)
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        return "\n".join(["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines] + [self._more()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in self._shown(_SHOWN_ROWS))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{self._more()}</p>"


def _for_pandas(pd: Any, values: Any) -> Any:
    mask = getattr(values, "mask", None)
    if mask is None:
        return values
    if values.dtype.kind == "i":
        return pd.arrays.IntegerArray(values.data.copy(), mask.copy())
    return values.astype(object).filled(None) if values.dtype.kind == "b" else values.filled(float("nan"))


def _cell_text(value: Any) -> str:
    text = "" if value is None else f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return text if len(text) <= _SHOWN_LETTERS else text[: _SHOWN_LETTERS - 1] + "\u2026"


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0

    def is_over(self) -> bool:
        return self._at >= len(self._data)

    def _part(self, size: int) -> memoryview:
        part = self._data[self._at:self._at + size]
        if len(part) != size:
            raise ValueError("a table is cut off")
        self._at += (size + 7) // 8 * 8
        return part

    def _numbers(self, count: int) -> Sequence[int]:
        return struct.unpack(f"<{count}Q", self._part(8 * count))

    def table(self) -> Dict[str, _Column]:
        if bytes(self._part(8)) != b"GSCOLS1\n":
            raise ValueError("this is no table of gapscope sql --raw")
        rows, columns = self._numbers(2)
        out: Dict[str, _Column] = {}
        for _ in range(columns):
            name, column = self._column(rows)
            n = 2
            unique = name
            while unique in out:
                unique, n = f"{name}:{n}", n + 1
            out[unique] = column
        return out

    def _column(self, rows: int) -> Tuple[str, _Raw]:
        name_bytes, kind, texts, text_bytes = self._numbers(4)
        name = bytes(self._part(name_bytes)).decode("utf-8", "replace")
        kind, is_tagged = kind & ~_TAGGED, bool(kind & _TAGGED)
        size, letter = {_NULLS: (0, "B"), _INTEGERS: (8, "q"), _REALS: (8, "d"), _TEXTS: (4, "I"), _MIXED: (8, "Q")}.get(kind, (0, ""))
        if not letter:
            raise ValueError(f"a column of the unknown kind {kind}")
        values = self._part(size * rows).cast(letter)
        tags = self._part(rows) if is_tagged else None
        return name, _Raw(kind, rows, values, tags, self._part(8 * texts).cast("Q"), self._part(text_bytes))
