"""Reads a directory of event files with TensorBoard's own reader and prints what it found.

How to run:

    python3 -m venv VENV
    VENV/bin/pip install tensorboard
    VENV/bin/python tools/check_tensorboard.py RUN_DIR/tensorboard

Prints one line per figure: tag, step, value. Exits with 1 if the directory has no event file, if TensorBoard
cannot read one to its end, or if it finds no figure; with 2 on bad usage. A record cut off at the end of a file
is what a killed run leaves behind: it is reported on stderr and is no error.
"""

import pathlib
import sys

from tensorboard.backend.event_processing import event_file_loader
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def check_files(directory):
    """Reads every file by itself: the accumulator below would pass over a damaged one in silence."""
    files = sorted(directory.rglob("*tfevents*"))
    if not files:
        sys.exit(f"error: no event file in {directory}")
    for file in files:
        # The loader stops without a word at a record whose checksum is wrong, so what it has read is counted.
        read = 0
        try:
            for record in event_file_loader.RawEventFileLoader(str(file)).Load():
                read += len(record) + 16  # 8 length + 4 sum + 4 sum
        except Exception as error:
            sys.exit(f"error: {file}: {error}")
        rest = file.stat().st_size - read
        if rest and is_cut_off(file.read_bytes()[read:]):
            print(f"note: {file}: {rest} bytes of a record cut off at the end", file=sys.stderr)
        elif rest:
            sys.exit(f"error: {file}: unreadable from byte {read}, {rest} bytes before its end")
        print(f"# {file.name}: {read} bytes read")


def is_cut_off(tail):
    """Whether these bytes are the beginning of one record."""
    return len(tail) < 12 or len(tail) < int.from_bytes(tail[:8], "little") + 16


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    directory = pathlib.Path(sys.argv[1])
    check_files(directory)

    # 0: keep every event rather than a sample.
    accumulator = EventAccumulator(str(directory), size_guidance={"scalars": 0, "tensors": 0})
    accumulator.Reload()
    tags = accumulator.Tags()
    found = 0
    for tag in sorted(tags["scalars"]):
        for event in accumulator.Scalars(tag):
            print(f"{tag}\t{event.step}\t{event.value!r}")
            found += 1
    for tag in sorted(tags["tensors"]):
        for event in accumulator.Tensors(tag):
            texts = [text.decode() for text in event.tensor_proto.string_val]
            print(f"{tag}\t{event.step}\t{texts}")
    if not found:
        sys.exit(f"error: {directory}: no figure found")


if __name__ == "__main__":
    main()
