"""The models of the works: Gatto's configurations, which the peers read too. Keys that a peer needs are all there."""

import dataclasses
import tomllib

TRANSFORMER = """\
task = "translate"
seed = 1

[data]
builtin = "copy"

[tokens]
kind = "word"
size = {vocabulary}

[encoder.transformer]
width = {width}
layers = {layers}
heads = {heads}
feed_forward = {inner}
dropout = 0.1
attention_dropout = 0.1
activation_dropout = 0.1

[decoder.transformer]
width = {width}
layers = {layers}
heads = {heads}
feed_forward = {inner}
dropout = 0.1
attention_dropout = 0.1
activation_dropout = 0.1

[sharing]
embeddings = true
output = true
"""

RECURRENT = """\
task = "translate"
seed = 1

[data]
builtin = "copy"

[tokens]
kind = "word"
size = {vocabulary}

[encoder.lstm]
width = 256
embedding = 256
bidirectional = true
dropout = 0.1

[attention]
score = "additive"
width = 512
query = "{query}"

[decoder.lstm]
width = 512
embedding = 256
output = 1024
dropout = 0.1
"""

TRAINING = """
[train]
batch_examples = 64
max_length = 2048
learning_rate = 1e-4
label_smoothing = 0.1
clip = 1.0

[search]
min_length = 29
max_length = 30
"""

# What reads images of 64 × 64 pixels in `configs/count-shapes.toml` and `configs/caption-soft.toml`.
CNN = """
[images]
height = 64
width = 64
channels = 3

[encoder.cnn]
channels = [32, 64, 128]
blocks = 1
stem_stride = 2
groups = 8
positions = "learned"
"""

CLASSIFIER = """\
task = "classify"
seed = 1

[data]
builtin = "shapes"
asked = "count"
""" + CNN + """
[head]
pooling = "mean"

[train]
learning_rate = 1e-4
clip = 1.0
"""

CAPTIONER = """\
task = "caption"
seed = 1

[data]
builtin = "shapes"

[tokens]
kind = "word"
size = 70
""" + CNN + """
[attention]
score = "additive"
width = 128
query = "current"
gate = true
deep_output = true

[decoder.lstm]
width = 256
embedding = 128
bridge = "first-state"

[train]
captions = 5
learning_rate = 1e-4
clip = 1.0
"""

# `configs/vit-mnist.toml` without its changes to images, which are made ahead of training.
VIT = """\
task = "classify"
seed = 1

[data]
train = { idx = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"] }

[images]
height = 28
width = 28
channels = 1

[encoder.vit]
patch = 4
width = 96
layers = 4
heads = 4
feed_forward = 384
positions = "learned"
class_token = true

[head]
dropout = 0.1

[train]
optimiser = "adamw"
weight_decay = 0.05
learning_rate = 1e-4
label_smoothing = 0.05
clip = 1.0
"""

# What listens and spells in `configs/digits-las.toml`, without its changes to recordings, which are made ahead of training.
LISTENER = """\
task = "transcribe"
seed = 1

[data]
builtin = "melodies"

[sound]
rate = 8000
normalisation = "utterance"

[sound.features]
window = 32.0
hop = 10.0
bands = 40

[tokens]
kind = "word"
size = 32

[encoder.listener]
cell = "lstm"
width = 128
layers = 3
pyramid = 2
dropout = 0.2

[attention]
score = "additive"
width = 128
query = "previous"

[decoder.lstm]
width = 192
embedding = 32
bridge = "attention-only"

[train]
learning_rate = 1e-4
label_smoothing = 0.1
clip = 1.0
max_seconds = 30

[search]
min_length = 23
max_length = 24
"""


@dataclasses.dataclass(frozen=True)
class Model:
    """A configuration by a name."""

    name: str
    text: str
    labels: int | None = None  # that it tells apart, if it does

    @property
    def config(self):
        return tomllib.loads(self.text)

    @property
    def vocabulary(self):
        return self.config["tokens"]["size"]

    @property
    def recurrent(self):
        return "lstm" in self.config["encoder"]

    @property
    def convolves(self):
        return "cnn" in self.config["encoder"]

    @property
    def image(self):
        """Height, width and channels of what it reads; none for a model that reads tokens."""
        images = self.config.get("images")
        return images and (images["height"], images["width"], images["channels"])

    @property
    def sound(self):
        """What it reads of a recording; none for a model that does not hear."""
        return self.config.get("sound")


def transformer(name="small", vocabulary=8000, width=256, layers=3, heads=4, inner=1024):
    sizes = dict(vocabulary=vocabulary, width=width, layers=layers, heads=heads, inner=inner)
    return Model(name, TRANSFORMER.format(**sizes) + TRAINING)


def recurrent(query, vocabulary=8000):
    return Model(f"recurrent-{query}", RECURRENT.format(query=query, vocabulary=vocabulary) + TRAINING)


SMALL = transformer()
BASE = transformer("base", vocabulary=32000, width=512, layers=6, heads=8, inner=2048)
# The state before a step asks and the context enters the cell (Bahdanau et al., 2015), or the state behind it asks.
PREVIOUS, CURRENT = recurrent("previous"), recurrent("current")
CLASSIFY = Model("residual", CLASSIFIER, labels=5)
CAPTION = Model("captioner", CAPTIONER)
DIGITS = Model("vit", VIT, labels=10)
SPELLER = Model("listener", LISTENER)
