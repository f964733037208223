"""Reference values for sound: log-mel features by librosa, and encoded files as libsndfile writes and reads them.

How to run (outside the tree, a few seconds; any CPU will do):

    python3 -m venv VENV
    VENV/bin/pip install librosa numpy soundfile
    VENV/bin/python tools/golden_sound.py                # writes tests/golden/sound.json

What is in the file, by key:

    clips     name -> whole numbers of 16 bits; a sample is a number divided by 32768
    features  for each case: clip, rate, samples of window, hop and transform (`window`, `hop`, `transform`), `bands`, `lowest`,
              `highest` in Hz, `scale` (slaney or htk), `even` (norm="slaney"), `floor`, and `values`, flat [T, C], the
              natural logarithm of power; computed in double precision
    deltas    of the first case: `first` and `second`, flat [T, C]: librosa's slope over five frames, of the values and of the
              slopes, with the ends repeated
    normal    of the first case: values with the mean of each band over time taken off, divided by the deviation
    files     for each format: `rate`, `channels`, `bytes` in hexadecimal, and `decoded` by libsndfile, mixed to one channel,
              as 32768ths

Everything is made from formulas and a fixed seed.
"""

import importlib.metadata
import io
import json
import pathlib

import librosa
import numpy as np
import soundfile

RATE = 16_000


def clip(rate, seconds, seed):
    """A rising tone, a steady one with harmonics, some noise, and silence at the end."""
    count = int(rate * seconds)
    time = np.arange(count) / rate
    rising = np.sin(2 * np.pi * (200 * time + (rate * 0.4 - 200) / (2 * seconds) * time**2))
    steady = sum(np.sin(2 * np.pi * 330 * k * time) / k for k in range(1, 5))
    noise = np.random.default_rng(seed).normal(size=count)
    fading = np.clip(1.5 - 2 * time / seconds, 0, 1)
    mixed = 0.3 * rising * fading + 0.15 * steady * fading + 0.003 * noise * (time < 0.8 * seconds)
    return np.round(np.clip(mixed, -1, 1) * 32767).astype(np.int16)


def features(samples, rate, window, hop, transform, bands, lowest, highest, scale, even, floor):
    power = np.abs(
        librosa.stft(
            samples, n_fft=transform, hop_length=hop, win_length=window, window="hann", center=True, pad_mode="reflect"
        )
    ) ** 2
    filters = librosa.filters.mel(
        sr=rate,
        n_fft=transform,
        n_mels=bands,
        fmin=lowest,
        fmax=highest,
        htk=scale == "htk",
        norm="slaney" if even else None,
        dtype=np.float64,
    )
    return np.log(np.maximum(filters @ power, floor))  # [C, T]


def rounded(values):
    return [float(f"{value:.7g}") for value in np.asarray(values).ravel()]


def encoded(name, samples, rate, **options):
    out = io.BytesIO()
    soundfile.write(out, samples, rate, **options)
    decoded, _ = soundfile.read(io.BytesIO(out.getvalue()), dtype="float64", always_2d=True)
    return {
        "name": name,
        "rate": rate,
        "channels": decoded.shape[1],
        "bytes": out.getvalue().hex(),
        "decoded": [round(float(value), 1) for value in decoded.mean(axis=1) * 32768],
    }


def main():
    clips = {"long": clip(RATE, 0.3, 1), "low": clip(8_000, 0.4, 2), "short": clip(8_000, 0.012, 3)}
    settings = [
        dict(clip="long", rate=RATE, window=400, hop=160, transform=512, bands=80, scale="slaney", even=True),
        dict(clip="long", rate=RATE, window=400, hop=160, transform=400, bands=40, scale="htk", even=False),
        dict(clip="low", rate=8_000, window=200, hop=80, transform=512, bands=40, scale="htk", even=True,
             lowest=80.0, highest=3_600.0),
        dict(clip="low", rate=8_000, window=250, hop=90, transform=300, bands=23, scale="slaney", even=False,
             lowest=20.0, floor=1e-4),
        # Shorter than the window: mirrored again and again.
        dict(clip="short", rate=8_000, window=512, hop=40, transform=512, bands=20, scale="slaney", even=True),
    ]
    cases = []
    for case in settings:
        case = {"lowest": 0.0, "highest": case["rate"] / 2, "floor": 1e-10} | case
        arguments = {key: value for key, value in case.items() if key != "clip"}
        values = features(clips[case["clip"]] / 32768.0, **arguments)
        cases.append(case | {"values": rounded(values.T)})
        if len(cases) == 1:
            first = librosa.feature.delta(values, width=5, order=1, mode="nearest")
            second = librosa.feature.delta(first, width=5, order=1, mode="nearest")
            normal = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    short = clip(RATE, 0.12, 4) / 32768.0
    stereo = np.stack([short, -0.5 * short[::-1]], axis=1)
    files = [
        encoded("wav-8", short[:150], RATE, format="WAV", subtype="PCM_U8"),
        encoded("wav-16", stereo[:150], 44_100, format="WAV", subtype="PCM_16"),
        encoded("wav-24", stereo[:150], RATE, format="WAV", subtype="PCM_24"),
        encoded("wav-32", short[:150], 48_000, format="WAV", subtype="PCM_32"),
        encoded("wav-float", short[:150], RATE, format="WAV", subtype="FLOAT"),
        encoded("wav-double", short[:150], RATE, format="WAV", subtype="DOUBLE"),
        encoded("wav-ulaw", short[:150], 8_000, format="WAV", subtype="ULAW"),
        encoded("wav-extensible", stereo[:150], RATE, format="WAVEX", subtype="PCM_24"),
        encoded("flac-16", short, RATE, format="FLAC", subtype="PCM_16"),
        encoded("flac-24", stereo, RATE, format="FLAC", subtype="PCM_24"),
        encoded("ogg", short, RATE, format="OGG", subtype="VORBIS"),
        encoded("mp3", short, RATE, format="MP3", subtype="MPEG_LAYER_III"),
    ]
    golden = {
        "made_by": {name: importlib.metadata.version(name) for name in ("librosa", "numpy", "soundfile")},
        "clips": {name: samples.tolist() for name, samples in clips.items()},
        "features": cases,
        "deltas": {"first": rounded(first.T), "second": rounded(second.T)},
        "normal": rounded(normal.T),
        "files": files,
    }
    path = pathlib.Path(__file__).parent.parent / "tests" / "golden" / "sound.json"
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
