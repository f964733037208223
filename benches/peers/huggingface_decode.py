"""Translations by `generate` of Hugging Face with a Marian model: `convert MODEL DIRECTORY` makes it of a run directory
with a Transformer; `first DIRECTORY LENGTH` translates one line of standard input; else the settings of rounds."""

import sys

import torch
from transformers import MarianConfig, MarianMTModel

import rounds

PAD, START, END = 0, 1, 2


def convert(directory, to):
    import weights

    config, found = weights.config(directory), weights.weights(directory)
    found = {name: torch.from_numpy(value) for name, value in found.items()}
    settings, size = config["encoder"]["transformer"], config["tokens"]["size"]
    model = MarianMTModel(
        MarianConfig(
            vocab_size=size,
            decoder_vocab_size=size,
            d_model=settings["width"],
            encoder_layers=settings["layers"],
            decoder_layers=config["decoder"]["transformer"]["layers"],
            encoder_attention_heads=settings["heads"],
            decoder_attention_heads=settings["heads"],
            encoder_ffn_dim=settings["feed_forward"],
            decoder_ffn_dim=settings["feed_forward"],
            activation_function="relu",
            scale_embedding=True,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
            max_position_embeddings=512,
            pad_token_id=PAD,
            bos_token_id=START,
            eos_token_id=END,
            forced_eos_token_id=None,
            decoder_start_token_id=START,
        )
    )

    def linear(part, name):
        part.weight.copy_(found[f"{name}.weight"].T)
        part.bias.copy_(found[f"{name}.bias"])

    def norm(part, name):
        part.weight.copy_(found[f"{name}.scale"])
        part.bias.copy_(found[f"{name}.shift"])

    def attention(part, name):
        for ours, theirs in (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj"), ("output", "out_proj")):
            linear(getattr(part, theirs), f"{name}.{ours}")

    def layer(part, name):
        attention(part.self_attn, f"{name}.attention")
        norm(part.self_attn_layer_norm, f"{name}.attention_norm")
        linear(part.fc1, f"{name}.feed_forward.inner")
        linear(part.fc2, f"{name}.feed_forward.outer")
        norm(part.final_layer_norm, f"{name}.feed_forward_norm")

    with torch.no_grad():
        model.model.shared.weight.copy_(found["decoder.embedding.weight"])
        model.final_logits_bias.copy_(found["decoder.output.bias"][None])
        for side in ("encoder", "decoder"):
            for number, part in enumerate(getattr(model.model, side).layers):
                name = f"{side}.stack.layers.{number}"
                layer(part, name)
                if side == "decoder":
                    attention(part.encoder_attn, f"{name}.cross")
                    norm(part.encoder_attn_layer_norm, f"{name}.cross_norm")
    model.save_pretrained(to)


def load(directory):
    """The model with its positions as ours: Marian has all sines before all cosines, and saves neither."""
    model = MarianMTModel.from_pretrained(directory).eval()
    for stack in (model.model.encoder, model.model.decoder):
        positions = stack.embed_positions.weight
        positions.copy_(torch.stack(positions.chunk(2, 1), 2).flatten(1))
    return model


def generate(model, source, beam, length):
    return model.generate(
        source,
        attention_mask=torch.ones_like(source),
        num_beams=beam,
        do_sample=False,
        min_new_tokens=length,
        max_new_tokens=length,
    )


@torch.inference_mode()
def first(directory, length):
    """Process start to first translation; the threads are PyTorch's own choice."""
    model = load(directory)
    source = [int(word.removeprefix("w")) for word in sys.stdin.readline().split()] + [END]
    found = generate(model, torch.tensor([source]), 1, length)
    print(" ".join(f"w{token}" for token in found[0, 1:].tolist()), flush=True)


@torch.inference_mode()
def main():
    before, settings = rounds.held(), rounds.settings()
    torch.set_num_threads(settings["threads"])
    model = load(settings["model"])
    calls = [torch.tensor([row + [END] for row in call]) for call in rounds.read(settings["data"])]

    def translate(number):
        found = generate(model, calls[number], settings["beam"], settings["length"])
        return found[:, 1:].tolist()

    rounds.rounds(len(calls), settings["seconds"], translate, before)


if __name__ == "__main__":
    if sys.argv[1] == "convert":
        convert(*sys.argv[2:])
    elif sys.argv[1] == "first":
        first(sys.argv[2], int(sys.argv[3]))
    else:
        main()
