"""Finds the program and runs it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any, cast

from ._errors import GauzeError, Interrupted, of_outcome, public_part, wrong
from ._terminal import tell

_ENDS = ("released", "no-release", "refused", "error")


def find() -> str:
    """The program: GAUZE_BINARY, the one in this package, or one on the PATH."""
    if named := os.environ.get("GAUZE_BINARY"):
        if not os.path.isfile(named):
            raise wrong("GAUZE_BINARY", "the program gauze", f"{named!r}, which is no file", "unset it for the one in the wheel")
        return named
    inside = Path(__file__).parent / "bin" / ("gauze.exe" if os.name == "nt" else "gauze")
    if inside.is_file():
        return str(inside)
    if found := shutil.which("gauze"):
        return found
    raise wrong("the program gauze", "it in this package or on the PATH", "neither",
                "install a wheel, or go install github.com/gauze-dp/gauze/cmd/gauze@latest")


def run(
    arguments: list[str], stdin: bytes | Iterable[bytes | memoryview] = b"", *, environment: Mapping[str, str] | None = None,
    told: Callable[[str, float], None] | None = None, notes: bool = False,
) -> bytes:
    """Runs the program and returns its output.

    What the program says of rows goes to standard error and is dropped: neither what is returned
    nor an exception, its context and the frames of its traceback included, holds any of it. notes:
    whether to say what is no error, such as how many rows were read. told is called, from another
    thread, with what the program has done and the part of the budget that is spent.

    Rows go through a pipe and touch no disk. If they cannot be made to the end, or the keyboard
    interrupts, the program never sees an end of them: part of a table is never fitted.
    """
    child = subprocess.Popen(
        [find(), *arguments, "--json", *([] if told is None else ["--progress", "plain"])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        env={**os.environ, **environment} if environment else None, **_apart(),
    )
    assert child.stdin and child.stdout and child.stderr
    answer: list[list[bytes]] = [[], []]
    readers = [_reader(child.stdout, answer[0]), _reader(child.stderr, answer[1], told)]
    try:
        _feed(child.stdin, [stdin] if isinstance(stdin, bytes) else stdin)
        _wait(child)
    except KeyboardInterrupt:
        _interrupt(child)
        raise Interrupted(_heard(child, readers, answer[1], notes).get("spent")) from None
    except BaseException:
        _interrupt(child)  # and not killed: what a ledger has reserved is given back
        _heard(child, readers, answer[1], notes)
        raise
    finally:
        try:
            child.stdin.close()
        except OSError:
            pass
    outcome = _heard(child, readers, answer[1], notes)
    if child.returncode != 0:
        raise of_outcome(child.returncode, outcome)
    return b"".join(answer[0])


def _heard(child: subprocess.Popen[bytes], readers: list[threading.Thread], said: list[bytes], notes: bool) -> dict[str, Any]:
    """Waits for all that the program says, tells the terminal what is for it, empties said, and returns what is public of the outcome."""
    for thread in readers:
        thread.join()
    text = b"".join(said).decode(errors="replace")
    said.clear()
    outcome = _outcome(text)
    if notes:
        tell(outcome.get("notes", []))
    if not outcome and child.returncode != 0:
        outcome = {"message": text.strip()}
    return public_part(outcome, child.returncode)


def _apart() -> dict[str, Any]:
    # A terminal sends its signal to the whole group, and a second one would end the program before
    # it can say what was spent: it gets a group of its own, and the signal from here, once.
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _wait(child: subprocess.Popen[bytes]) -> None:
    # Never for long in one call: where a library (polars does) handles signals so that calls of the
    # system are restarted, Python would hear of an interruption only when the program has ended.
    while child.poll() is None:
        try:
            child.wait(timeout=1)  # which itself sleeps at most 50 ms at a time
        except subprocess.TimeoutExpired:
            continue


def _interrupt(child: subprocess.Popen[bytes]) -> None:
    """Asks the program to stop and waits for it; a second interruption ends it at once."""
    try:
        if sys.platform == "win32":
            child.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            child.send_signal(signal.SIGINT)
        _wait(child)
    except KeyboardInterrupt:
        child.kill()
        child.wait()


def _feed(pipe: IO[bytes], pieces: Iterable[bytes | memoryview]) -> None:
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[pipe.write(rest) :]  # it may take less than all
        pipe.close()
    except (BrokenPipeError, ConnectionError):
        pass  # the program has ended, and says why
    except OSError:
        if os.name != "nt":  # where a broken pipe is EINVAL
            raise


def _reader(pipe: IO[bytes], answer: list[bytes], told: Callable[[str, float], None] | None = None) -> threading.Thread:
    def read() -> None:
        with pipe:
            if told is None:
                answer.append(pipe.read())
                return
            for line in io.BufferedReader(cast(io.RawIOBase, pipe)):
                answer.append(line)
                done = _object(line)
                if "progress" in done:
                    told(str(done["progress"]), float(done.get("spent", 0)))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _outcome(text: str) -> dict[str, Any]:
    """Returns the last object of what the program wrote to standard error, {} if there is none."""
    for line in reversed(text.splitlines()):
        found = _object(line)
        if found.get("outcome") in _ENDS:
            return found
    return {}


def _object(text: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


__all__ = ["GauzeError", "find", "run"]
