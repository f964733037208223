"""Who is compared: for each work our side and its peers, each with the settings that it may choose from."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from environment import cores

HERE = pathlib.Path(__file__).resolve().parent
# What `gatto` can compute with.
OUR_PRECISIONS = ("float32", "int8")
# glibc asks the system for every large tensor anew, and gives it back; so it keeps them.
MALLOC_TUNED = {
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}
# Threads that wait would take a core from the side whose turn it is.
SETTLE = 0.3


@dataclasses.dataclass
class Side:
    """A program, and the settings from which the fastest is taken: pairs of a description and values."""

    name: str
    command: list
    settings: list
    precision: str = "float32"
    environment: dict = dataclasses.field(default_factory=dict)

    @property
    def ours(self):
        return self.name == "Gatto"


class Failed(Exception):
    """A side did not do its work."""


class Running:
    """A side at work: it says when it is ready, and makes a round whenever it is asked."""

    def __init__(self, side, values, folder):
        name = "".join(letter if letter.isalnum() else "-" for letter in f"{side.name}-{side.precision}")
        path, self.log = folder / f"{name}.json", folder / f"{name}.log"
        path.write_text(json.dumps(values), encoding="utf-8")
        self.side = side
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*map(str, side.command), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                env=environment(side), text=True, cwd=HERE,
            )
        self.peak = None
        told = self.answer()
        self.ready, self.before = told["ready"], told.get("before_bytes", 0)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.stop()
            raise Failed(f"{self.side.name}: {self.log.read_text(errors='replace')[-2000:]}")
        return json.loads(line)

    def round(self):
        """Seconds of a call, on average over a round."""
        time.sleep(SETTLE)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds = self.answer()["seconds"]
        return sum(seconds) / len(seconds)

    def stop(self):
        """Ends it, and gives the most memory that it ever held, in bytes."""
        if self.peak is None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.peak = end_of(self.process)
        return self.peak

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def end_of(process):
    """Waits for a process, and gives the most memory that it ever held, in bytes."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * 1024


def environment(side):
    """That of the driver without what would decide on threads or memory."""
    decided = ("OMP_", "KMP_", "MKL_", "MALLOC_", "MIMALLOC_", "LD_PRELOAD", "RAYON_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(decided)}
    return kept | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"} | side.environment


def threads_text(count):
    return f"{count} thread{'s' if count > 1 else ''}"


class Cast:
    """All sides, with the programs and models that they need."""

    def __init__(self, peers, gatto, python, folder, compiled):
        self.peers, self.gatto, self.python, self.folder, self.compiled = peers, gatto, python, folder, compiled

    def model(self, model):
        """The run directory of a model, made if it is not there."""
        config = self.folder / f"{model.name}.toml"
        directory = self.folder / model.name
        made = directory / "config.toml"  # written last
        if not made.exists() or made.read_text(encoding="utf-8") != model.text:
            config.write_text(model.text, encoding="utf-8")
            labels = [str(model.labels)] if model.labels else []
            subprocess.run([self.peers, "save", config, directory, *labels], check=True)
        return directory

    def quantised(self, model):
        """The same in eight bits, as CTranslate2 has its own."""
        ours, directory = self.model(model), self.folder / f"{model.name}-int8"
        weights = directory / "model.safetensors"
        if not weights.exists() or weights.stat().st_mtime < (ours / "model.safetensors").stat().st_mtime:
            shutil.rmtree(directory, ignore_errors=True)
            subprocess.run([self.gatto, "quantize", ours, "-o", directory], check=True, stdout=subprocess.DEVNULL)
        return directory

    def converted(self, model, script, *more):
        """The model of a peer, made of ours."""
        ours = self.model(model)
        directory = self.folder / "-".join([model.name, script, *more])
        made = directory / "made"
        if not made.exists() or made.stat().st_mtime < (ours / "model.safetensors").stat().st_mtime:
            command = [self.python, HERE / f"{script}_decode.py", "convert", ours, *more, directory]
            subprocess.run(command, check=True, cwd=HERE, stderr=subprocess.DEVNULL)
            made.touch()
        return directory

    def of(self, work, data, seconds):
        """The sides of a work that is done in rounds."""
        base = {"data": str(data), "seconds": seconds}
        kinds = {"train": self.training, "decode": self.decoding, "classify": self.classifying, "hear": self.hearing}
        sides = kinds[work.kind](work, base)
        if work.threads is not None:
            for side in sides:
                side.settings = [pair for pair in side.settings if pair[1]["threads"] == work.threads]
        return [side for side in sides if side.settings]

    def training(self, work, base):
        directory = self.model(work.model)
        ours = base | {"config": str(directory / "config.toml"), "labels": work.model.labels}
        theirs = base | {"model": str(directory)}
        counts = sorted({1, cores(), work.threads or 1}, reverse=True)
        formats = (False, True) if work.model.convolves else (False,)
        choices = [
            (f"{threads_text(count)}, {adam} Adam{', channels last' if last else ''}",
             theirs | {"threads": count, "adam": adam, "channels_last": last})
            for count in counts for adam in ("fused", "foreach") if adam == "fused" or count == counts[0]
            for last in formats
        ]
        torch = [self.python, HERE / "torch_train.py"]
        sides = [
            Side("Gatto", [self.peers, "train"], [(threads_text(n), ours | {"threads": n}) for n in counts]),
            Side("PyTorch as installed", torch, choices),
            Side("PyTorch, malloc tuned", torch, choices, environment=MALLOC_TUNED),
        ]
        if self.compiled and not work.real:
            compiled = [(f"{text}, compiled", values | {"compile": True}) for text, values in choices[:1]]
            sides.append(Side("PyTorch compiled, malloc tuned", torch, compiled, environment=MALLOC_TUNED))
        return sides

    def decoding(self, work, base):
        base = base | {"beam": work.beam, "length": work.target, "together": work.rows}
        counts = sorted({1, cores(), work.threads or 1}, reverse=True)
        alone = [(threads_text(count), {"threads": count}) for count in counts]
        directory = str(self.model(work.model))
        # Sentences together on all threads, or a part of them on each.
        ours = list(alone)
        theirs = [(threads_text(count), {"threads": count, "inter": 1, "intra": count}) for count in counts]
        for count in counts:
            if 1 < count <= work.rows:
                part = -(-work.rows // count)
                ours.insert(0, (f"{count} × {part} sentences", {"threads": count, "together": part}))
                theirs.append((f"{count} × {part} sentences",
                               {"threads": count, "inter": count, "intra": 1, "together": part}))

        def gatto(name, shortlist):
            there = base | {"model": directory, "shortlist": shortlist}
            return [
                Side(name, [self.peers, "decode"],
                     [(text, there | {"precision": precision} | values) for text, values in ours],
                     precision)
                for precision in OUR_PRECISIONS
            ]

        if work.listed:
            table = pathlib.Path(base["data"]).with_suffix(".table")
            subprocess.run([self.peers, "shortlist", table, directory], check=True)
            # What is without a list stands where peers do, so that ratios are what the list gains.
            return [*gatto("Gatto", True), *gatto("Gatto without a list", False)]
        sides = gatto("Gatto", False)
        if work.model.recurrent:
            settings = [(text, base | {"model": directory} | values) for text, values in alone]
            return [*sides, Side("PyTorch", [self.python, HERE / "torch_decode.py"], settings)]
        for precision in ("float32", "int8"):
            there = base | {"model": str(self.converted(work.model, "ctranslate2", precision)),
                            "precision": precision, "vocabulary": work.model.vocabulary}
            sides.append(Side("CTranslate2", [self.python, HERE / "ctranslate2_decode.py"],
                              [(text, there | values) for text, values in theirs], precision))
        there = base | {"model": str(self.converted(work.model, "huggingface"))}
        settings = [(text, there | values) for text, values in alone]
        return [*sides, Side("Hugging Face", [self.python, HERE / "huggingface_decode.py"], settings)]

    def classifying(self, work, base):
        base = base | {"model": str(self.model(work.model))}
        count = work.threads or cores()
        sides = [
            Side("Gatto", [self.peers, "classify"],
                 [(f"{threads_text(count)}, {size} together",
                   base | {"threads": count, "together": size, "precision": precision}) for size in (16, 32, 64, 128)],
                 precision)
            for precision in OUR_PRECISIONS
        ]
        # All threads on each part of the images, or a part on each; with and without the fused layer of PyTorch.
        choices = [
            (f"{hands} × {size} images{'' if fast else ', no fast path'}",
             base | {"threads": count, "hands": hands, "together": size, "fast": fast})
            for hands in sorted({1, count}) for size in (32, 128, 512) for fast in (True, False)
        ]
        torch = [self.python, HERE / "torch_classify.py"]
        sides.append(Side("PyTorch as installed", torch, choices))
        sides.append(Side("PyTorch, malloc tuned", torch, choices, environment=MALLOC_TUNED))
        if self.compiled:
            compiled = [(f"{text}, compiled", values | {"compile": True})
                        for text, values in choices if values["hands"] == 1 and not values["fast"]]
            sides.append(Side("PyTorch compiled, malloc tuned", torch, compiled, environment=MALLOC_TUNED))
        return sides

    def hearing(self, work, base):
        base = base | {"model": str(self.model(work.model)), "length": work.target}
        counts = sorted({1, cores(), work.threads or 1}, reverse=True)
        settings = [(threads_text(count), base | {"threads": count}) for count in counts]
        torch = [self.python, HERE / "torch_hear.py"]
        return [
            Side("Gatto", [self.peers, "hear"], settings),
            Side("PyTorch as installed", torch, settings),
            Side("PyTorch, malloc tuned", torch, settings, environment=MALLOC_TUNED),
        ]

    def cold(self, work):
        """Each side as a command that reads one line and writes its translation."""
        length = str(work.target)
        sides = []
        for precision, model in zip(OUR_PRECISIONS, [self.model(work.model), self.quantised(work.model)]):
            sides.append(Side("Gatto", [self.gatto, "predict", model], [], precision))
        for precision in ("float32", "int8"):
            model = self.converted(work.model, "ctranslate2", precision)
            command = [self.python, HERE / "ctranslate2_decode.py", "first", model, precision, length]
            sides.append(Side("CTranslate2", command, [], precision))
        model = self.converted(work.model, "huggingface")
        sides.append(Side("Hugging Face", [self.python, HERE / "huggingface_decode.py", "first", model, length], []))
        return sides


def first_answer(side, line):
    """Seconds from the start of a process to its first line, and the most memory that it held."""
    start = time.perf_counter()
    process = subprocess.Popen(
        list(map(str, side.command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment(side), text=True, cwd=HERE,
    )
    process.stdin.write(line + "\n")
    process.stdin.close()
    answer = process.stdout.readline()
    seconds = time.perf_counter() - start
    process.stdout.close()
    peak = end_of(process)
    if process.returncode != 0 or not answer:
        raise Failed(f"{side.name}: {' '.join(map(str, side.command))} ended with {process.returncode}")
    return seconds, peak


def say(text):
    print(text, file=sys.stderr, flush=True)
