"""The talk between `compare.py` and a peer, the same as that of `crates/gatto/examples/peers.rs`."""

import json
import resource
import sys
import time


def settings():
    """What the driver wants, from the file that the first argument names."""
    return read(sys.argv[1])


def held():
    """The most memory that this process ever held. Asked for when libraries are loaded and no more, it is what they
    alone take."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def tell(message):
    print(json.dumps(message), flush=True)


def rounds(count, seconds, call, before):
    """Makes a call for each piece of data, again and again, in rounds that are asked for by a line. The first pass
    warms up; its results, and what the process held `before` it had a model, go with the word that all is ready."""
    tell({"ready": [call(piece) for piece in range(count)], "before_bytes": before})
    for _ in sys.stdin:
        begun, times = time.perf_counter(), []
        while not times or time.perf_counter() - begun < seconds:
            for piece in range(count):
                start = time.perf_counter()
                call(piece)
                times.append(time.perf_counter() - start)
        tell({"seconds": times})
