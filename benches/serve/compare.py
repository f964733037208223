#!/usr/bin/env python3
"""`gatto serve` under load, beside CTranslate2 behind uvicorn with the same model, in turns, on this machine.

    python3 benches/serve/compare.py                     64 clients, five rounds of ten seconds for each side
    python3 benches/serve/compare.py --width 256 --layers 3      a larger model
    python3 benches/serve/compare.py --hostile 16 --minutes 10   our side alone, with hostile clients among the others

Trains a small Transformer on the built-in phrases once, makes a virtual environment with the peer in a folder outside the
tree (that of `benches/peers`), builds Gatto, and prints a Markdown table on standard output; everything else goes to
standard error. The client, `crates/serve/examples/load.rs`, compares every answer with what `gatto predict` says; the
peer's must be the same texts too. Needs Python 3.11, Linux and, the first time, a network.
"""

import argparse
import contextlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

import environment  # noqa: E402

CONFIG = """\
task = "translate"
seed = 1
[data]
builtin = "phrases"
[tokens]
kind = "word"
size = 8000
[encoder.transformer]
width = {width}
layers = {layers}
heads = 4
feed_forward = {inner}
[decoder.transformer]
width = {width}
layers = {layers}
heads = 4
feed_forward = {inner}
[sharing]
embeddings = true
output = true
[train]
steps = 1000
batch_tokens = 2048
learning_rate = 1e-3
warmup = 50
validate_every = 250
valid_examples = 100
[search]
beam = 1
max_length = 60
"""
SOURCES = 2000


def say(text):
    print(text, file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--width", type=int, default=128, help="of the Transformer")
    parser.add_argument("--layers", type=int, default=2, help="of its encoder, and of its decoder")
    parser.add_argument("--seconds", type=float, default=10.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hostile", type=int, default=0, help="hostile clients; then our side runs alone")
    parser.add_argument("--minutes", type=float, help="one long round in place of several")
    parser.add_argument("--threads", type=int, default=environment.cores())
    parser.add_argument("--cache", type=pathlib.Path, default=environment.cache())
    parser.add_argument("--no-build", action="store_true")
    return parser.parse_args()


def place(options):
    """Where a model of this size is kept."""
    return options.cache / f"serve-{options.width}-{options.layers}"


def prepared(options):
    """Programs, a trained model, sources and what they must become."""
    if not options.no_build:
        # The whole workspace is named, so that dependencies keep their features and nothing is compiled twice.
        build = ["cargo", "build", "--release", "--workspace", "--bin", "gatto", "--example", "load"]
        subprocess.run(build, cwd=environment.ROOT, check=True)
    gatto, peers = environment.programs()
    folder = place(options)
    folder.mkdir(parents=True, exist_ok=True)
    model, config = folder / "run", folder / "config.toml"
    if not (model / "model.safetensors").exists():
        say("training the model")
        sizes = dict(width=options.width, layers=options.layers, inner=4 * options.width)
        config.write_text(CONFIG.format(**sizes), encoding="utf-8")
        subprocess.run([gatto, "train", config, "--out", model], check=True)
    sources, expected = folder / "sources.txt", folder / "expected.txt"
    if not sources.exists():
        sources.write_text("".join(line + "\n" for line in phrases()), encoding="utf-8")
    with open(sources, "rb") as given, open(expected, "wb") as found:
        subprocess.run([gatto, "predict", model], stdin=given, stdout=found, check=True)
    return gatto, peers.parent / "load", model, sources, expected


def phrases():
    """Sentences of different lengths, from words that the model knows."""
    nouns = ["cat", "dog", "house", "table", "woman", "man", "book", "apple", "child", "garden"]
    verbs = ["sees", "eats", "has", "reads", "finds"]
    made = []
    for number in range(SOURCES):
        pick = lambda words, salt: words[(number * 31 + salt * 17 + number // 7) % len(words)]  # noqa: E731
        sentence = f"the {pick(nouns, 1)} {pick(verbs, 2)} the {pick(nouns, 3)}"
        for extra in range(number % 4):
            sentence += f" and the {pick(nouns, 4 + extra)}"
        made.append(sentence)
    return made


@contextlib.contextmanager
def ours(gatto, model, threads):
    command = [gatto, "serve", f"model={model}", "--listen", "127.0.0.1:0", "--threads", str(threads),
               "--log-level", "warn"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip().removeprefix("http://")
        yield process, address, "/v1/predict", "/answers/0/text"
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def peer(python, model, folder, threads):
    converted, made = folder / "ctranslate2", folder / "ctranslate2" / "made"
    if not made.exists() or made.stat().st_mtime < (model / "model.safetensors").stat().st_mtime:
        script = HERE.parent / "peers" / "ctranslate2_decode.py"
        subprocess.run([python, script, "convert", model, "float32", converted], check=True)
        made.touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"PEER_MODEL": str(converted), "PEER_TOKENIZER": str(model / "tokenizer.json"),
                "PEER_THREADS": str(threads), "PEER_LENGTH": "60"}
    command = [python, "-m", "uvicorn", "peer:app", "--app-dir", HERE, "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(command, env={**os.environ, **settings})
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                request = urllib.request.Request(f"http://127.0.0.1:{port}/predict", b'{"text": "the cat"}')
                urllib.request.urlopen(request)
                break
            time.sleep(0.1)
        yield process, f"127.0.0.1:{port}", "/predict", "/text"
    finally:
        process.terminate()
        process.wait()


def memory(process):
    """The memory that a process holds, in MiB."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")


@contextlib.contextmanager
def watched(process, every=15.0):
    """The memory of a process while something is done, once in so many seconds: a list that grows."""
    found, done = [], threading.Event()

    def watch():
        while not done.wait(every):
            found.append(round(memory(process)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()


def loaded(load, side, sources, expected, options, seconds):
    _, address, path, answer = side
    command = [load, address, path, answer, sources, expected, str(options.clients), str(seconds), str(options.hostile)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    options = arguments()
    gatto, load, model, sources, expected = prepared(options)
    folder = place(options)
    if options.hostile or options.minutes:
        with ours(gatto, model, options.threads) as side:
            loaded(load, side, sources, expected, options, 5)
            with watched(side[0]) as held:
                found = loaded(load, side, sources, expected, options, (options.minutes or 1) * 60)
            found["memory_mib_every_15_s"] = held
            print(json.dumps(found, indent=2))
            return
    python = environment.install(options.cache / "venv", say)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uvicorn"], check=True)
    rounds = {"Gatto": [], "CTranslate2": []}
    with ours(gatto, model, options.threads) as mine, peer(python, model, folder, options.threads) as theirs:
        for side in (mine, theirs):
            loaded(load, side, sources, expected, options, 2)  # warm
        for number in range(options.rounds):
            say(f"round {number + 1}")
            for name, side in (("Gatto", mine), ("CTranslate2", theirs)):
                rounds[name].append(loaded(load, side, sources, expected, options, options.seconds))
    middle = {
        name: {key: statistics.median(one[key] for one in found) for key in ("per_second", "p50_ms", "p99_ms")}
        for name, found in rounds.items()
    }
    print(f"{options.clients} clients, {options.threads} threads, medians of {options.rounds} rounds\n")
    print("| | answers per second | p50 in ms | p99 in ms | wrong |\n|---|---|---|---|---|")
    for name, found in middle.items():
        wrong = sum(one["wrong"] + one["broken"] + one["refused"] for one in rounds[name])
        print(f"| {name} | {found['per_second']:.0f} | {found['p50_ms']:.1f} | {found['p99_ms']:.1f} | {wrong} |")
    ratio = middle["Gatto"]["per_second"] / middle["CTranslate2"]["per_second"]
    print(f"\nthroughput {ratio:.2f} × the peer's, p99 {middle['Gatto']['p99_ms'] / middle['CTranslate2']['p99_ms']:.2f} ×")


if __name__ == "__main__":
    main()
