//! Recurrent encoders, decoders and single networks.

use super::{FILES, LANGUAGE, PAIR, SINGLE, and, check, parse, with};

#[test]
fn the_smallest_configurations_are_accepted() {
    let widest = with(PAIR, "width = 8", "width = 16384");
    for text in [PAIR, SINGLE, LANGUAGE, FILES, &widest] {
        parse(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn models_that_cannot_be_built_are_refused_where_they_stand() {
    let cases: Vec<(String, &str, &str)> = vec![
        // Sizes, of each part.
        (
            with(PAIR, "width = 8", "width = 0"),
            "5:1",
            "`encoder.lstm.width` is 0; write a number from 1 to 16384",
        ),
        (with(PAIR, "width = 8", "width = 20000"), "5:1", "`encoder.lstm.width` is 20000"),
        (with(PAIR, "width = 8", "width = 8\n  embedding = 0"), "6:3", "`encoder.lstm.embedding` is 0"),
        (
            with(PAIR, "width = 8", "layers = 65"),
            "5:1",
            "`encoder.lstm.layers` is 65; write a number from 1 to 64",
        ),
        (
            with(PAIR, "width = 8", "dropout = 1.0"),
            "5:1",
            "`encoder.lstm.dropout` is 1; write a share from 0 to below 1",
        ),
        (with(PAIR, "width = 8", "dropout = nan"), "5:1", "`encoder.lstm.dropout` is NaN"),
        (and(PAIR, "layers = 0"), "8:1", "`decoder.lstm.layers` is 0"),
        (and(PAIR, "dropout = -0.1"), "8:1", "`decoder.lstm.dropout` is -0.1"),
        (and(SINGLE, "layers = 0"), "6:1", "`single.gru.layers` is 0"),
        // Within each range, but too much together.
        (
            with(PAIR, "width = 8", "width = 16384\nlayers = 64"),
            "5:1",
            "`encoder.lstm.width` makes layers of 137438953472 parameters, and at most 2147483648 can be built; \
             write a smaller width",
        ),
        (
            with(PAIR, "width = 8", "bidirectional = true\nwidth = 16384"),
            "6:1",
            "`encoder.lstm.width` makes layers of 4294967296 parameters",
        ),
        (
            and(PAIR, "embedding = 9\nlayers = 64")
                .replace("width = 8\nembedding", "width = 16384\nembedding"),
            "7:1",
            "`decoder.lstm.width` makes layers of",
        ),
        (
            with(SINGLE, "width = 8", "width = 16384\nlayers = 64"),
            "5:1",
            "`single.gru.width` makes layers of",
        ),
        (and(LANGUAGE, "embedding = 99999"), "6:1", "`decoder.rnn.embedding` is 99999"),
        // Parts that are missing, or one too many.
        (with(PAIR, "[encoder.lstm]\nwidth = 8\n", ""), "1:1", "`encoder` is missing; write [encoder.lstm]"),
        (with(PAIR, "[decoder.lstm]\nwidth = 8\n", ""), "1:1", "`decoder` is missing; write [decoder.lstm]"),
        (with(LANGUAGE, "[decoder.rnn]\nwidth = 8\n", ""), "1:1", "`decoder` is missing"),
        (and(PAIR, "[single.lstm]"), "4:2", "`encoder` stands beside [single], which is both"),
        (and(SINGLE, "[decoder.lstm]"), "6:2", "`decoder` stands beside [single], which is both"),
        (
            with(SINGLE, "translate", "language-model"),
            "4:2",
            "`single` reads a source, which a language model has not",
        ),
        (and(LANGUAGE, "[encoder.gru]"), "6:2", "`encoder` has nothing to read in a language model"),
        // What does not go together.
        (
            with(PAIR, "width = 8", "bidirectional = true\nreversed = true"),
            "6:1",
            "`encoder.lstm.reversed` has no meaning beside `bidirectional = true`",
        ),
        (and(LANGUAGE, "bridge = \"both\""), "6:1", "`decoder.rnn.bridge` needs an encoder"),
        (
            and(LANGUAGE, "[sharing]\nencoder_decoder = true"),
            "7:1",
            "`sharing.encoder_decoder` needs two sides",
        ),
        (and(LANGUAGE, "[sharing]\nembeddings = true"), "7:1", "`sharing.embeddings` needs two sides"),
        (
            and(SINGLE, "[tokens]\nshared = false"),
            "7:1",
            "`tokens.shared` is false, but a single network reads both sides; write `shared = true`",
        ),
        (
            and(SINGLE, "[tokens.source]\nkind = \"char\""),
            "6:2",
            "a single network reads both sides; write `shared = true`",
        ),
        (
            and(PAIR, "[tokens]\nshared = false\n[sharing]\nembeddings = true"),
            "11:1",
            "`sharing.embeddings` needs one vocabulary for both sides; write `shared = true` under [tokens]",
        ),
        (
            and(PAIR, "embedding = 4\n[sharing]\nembeddings = true"),
            "10:1",
            "needs vectors of one width, but encoder.lstm has 8 and decoder.lstm has 4",
        ),
        (
            and(&with(PAIR, "decoder.lstm", "decoder.gru"), "[sharing]\nencoder_decoder = true"),
            "9:1",
            "needs the same cell, width, layers and embedding in [encoder.lstm] and [decoder.gru]",
        ),
        (
            and(PAIR, "layers = 2\n[sharing]\nencoder_decoder = true"),
            "10:1",
            "needs the same cell, width, layers",
        ),
        (
            and(PAIR, "embedding = 2\n[sharing]\nencoder_decoder = true"),
            "10:1",
            "needs the same cell, width, layers",
        ),
        (
            and(
                &with(PAIR, "width = 8", "width = 8\nbidirectional = true"),
                "[sharing]\nencoder_decoder = true",
            ),
            "10:1",
            "needs an encoder of one direction; write `bidirectional = false`",
        ),
        (
            and(PAIR, "bridge = \"every-step\"\n[sharing]\nencoder_decoder = true"),
            "8:1",
            "`decoder.lstm.bridge` widens the decoder's input",
        ),
        (
            and(PAIR, "embedding = 4\n[sharing]\noutput = true"),
            "10:1",
            "`sharing.output` needs token vectors as wide as what the scores read, but decoder.lstm has embedding 4 and scores read 8; write `output = 4` in [decoder.lstm]",
        ),
        (
            and(SINGLE, "embedding = 4\n[sharing]\noutput = true"),
            "8:1",
            "`sharing.output` needs token vectors",
        ),
        (
            and(LANGUAGE, "embedding = 4\n[sharing]\noutput = true"),
            "8:1",
            "`sharing.output` needs token vectors",
        ),
    ];
    check(cases);
}
