"""The talk between `compare.py` and a peer, the same as that of `crates/gatto/examples/peers.rs`."""

import json
import sys
import time


def settings():
    """What the driver wants, from the file that the first argument names."""
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def tell(message):
    print(json.dumps(message), flush=True)


def rounds(count, seconds, call):
    """Makes a call for each piece of data, again and again, in rounds that are asked for by a line. The first pass
    warms up, and its results go with the word that all is ready."""
    tell({"ready": [call(piece) for piece in range(count)]})
    for _ in sys.stdin:
        begun, times = time.perf_counter(), []
        while not times or time.perf_counter() - begun < seconds:
            for piece in range(count):
                start = time.perf_counter()
                call(piece)
                times.append(time.perf_counter() - start)
        tell({"seconds": times})
