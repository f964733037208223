"""Reference values from sacreBLEU for BLEU, chrF, TER, their signatures, intervals and paired tests.

How to run (outside the tree, half a minute):

    python3 -m venv VENV
    VENV/bin/pip install sacrebleu==2.6.0
    VENV/bin/python tools/golden_metrics.py              # writes tests/golden/metrics_translation.json

The texts are made up here. `references` has a list for each line, with null where a reference is missing; a case
takes the first of each (`one`), the first two of which the second is never missing (`two`), or all (`var`).
Cases name the metric, the arguments of sacreBLEU's class, the system and the references:

    tokens      a text, as each tokenizer of BLEU and each setting of TER parts it
    corpora     score of the corpus, the line that is printed, the signature long and short
    sentences   score of each line alone
    confidence  mean and half width by bootstrap resampling, the line that is printed with them, the signature
    paired      `bs` or `ar`: score, mean and half width of baseline and system, p-value, the signature

Numbers are as Python prints them, which gives every double back.
"""

import functools
import itertools
import json
import logging
import pathlib
import random
import sys

import numpy
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.significance import PairedTest
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

# The same lines are compared in many cases, and the longest take seconds.
edit_rate = functools.lru_cache(maxsize=None)(sacrebleu.metrics.ter.translation_edit_rate)
sacrebleu.metrics.ter.translation_edit_rate = lambda hypothesis, reference: edit_rate(tuple(hypothesis), tuple(reference))

METRICS = {"bleu": BLEU, "chrf": CHRF, "ter": TER}
TOKENIZERS = ("13a", "intl", "char", "zh", "none")
SMOOTHINGS = ("exp", "floor", "add-k", "none")

# ---------------------------------------------------------------- texts

# Three references, then what two systems made of it.
LINES = [
    ("The cat is on the table.", "There is a cat on the table.", "A cat sits on the table.", "The cat is on the table.", "The cat on table is."),
    ("It is raining, so we stay at home.", "Because it rains, we stay home.", None, "It rains, so we stay at home.", "We stay at home, it is raining so."),
    ("Prices rose by 3.5% to $1,299.00 in 2023.", "In 2023, prices rose 3.5 % to $1,299.00.", None, "Prices rose 3.5% to $1,299 in 2023.", "Price 3,5 % rise to 1.299 dollars at 2023."),
    ("\"Well-known\" authors (e.g. Ms. Rossi) don't agree.", "Authors who are well known, such as Ms. Rossi, do not agree.", "Known authors, e.g. Ms. Rossi, don't agree.", "\"Well known\" authors (e.g. Ms. Rossi) do not agree.", "&quot;Well-known&quot; authors ( e.g. Ms. Rossi ) don &apos;t agree ."),
    ("AT&T and R&D are written with &.", "AT&amp;T and R&amp;D are written with &amp;.", None, "AT&amp;T and R&amp;D are written with &amp;.", "AT & T and R & D are written with an ampersand."),
    ("Yes.", "Yes!", "Indeed.", "Yes.", "No."),
    ("No", "Nope", None, "No", "Not"),
    ("", "", None, "", "Something where nothing should be"),
    ("Nothing came of it.", "It came to nothing.", None, "", "   \t "),
    (" \t ", "white space", None, "   ", "white space"),
    ("A", "B", "C", "C", "D"),
    ("猫在桌子上，不在地上。", "那只猫在桌子上。", None, "猫在桌子上，不在地面上。", "桌子上的猫不在地上."),
    ("猫はテーブルの上にいます。", "ネコがテーブルの上にいる。", "テーブルの上に猫がいます。", "猫はテーブルの上にいる。", "テーブル の 上 に ネコ います"),
    ("これはペンです・あれは本です（古い）！", "ｱﾚは「本」です｡", None, "これはペンです・あれは本です！", "あれは本です。これはペン（古い）です？"),
    ("Ciò che è successo è già passato: perché piangere?", "Quel che è stato è stato; perché piangere?", None, "Cio\u0300 che e\u0300 successo e\u0300 passato: perché piangere?", "Cosa è successo è passato, perché piange?"),
    ("I ❤️ this 😀 so much… 👩‍👩‍👧 really!", "I love ❤️ this so much 😀", None, "I ❤️ this 😀 so much... really!", "I 😀 ❤️ this much 👩‍👩‍👧 so"),
    ("STOP SHOUTING AT ME, PLEASE!", "Please stop shouting at me!", None, "Stop shouting at me, please!", "PLEASE AT ME STOP SHOUTING"),
    ("The state-of-the-art 20-year-old x-ray costs 5-6 euros.", "A 20-year-old x-ray, state of the art, costs 5–6 euros.", None, "The state of the art 20-year-old x-ray costs 5 - 6 euros.", "x-ray 20 - year - old of the state-of-the-art cost 5-6 €."),
    ("Straße, Ärger, Œuvre, İstanbul, ΟΔΟΣ.", "STRASSE, ÄRGER, ŒUVRE, ISTANBUL, ΟΔΌΣ.", None, "strasse, ärger, œuvre, istanbul, οδος.", "Strasse Ärger Œuvre İstanbul οδός"),
    ("a.b,c..d,,e 1.2,3..4,,5 -6 7-8 9- .", "a . b , c . . d", None, "a.b,c..d,,e 1.2,3..4,,5 -6 7-8 9-.", "a.b.c.d.e 1.2.3.4.5"),
    ("<b>bold</b> [list] {set} `code` ~ ^ | \\ _ = + * # @", "bold list set code", None, "<b>bold</b> [list] {set} `code` ~ ^ | \\ _", "< b > bold [ list ] code <skipped> @"),
    ("the the the the a a a b b", "the a b the a b the a b", "a the b", "the a the a the a b the b", "b b b b b the the"),
    ("she gave the book to him yesterday in the old library", "yesterday in the old library she gave him the book", "she gave him the book yesterday in the library", "yesterday she gave to him the book in the old library", "in the old library yesterday to him the book gave she"),
    ("one two three four five six seven eight nine ten eleven twelve", "twelve eleven ten nine eight seven six five four three two one", None, "seven eight nine ten eleven twelve one two three four five six", "twelve one eleven two ten three nine four eight five seven six"),
    ("The dog's bone and the dogs' bones were John's.", "John's were the dog's bone and the dogs' bones.", None, "The dogs bone and the dog's bones were John's", "Bone of dog and bones of dogs was of John's."),
    ("He said: «Это хорошо», then left; “why?” nobody knew — not even I‚ he'd say‹!›", "He said „This is good“ and left.", None, "He said: \"Это хорошо\", then left; \"why?\" nobody knew - not even I.", "Это «хорошо», he said and left; nobody knew why —"),
]  # fmt: skip

# Texts that tell tokenizers apart.
TRICKY = [
    "", " ", "a", ".", "..", "...", ". .", ",.,.", "a.", ".a", "1.", ".1", "1.2", "1..2", "a..b", "1,000.50", "x,1,y", "5-6", "-5", "5--6",
    "a-b 7-b", "don't", "it's", "it's ok", "'s", "x's", "&amp;quot;", "&amp;lt;b&gt;", "&AMP;", "& amp;", "<skipped>a<skipped>", "end-\nof\nline", "a\n-b",
    "a\u00a0b\u2003c\u3000d", "a\u001cb\u0085c\u2028d\u200be", "(a)[b]{c}<d>", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "50€ £3 ¥4 ±5 ×6 °C ©", "½.5 ٣,٤ Ⅷ-x",
    "«a» „b“ ‘c’ …d—e–f‐g", "中文，标点。１２３！", "中a文b", "日本語のテキスト・です「はい」", "ﾊﾝｶｸ｡｢ｶﾅ｣", "㈱㍻豈︰⺀㇀㐀", "𠀀𪛖𫠝", "한국어 텍스트.", "→x←y ☃z ✂", "e\u0301.e\u0301,",
    "😀😀 👍🏽.", "A.B.C. U.S.A.", "www.example.com/a?b=c&d=e", "x@y.z", "#tag_1", "10:30", "1/2", "a_b", "İI ıi ẞß ΑΣ ΑΣΑ",
]  # fmt: skip


def noisy(draw, words):
    """The words with one in five lost, moved or replaced."""
    words = list(words)
    for _ in range(len(words) // 5):
        at = draw.randrange(len(words))
        word = words.pop(at)
        kind = draw.choice(("lost", "moved", "replaced"))
        if kind == "moved":
            words.insert(draw.randrange(len(words) + 1), word)
        elif kind == "replaced":
            words.insert(at, draw.choice(words))
    return words


def texts():
    draw = random.Random(7)
    lines = list(LINES)
    vocabulary = "la casa il gatto un cane che e di non sul tavolo mare sole vento ; , . 12 alto".split()
    for length in (9, 15, 24, 31, 60, 110):
        words = [draw.choice(vocabulary) for _ in range(length)]
        others = [" ".join(noisy(draw, words)) for _ in range(4)]
        lines.append((" ".join(words), others[0], None, others[1], " ".join(noisy(draw, others[2].split())) + " fine"))
    references = [list(line[:3]) for line in lines]
    systems = {"close": [line[3] for line in lines], "far": [line[4] for line in lines]}
    return references, systems


REFERENCES, SYSTEMS = texts()


def streams(kind):
    """References as sacreBLEU takes them."""
    count = {"one": 1, "two": 2, "var": 3}[kind]
    return [[line[at] for line in REFERENCES] for at in range(count)]


# ---------------------------------------------------------------- cases


def combinations(**choices):
    return [dict(zip(choices, values)) for values in itertools.product(*choices.values())]


BOTH = (False, True)
BLEU_CASES = combinations(tokenize=TOKENIZERS, smooth_method=SMOOTHINGS, lowercase=BOTH, effective_order=BOTH)
BLEU_EXTRA = [
    {"smooth_method": "floor", "smooth_value": 0.01, "effective_order": True},
    {"smooth_method": "add-k", "smooth_value": 0.5},
    {"max_ngram_order": 1},
    {"max_ngram_order": 7, "tokenize": "char"},
]
CHRF_CASES = combinations(word_order=(0, 2), lowercase=BOTH, whitespace=BOTH, eps_smoothing=BOTH)
CHRF_EXTRA = [
    {"char_order": 3, "beta": 1},
    {"char_order": 8, "word_order": 1, "beta": 3},
    {"char_order": 0, "word_order": 3},
    {"char_order": 1, "beta": 0, "eps_smoothing": True},
]
TER_CASES = combinations(normalized=BOTH, no_punct=BOTH, asian_support=BOTH, case_sensitive=BOTH)


def tokens():
    cases = []
    for text in TRICKY:
        case = {"text": text}
        for name in TOKENIZERS:
            case[name] = " ".join(_get_tokenizer(name)()(text.rstrip()).split())
        for normalized, no_punct, asian_support in itertools.product(BOTH, BOTH, BOTH):
            name = "ter" + "-norm" * normalized + "-nopunct" * no_punct + "-asian" * asian_support
            prepare = TercomTokenizer(normalized=normalized, no_punct=no_punct, asian_support=asian_support)
            case[name] = prepare(text.rstrip())
        cases.append(case)
    return cases


def corpus(metric, args, system, references):
    made = METRICS[metric](**args)
    score = made.corpus_score(SYSTEMS[system], streams(references))
    signature = made.get_signature()
    return {
        "metric": metric, "args": args, "system": system, "references": references, "score": score.score,
        "text": score.format(), "signature": signature.format(), "short": signature.format(short=True),
    }  # fmt: skip


def corpora():
    cases = []
    for metric, all_args in (("bleu", BLEU_CASES), ("chrf", CHRF_CASES), ("ter", TER_CASES)):
        cases += [corpus(metric, args, "close", "one") for args in all_args]
        cases += [corpus(metric, args, "far", "var") for args in all_args]
    for metric, all_args in (("bleu", BLEU_EXTRA + [{}]), ("chrf", CHRF_EXTRA + [{}]), ("ter", [{}])):
        for args, system, references in itertools.product(all_args, SYSTEMS, ("one", "two", "var")):
            cases.append(corpus(metric, args, system, references))
    return cases


def sentences():
    bleu = [args for args in BLEU_CASES if not args["lowercase"] and (args["effective_order"] or args["tokenize"] == "13a")]
    cases = []
    for metric, all_args in (("bleu", bleu + BLEU_EXTRA), ("chrf", CHRF_CASES[::3] + CHRF_EXTRA), ("ter", TER_CASES)):
        for number, args in enumerate(all_args):
            system, references = ("close", "far")[number % 2], ("var", "one", "two")[number % 3]
            made = METRICS[metric](**args)
            several = zip(*streams(references))
            scores = [
                made.sentence_score(line, [text for text in texts if text is not None]).score
                for line, texts in zip(SYSTEMS[system], several)
            ]
            cases.append({"metric": metric, "args": args, "system": system, "references": references, "scores": scores})
    return cases


TESTED = [
    ("bleu", {}),
    ("bleu", {"smooth_method": "floor", "lowercase": True}),
    ("bleu", {"smooth_method": "add-k", "tokenize": "intl"}),
    ("bleu", {"smooth_method": "none", "effective_order": True, "tokenize": "zh"}),
    ("chrf", {}),
    ("chrf", {"word_order": 2, "eps_smoothing": True}),
    ("ter", {}),
    ("ter", {"normalized": True, "asian_support": True}),
]


def confidence():
    cases = []
    for (metric, args), references, samples in itertools.product(TESTED, ("one", "two", "var"), (30, 1000)):
        if references == "two" and samples == 1000:
            continue
        made = METRICS[metric](**args)
        score = made.corpus_score(SYSTEMS["close"], streams(references), n_bootstrap=samples)
        signature = made.get_signature()
        cases.append(
            {
                "metric": metric, "args": args, "system": "close", "references": references, "samples": samples,
                "mean": float(score._mean), "half_width": float(score._ci),
                "text": score.format(signature=signature.format()), "short": signature.format(short=True),
            }  # fmt: skip
        )
    return cases


def paired():
    # The second system of a pair is the baseline with a few lines of the other, so that not all differences are large.
    mixed = [close if at % 3 else far for at, (close, far) in enumerate(zip(SYSTEMS["close"], SYSTEMS["far"]))]
    pairs = {"far": SYSTEMS["far"], "mixed": mixed, "close": SYSTEMS["close"]}
    cases = []
    for (metric, args), system, (kind, samples, ar_samples) in itertools.product(
        TESTED, pairs, (("bs", 300, -1), ("ar", 500, -1), ("ar", 200, 100))
    ):
        made = METRICS[metric](**args)
        test = PairedTest(
            [("baseline", SYSTEMS["close"]), ("system", pairs[system])], {"metric": made}, streams("two"),
            test_type=kind, n_samples=samples, n_ar_confidence=ar_samples,
        )  # fmt: skip
        signatures, scores = test()
        (name,) = signatures
        sides = [[side.score, side.mean, side.ci] for side in scores[name]]
        cases.append(
            {
                "metric": metric, "args": args, "system": system, "references": "two", "test": kind, "samples": samples,
                "ar_samples": ar_samples, "baseline": floats(sides[0]), "compared": floats(sides[1]),
                "p_value": float(scores[name][1].p_value), "signature": signatures[name].format(),
            }  # fmt: skip
        )
    return {"mixed": mixed, "cases": cases}


def floats(values):
    return [None if value is None else float(value) for value in values]


# ---------------------------------------------------------------- writing


def one_per_line(items):
    return "[\n" + ",\n".join("  " + json.dumps(item, ensure_ascii=False, allow_nan=False) for item in items) + "\n ]"


def main():
    logging.disable(logging.WARNING)
    default = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    test = paired()
    parts = {
        "made_by": json.dumps(f"tools/golden_metrics.py, sacreBLEU {sacrebleu.__version__}, NumPy {numpy.__version__}"),
        "version": json.dumps(sacrebleu.__version__),
        "references": one_per_line(REFERENCES),
        "close": one_per_line(SYSTEMS["close"]),
        "far": one_per_line(SYSTEMS["far"]),
        "mixed": one_per_line(test["mixed"]),
        "tokens": one_per_line(tokens()),
        "corpora": one_per_line(corpora()),
        "sentences": one_per_line(sentences()),
        "confidence": one_per_line(confidence()),
        "paired": one_per_line(test["cases"]),
    }
    path = folder / "metrics_translation.json"
    path.write_text("{\n" + ",\n".join(f' "{name}": {text}' for name, text in parts.items()) + "\n}\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
