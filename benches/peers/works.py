"""What is measured, and its data, which come from a seed."""

import array
import dataclasses
import itertools
import json
import pathlib
import random

from models import BASE, CAPTION, CLASSIFY, CURRENT, DIGITS, PREVIOUS, SMALL, SPELLER, Model, transformer

END = 2
SPECIALS = 5
# Translations that are drawn for each token of a shortlist's table; some come twice.
TRANSLATIONS = 100


@dataclasses.dataclass(frozen=True)
class Work:
    """One thing to measure."""

    name: str
    title: str
    kind: str  # train, decode, classify, hear, cold
    model: Model
    rows: int = 64  # sentences, images or recordings of a batch or call
    source: int = 24  # tokens, the end among them; frames of a recording, or its seconds if it is to be heard
    target: int = 24  # tokens to learn from or to write
    real: bool = False  # lengths that differ, in batches of as many tokens
    captions: int = 0  # of every image
    beam: int = 1
    listed: bool = False  # Gatto with a shortlist beside Gatto without; tokens and list by Zipf's law
    threads: int | None = None  # of every side; the best of each if not given

    @property
    def tokens(self):
        """Tokens written by a call."""
        return self.rows * self.target


def training(name, title, model, **more):
    fixed = Work(name, f"{title}, 64 × 24 → 24", "train", model, **more)
    lengths = "batches of at most 1536 tokens, lengths 10 to 60"
    return [fixed, Work(f"{name}r", f"{title}, {lengths}", "train", model, real=True, **more)]


def decoding(name, title, model, sizes=(1, 8, 32), **more):
    return [
        Work(name, f"{title}, batch {rows}, {'greedy' if beam == 1 else f'beam {beam}'}", "decode", model,
             rows=rows, target=30, beam=beam, **more)
        for beam in (1, 5) for rows in sizes
    ]


def images():
    network = "residual network 32, 64, 128 on 64 × 64 × 3"
    vit = "ViT of 4 layers, width 96, patches of 4 on 28 × 28"
    captioner = f"{network}, LSTM 256, additive attention"
    return [
        *(Work("W5", f"train {network}, {rows} images", "train", CLASSIFY, rows=rows) for rows in (32, 64)),
        Work("W6", f"train {captioner}, 32 images × 5 captions of 14 tokens", "train", CAPTION,
             rows=32, captions=5, target=14),
        Work("W7", f"train {vit}, 128 images", "train", DIGITS, rows=128),
        Work("W8", f"classify 10,000 images, {vit}", "classify", DIGITS, rows=10_000),
    ]


def sounds():
    listener = "pyramid of 3 BiLSTMs of 128, LSTM 192, additive attention"
    return [
        Work("W9", f"train {listener}, 32 × 300 frames → 24", "train", SPELLER, rows=32, source=300),
        Work("W9r", f"train {listener}, 32 recordings of 100 to 500 frames", "train", SPELLER, rows=32, source=500,
             real=True),
        Work("W10", f"transcribe 8 recordings of 4 s one by one, {listener}, greedy, 24 characters, one thread", "hear",
             SPELLER, rows=8, source=4, threads=1),
    ]


def works():
    small = "Transformer 3+3, width 256, vocabulary 8000"
    base = "Transformer 6+6, width 512, vocabulary 32000"
    lstm = "BiLSTM 256×2 → LSTM 512, additive attention"
    return [
        *training("W1", f"train {small}", SMALL),
        *training("W2", f"train {lstm} asked by the previous state", PREVIOUS),
        *training("W2c", f"train {lstm} asked by the current state", CURRENT),
        *decoding("W3", f"decode {small}, 24 → 30", SMALL),
        *decoding("W3b", f"decode {base}, 24 → 30", BASE),
        *decoding("W3s", f"decode {base}, 24 → 30, with a shortlist of about 1000 tokens", BASE, listed=True),
        *decoding("W4", f"decode {lstm} asked by the previous state, 24 → 30", PREVIOUS, sizes=(1, 32)),
        *images(),
        *sounds(),
        Work("cold", f"process start to first translation, {small}", "cold", SMALL, rows=1, target=30),
        Work("cold", f"process start to first translation, {base}", "cold", BASE, rows=1, target=30),
    ]


def growth():
    """How cost grows with one size at a time."""
    found = []
    for length in (16, 32, 64, 128, 256, 512):
        rows = 2048 // length
        found.append(Work("length", f"train W1's model, {rows} × {length} → {length}", "train", SMALL,
                          rows=rows, source=length, target=length))
    for length in (16, 32, 64, 128, 256, 512):
        title = f"decode W1's model, batch 8, 24 → {length}"
        found.append(Work("written", title, "decode", SMALL, rows=8, target=length))
    for rows in (1, 2, 4, 8, 16, 32, 64, 128):
        title = f"decode W1's model, batch {rows}, 24 → 30"
        found.append(Work("batch", title, "decode", SMALL, rows=rows, target=30))
    for size in (1000, 4000, 16000, 64000):
        model = transformer(f"small-{size}", vocabulary=size)
        found.append(Work("vocabulary", f"train W1's model with {size} tokens", "train", model))
        title = f"decode W1's model with {size} tokens, batch 8, 24 → 30"
        found.append(Work("vocabulary", title, "decode", model, rows=8, target=30))
    for threads in (1, 2):
        for model, name in ((SMALL, "W1"), (PREVIOUS, "W2")):
            found.append(Work("threads", f"train {name}, threads: {threads}", "train", model, threads=threads))
            title = f"decode {name}'s model, batch 32, 24 → 30, threads: {threads}"
            found.append(Work("threads", title, "decode", model, rows=32, target=30, threads=threads))
    return found


def sentence(dice, vocabulary, tokens):
    return [dice.randrange(SPECIALS, vocabulary) for _ in range(tokens)]


def zipf_rows(dice, vocabulary, rows, tokens):
    """Rows of tokens by Zipf's law: the r-th behind the specials is r times as rare as the first."""
    shares = list(itertools.accumulate(1 / rank for rank in range(1, vocabulary - SPECIALS + 1)))
    return [dice.choices(range(SPECIALS, vocabulary), cum_weights=shares, k=tokens) for _ in range(rows)]


def translations(vocabulary):
    """The table of a shortlist: what each token may become. Specials become nothing."""
    drawn = zipf_rows(random.Random(19), vocabulary, vocabulary - SPECIALS, TRANSLATIONS)
    return [[] for _ in range(SPECIALS)] + drawn


def real_lengths(dice):
    """Tokens of a source and its target without their ends: most sentences have 10 to 30."""
    source = min(max(round(dice.lognormvariate(2.95, 0.5)), 2), 59)
    return source, min(max(round(source * dice.gauss(1.0, 0.12)), 2), 59)


def real_batches(dice, vocabulary, count=6, tokens=1536):
    """Batches of sentences of similar length, with no more tokens than W1's, padding included."""
    pairs = sorted((real_lengths(dice) for _ in range(1000)), key=lambda pair: (max(pair), pair))
    batches, batch = [], []
    for pair in pairs:
        if (len(batch) + 1) * (max(pair) + 1) > tokens:
            batches.append(batch)
            batch = []
        batch.append(pair)
    chosen = [batches[round((place + 0.5) * len(batches) / count)] for place in range(count)]
    for batch in chosen:
        dice.shuffle(batch)
    return [[[sentence(dice, vocabulary, pair[side]) for pair in batch] for side in (0, 1)] for batch in chosen]


def training_data(work):
    dice = random.Random(7)
    vocabulary = work.model.vocabulary
    if work.real:
        batches = real_batches(dice, vocabulary)
    else:
        batches = [[[sentence(dice, vocabulary, length - 1) for _ in range(work.rows)]
                    for length in (work.source, work.target)] for _ in range(3)]
    ended = [[[row + [END] for row in side] for side in batch] for batch in batches]
    return [{"source": source, "target": target} for source, target in ended]


def decoding_data(work):
    dice = random.Random(11)
    calls = 4 if work.rows == 1 else 1
    if work.listed:
        return [zipf_rows(dice, work.model.vocabulary, work.rows, work.source - 1) for _ in range(calls)]
    return [[sentence(dice, work.model.vocabulary, work.source - 1) for _ in range(work.rows)] for _ in range(calls)]


def image_data(work):
    """How many images each batch or call has, and what is true of them: labels, or captions one behind the other; and
    the bytes of all images, one after the other."""
    dice = random.Random(13)
    height, width, channels = work.model.image
    data = []
    for _ in range(3 if work.kind == "train" else 1):
        if work.captions:
            rows = [sentence(dice, work.model.vocabulary, work.target - 1) for _ in range(work.rows * work.captions)]
            target = [row + [END] for row in rows]
        else:
            target = [[dice.randrange(work.model.labels)] for _ in range(work.rows)]
        data.append({"images": work.rows, "target": target})
    return data, dice.randbytes(len(data) * work.rows * height * width * channels)


def sound_data(work):
    """The frames of each recording of a batch and what is said in it, and all frames as numbers of four bytes; or how many
    samples each recording of a call has, and these samples."""
    dice = random.Random(17)
    sound = work.model.sound
    if work.kind == "hear":
        samples = work.source * sound["rate"]
        noise = array.array("f", (dice.uniform(-0.5, 0.5) for _ in range(work.rows * samples)))
        return [{"samples": [samples] * work.rows}], noise
    data = []
    for _ in range(3):
        # In a batch are recordings of similar length.
        longest = dice.randrange(200, work.source + 1)
        lengths = [dice.randrange(longest // 2, longest + 1) if work.real else work.source for _ in range(work.rows)]
        target = [sentence(dice, work.model.vocabulary, max(length * work.target // work.source, 2) - 1) + [END]
                  for length in lengths]
        data.append({"lengths": lengths, "target": target})
    count = sum(sum(batch["lengths"]) for batch in data) * sound["features"]["bands"]
    return data, array.array("f", (dice.gauss(0.0, 1.0) for _ in range(count)))


def write_data(work, folder: pathlib.Path):
    """The data of a work in a file that every side reads; the bytes of images or sounds are in one beside it, and so is
    the table of a shortlist."""
    if work.model.sound:
        path = folder / f"{work.kind}-{work.model.name}-{work.rows}{'-real' if work.real else ''}.json"
        data, values = sound_data(work)
        path.with_suffix(".values").write_bytes(values.tobytes())
        path.write_text(json.dumps(data), encoding="utf-8")
        return path
    if work.model.image:
        path = folder / f"{work.kind}-{work.model.name}-{work.rows}.json"
        data, pixels = image_data(work)
        path.with_suffix(".pixels").write_bytes(pixels)
        path.write_text(json.dumps(data), encoding="utf-8")
        return path
    shape = f"{work.model.vocabulary}-{work.rows}x{work.source}-{work.target}"
    path = folder / f"{work.kind}-{shape}{'-real' if work.real else ''}{'-listed' if work.listed else ''}.json"
    data = training_data(work) if work.kind == "train" else decoding_data(work)
    if work.listed:
        path.with_suffix(".table").write_text(json.dumps(translations(work.model.vocabulary)), encoding="utf-8")
    path.write_text(json.dumps(data), encoding="utf-8")
    return path
