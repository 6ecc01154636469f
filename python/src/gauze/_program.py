"""Finds the program and runs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from ._errors import GauzeError, Interrupted, of_outcome, wrong

_ENDS = ("released", "no-release", "error")


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


def run(arguments: list[str], stdin: bytes | Iterable[bytes] = b"") -> tuple[bytes, dict[str, Any]]:
    """Runs the program and returns its output and outcome ({} if it writes none).

    Rows go through a pipe and touch no disk. If they cannot be made to the end, or the keyboard
    interrupts, the program never sees an end of them: part of a table is never fitted.
    """
    child = subprocess.Popen(
        [find(), *arguments, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **_apart()
    )
    assert child.stdin and child.stdout and child.stderr
    answer: list[bytes] = [b"", b""]
    readers = [_reader(child.stdout, answer, 0), _reader(child.stderr, answer, 1)]
    try:
        _feed(child.stdin, [stdin] if isinstance(stdin, bytes) else stdin)
        _wait(child)
    except KeyboardInterrupt:
        _interrupt(child)
        _join(readers)
        raise Interrupted(_outcome(answer[1]).get("spent")) from None
    except BaseException:
        _interrupt(child)  # and not killed: what a ledger has reserved is given back
        raise
    finally:
        try:
            child.stdin.close()
        except OSError:
            pass
    _join(readers)
    outcome = _outcome(answer[1])
    if child.returncode != 0:
        if not outcome:
            outcome = {"message": answer[1].decode(errors="replace").strip() or f"the program ended with code {child.returncode}"}
        raise of_outcome(child.returncode, outcome)
    return answer[0], outcome


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


def _feed(pipe: IO[bytes], pieces: Iterable[bytes]) -> None:
    try:
        for piece in pieces:
            pipe.write(piece)
        pipe.close()
    except (BrokenPipeError, ConnectionError):
        pass  # the program has ended, and says why
    except OSError:
        if os.name != "nt":  # where a broken pipe is EINVAL
            raise


def _reader(pipe: IO[bytes], answer: list[bytes], place: int) -> threading.Thread:
    def read() -> None:
        answer[place] = pipe.read()
        pipe.close()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _join(readers: list[threading.Thread]) -> None:
    for thread in readers:
        thread.join()


def _outcome(text: bytes) -> dict[str, Any]:
    """The last object of what the program wrote to its terminal."""
    for line in reversed(text.decode(errors="replace").splitlines()):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and found.get("outcome") in _ENDS:
            return found
    return {}


__all__ = ["GauzeError", "find", "run"]
