"""Where processes find each other that no `mpirun` has started: a table of words, for MPICH's own start.

MPICH's processes ask a process manager who they are, put their addresses into its table, and look others' up there
(PMI-1, a line for each request). This is such a table, as `launchers` starts beside the first process:

    python rendezvous.py PORT SIZE

It ends when all have gone, or if not all have come within a minute.

Source: P. Balaji, D. Buntinas, D. Goodell, W. Gropp, J. Krishna, E. Lusk, R. Thakur, PMI: a scalable parallel
process-management interface for extreme-scale systems, EuroMPI 2010.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

PATIENCE, MOMENT = 60.0, 0.5
"""Seconds in which all must have come, and after which it is looked whether all have gone."""

Say = Callable[[str], None]

FIXED = {
    "init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
    "get_maxes": "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=4096",
    "get_appnum": "cmd=appnum appnum=0",
    "get_my_kvsname": "cmd=my_kvsname kvsname=all",
    "finalize": "cmd=finalize_ack rc=0",
}
"""Answers that never change."""


class Table:
    """The words, and who waits for all others.  size: how many processes there are.  came, went: how many of them."""

    def __init__(self, size: int) -> None:
        self.size, self.words, self.waiting, self.lock = size, dict[str, str](), list[Say](), threading.Lock()
        self.came = self.went = 0

    def answer(self, line: str, say: Say) -> None:
        """Answer a request, or keep who has made it waiting."""
        asked = dict(word.split("=", 1) for word in line.split() if "=" in word)
        command = asked.get("cmd", "")
        if command == "initack":
            with self.lock:
                self.came += 1
            say("cmd=initack rc=0")
            for name, value in (("size", self.size), ("rank", int(asked["pmiid"])), ("debug", 0)):
                say(f"cmd=set {name}={value}")
        elif command == "get_universe_size":
            say(f"cmd=universe_size size={self.size}")
        elif command == "put":
            with self.lock:
                self.words[asked["key"]] = line.split("value=", 1)[1]
            say("cmd=put_result rc=0 msg=success")
        elif command == "get":
            with self.lock:
                found = self.words.get(asked["key"])
            known = f"rc=0 msg=success value={found}" if found is not None else "rc=-1 msg=key_not_found value=unknown"
            say(f"cmd=get_result {known}")
        elif command == "barrier_in":
            with self.lock:
                self.waiting.append(say)
                if len(self.waiting) == self.size:
                    for each in self.waiting:
                        each("cmd=barrier_out rc=0")
                    self.waiting.clear()
        elif command in FIXED:
            say(FIXED[command])

    def serve(self, connection: socket.socket) -> None:
        """Answer a process until it has gone."""
        is_process = False
        with connection, connection.makefile("rw", encoding="ascii", newline="\n") as file:

            def say(line: str) -> None:
                file.write(line + "\n")
                file.flush()

            with suppress(OSError):  # of a process that was killed
                for line in file:
                    is_process = True
                    self.answer(line.strip(), say)
        with self.lock:
            self.went += is_process


def main(port: int, size: int) -> None:
    table, end = Table(size), time.monotonic() + PATIENCE
    with socket.create_server(("", port)) as server:
        server.settimeout(MOMENT)
        print("open", flush=True)
        while table.went < size and (table.came == size or time.monotonic() < end):
            with suppress(TimeoutError):
                connection, _ = server.accept()
                threading.Thread(target=table.serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
