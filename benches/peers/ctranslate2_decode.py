"""Translations by CTranslate2: `convert MODEL PRECISION DIRECTORY` makes its model of a run directory with a
Transformer; `first DIRECTORY` translates one line of standard input, with `LENGTH` tokens; else the settings of rounds."""

import sys

import ctranslate2

import rounds

END = "</s>"


def vocabulary(size):
    return ["<pad>", "<s>", END, "<unk>"] + [f"w{token}" for token in range(4, size)]


def convert(model, precision, directory):
    import os

    import numpy
    from ctranslate2.specs import common_spec, transformer_spec

    import weights

    config, found = weights.config(model), weights.weights(model)
    reader, writer = config["encoder"]["transformer"], config["decoder"]["transformer"]
    spec = transformer_spec.TransformerSpec.from_config(
        (reader["layers"], writer["layers"]), reader["heads"], pre_norm=False, activation=common_spec.Activation.RELU
    )

    def linear(part, *names):
        part.weight = numpy.ascontiguousarray(numpy.concatenate([found[f"{name}.weight"] for name in names], 1).T)
        part.bias = numpy.concatenate([found[f"{name}.bias"] for name in names])

    def norm(part, name):
        part.gamma, part.beta = found[f"{name}.scale"], found[f"{name}.shift"]

    def own(part, name):
        linear(part.linear[0], *(f"{name}.attention.{which}" for which in ("query", "key", "value")))
        linear(part.linear[1], f"{name}.attention.output")
        norm(part.layer_norm, f"{name}.attention_norm")

    def feed_forward(part, name):
        linear(part.linear_0, f"{name}.feed_forward.inner")
        linear(part.linear_1, f"{name}.feed_forward.outer")
        norm(part.layer_norm, f"{name}.feed_forward_norm")

    embedding = found["decoder.embedding.weight"]
    positions = weights.sinusoids(1024, reader["width"])
    for number, layer in enumerate(spec.encoder.layer):
        name = f"encoder.stack.layers.{number}"
        own(layer.self_attention, name)
        feed_forward(layer.ffn, name)
    for number, layer in enumerate(spec.decoder.layer):
        name = f"decoder.stack.layers.{number}"
        own(layer.self_attention, name)
        linear(layer.attention.linear[0], f"{name}.cross.query")
        linear(layer.attention.linear[1], f"{name}.cross.key", f"{name}.cross.value")
        linear(layer.attention.linear[2], f"{name}.cross.output")
        norm(layer.attention.layer_norm, f"{name}.cross_norm")
        feed_forward(layer.ffn, name)
    spec.encoder.embeddings[0].weight = embedding
    spec.decoder.embeddings.weight = embedding
    for part in (spec.encoder, spec.decoder):
        part.scale_embeddings = True
        part.position_encodings.encodings = positions
    spec.decoder.projection.weight = embedding
    spec.decoder.projection.bias = found["decoder.output.bias"]
    tokens = vocabulary(len(embedding))
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.validate()
    spec.optimize(quantization=precision)
    os.makedirs(directory, exist_ok=True)
    spec.save(directory)


def translator(directory, precision, **threads):
    return ctranslate2.Translator(directory, device="cpu", compute_type=precision, **threads)


def first(directory, precision, length):
    """Process start to first translation; the threads are CTranslate2's own choice."""
    model = translator(directory, precision)
    found = model.translate_batch(
        [sys.stdin.readline().split() + [END]], beam_size=1, min_decoding_length=length, max_decoding_length=length
    )
    print(" ".join(found[0].hypotheses[0]), flush=True)


def main():
    before, settings = rounds.held(), rounds.settings()
    model = translator(
        settings["model"], settings["precision"], inter_threads=settings["inter"], intra_threads=settings["intra"]
    )
    calls = rounds.read(settings["data"])
    tokens = vocabulary(settings["vocabulary"])
    number_of = {token: number for number, token in enumerate(tokens)}
    calls = [[[tokens[token] for token in row] + [END] for row in call] for call in calls]
    length, beam, together = settings["length"], settings["beam"], settings["together"]

    def translate(number):
        found = model.translate_batch(
            calls[number],
            beam_size=beam,
            min_decoding_length=length,
            max_decoding_length=length,
            max_batch_size=together,
            return_end_token=True,
        )
        return [[number_of[token] for token in result.hypotheses[0]] for result in found]

    rounds.rounds(len(calls), settings["seconds"], translate, before)


if __name__ == "__main__":
    if sys.argv[1] == "convert":
        convert(*sys.argv[2:])
    elif sys.argv[1] == "first":
        first(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
