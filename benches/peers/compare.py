#!/usr/bin/env python3
"""Gatto beside PyTorch, CTranslate2 and Hugging Face on the same work, in turns, on this machine.

    python3 benches/peers/compare.py                        everything
    python3 benches/peers/compare.py --works W1,W2          some of it: W1 W2 W2c W3 W3b W3s W4 W5 … W10 cold
    python3 benches/peers/compare.py --works W3s            Gatto with a shortlist beside Gatto without; needs no peers
    python3 benches/peers/compare.py --works W5,W6,W7,W8    what reads images: training, and labels of 10,000
    python3 benches/peers/compare.py --works W9,W10         what hears: training, and transcripts
    python3 benches/peers/compare.py --quick                a look at the order of magnitude
    python3 benches/peers/compare.py --growth               how cost grows with lengths, batch, vocabulary, threads

Makes a virtual environment with the peers and all that it needs in a folder outside the tree, builds Gatto, and prints
Markdown tables on standard output; everything else goes to standard error. Every side first chooses the fastest of its
settings. Then all of them stay loaded and take turns, round after round. What each work is stands in `works.py`, what
its model is in `models.py`, and both in the chapter on performance of the book. Needs Python 3.11, Linux and, the first
time, a network.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics

import environment
import table
import works
from sides import Cast, Failed, Running, first_answer, say

# Rounds of each setting before one is chosen: with a single one, whatever else the machine does may choose.
TRIALS = 3
SECONDS = {"train": 3.0, "decode": 1.0, "classify": 1.0, "hear": 1.0}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--works", help="names, with commas between them")
    parser.add_argument("--growth", action="store_true", help="the works that show how cost grows, and no others")
    parser.add_argument("--rounds", type=int, help="turns of every side (7; with --growth 3)")
    parser.add_argument("--quick", action="store_true", help="two short rounds, with the first setting of every side")
    parser.add_argument("--compile", action="store_true", help="also torch.compile, which needs a C++ compiler")
    parser.add_argument("--cache", type=pathlib.Path, default=environment.cache(), help="where to keep what is made")
    parser.add_argument("--venv", type=pathlib.Path, help="an environment to use instead of the one in the cache")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they were built last")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="a file for all figures, as JSON")
    return parser.parse_args()


def chosen(options):
    """The works that are asked for."""
    everything = works.growth() if options.growth else works.works()
    if not options.works:
        return everything
    names = options.works.split(",")
    # A name stands for its batches of real lengths too.
    found = [work for work in everything if work.name in names or work.real and work.name.removesuffix("r") in names]
    known = dict.fromkeys(work.name for work in everything)
    for name in names:
        if name not in known:
            raise SystemExit(f"error: there is no work {name}; known are {', '.join(known)}")
    return found


def fastest(side, folder, quick):
    """The setting that a side is fastest with, from the best of a few rounds of each."""
    if quick or len(side.settings) == 1:
        return side.settings[0]
    times = []
    for _, values in side.settings:
        with Running(side, values, folder) as running:
            times.append(min(running.round() for _ in range(TRIALS)))
    return side.settings[times.index(min(times))]


def measured(work, cast, options):
    """The rows of a work that is done in rounds."""
    seconds = 0.2 if options.quick else SECONDS[work.kind]
    sides = cast.of(work, works.write_data(work, cast.folder), seconds)
    settings = [fastest(side, cast.folder, options.quick) for side in sides]
    times = [[] for _ in sides]
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(Running(side, values, cast.folder)) for side, (_, values) in zip(sides, settings)
        ]
        for turn in range(options.rounds):
            places = range(len(sides))
            for place in places if turn % 2 == 0 else reversed(places):
                times[place].append(running[place].round())
    rows = []
    for place, side in enumerate(sides):
        row = {"side": side.name, "precision": side.precision, "setting": settings[place][0], "rounds": times[place],
               "seconds": statistics.median(times[place]), "peak_bytes": running[place].peak,
               "before_bytes": running[place].before}
        if not side.ours:
            row["agrees"] = table.agreement(work, running[0].ready, running[place].ready)
        rows.append(row)
    return table.compared(rows)


def cold(work, cast, options):
    """The rows of a work that is a process from its start to its first line."""
    sides = cast.cold(work)
    line = " ".join(f"w{token}" for token in works.decoding_data(work)[0][0])
    for side in sides:
        first_answer(side, line)  # so that all files are in the page cache
    found = [[first_answer(side, line) for side in sides] for _ in range(options.rounds)]
    rows = []
    for place, side in enumerate(sides):
        times = [turn[place][0] for turn in found]
        rows.append({"side": side.name, "precision": side.precision, "setting": "as it comes", "rounds": times,
                     "seconds": statistics.median(times), "peak_bytes": max(turn[place][1] for turn in found)})
    return table.compared(rows)


def main():
    options = arguments()
    options.rounds = options.rounds or (2 if options.quick else 3 if options.growth else 7)
    wanted = chosen(options)
    options.cache.mkdir(parents=True, exist_ok=True)
    # A shortlist is compared with none, and no peer is needed for it.
    alone = all(work.listed for work in wanted)
    python = None if alone else environment.install(options.venv or options.cache / "venv", say).absolute()
    if not options.no_build:
        environment.build(say)
    gatto, peers = environment.programs()
    cast = Cast(peers, gatto, python, options.cache.absolute(), options.compile)
    facts = {"machine": environment.machine(), "versions": environment.versions(python),
             "rounds": options.rounds, "load_before": os.getloadavg()[0]}
    if facts["load_before"] > 0.5:
        say(f"warning: the machine is busy (load {facts['load_before']:.1f}); figures will be noisy")
    for part in ("machine", "versions"):
        print(", ".join(f"{name}: {value}" for name, value in facts[part].items()) + "  ")
    print(f"median of {options.rounds} rounds in turns; load before: {facts['load_before']:.2f}", flush=True)
    results = []
    for work in wanted:
        say(f"{work.name}: {work.title}")
        try:
            rows = (cold if work.kind == "cold" else measured)(work, cast, options)
        except Failed as failure:
            say(f"error: {failure}")
            continue
        results.append((work, rows))
        print(table.block(work, rows), flush=True)
        if options.output:
            found = [{"name": it.name, "title": it.title, "kind": it.kind, "rows": rows} for it, rows in results]
            options.output.write_text(json.dumps(facts | {"works": found}, indent=1) + "\n", encoding="utf-8")
    print(table.summary(results))


if __name__ == "__main__":
    main()
