//! Models of images, and the images that they read.

use super::{LANGUAGE, PAIR, and, check, parse, with};

/// The smallest configuration of captions, and of labels.
const CAPTION: &str = "task = \"caption\"\n[data]\nbuiltin = \"shapes\"\n[encoder.cnn]\nblocks = 1\n[decoder.lstm]\nwidth = 8\n";
const CLASSIFY: &str = "task = \"classify\"\n[data]\nbuiltin = \"shapes\"\n[encoder.vit]\nwidth = 8\n";

#[test]
fn models_of_images_are_accepted() {
    for text in [
        CAPTION.to_owned(),
        CLASSIFY.to_owned(),
        and(
            CAPTION,
            "[attention]\nquery = \"previous\"\ngate = true\ndeep_output = true\ndoubly_stochastic = 1.0",
        ),
        and(CAPTION, "[images]\nheight = 96\nwidth = 96\n[images.augmentation]\ncolour = 0.1"),
        and(CAPTION, "[images.normalisation]\nmean = [0.1, 0.2, 0.3]\ndeviation = [1.0, 1.0, 1.0]"),
        with(CAPTION, "decoder.lstm", "decoder.transformer"),
        with(CAPTION, "builtin = \"shapes\"", "train = { images = \"a\", jsonl = \"b\" }"),
        with(CLASSIFY, "builtin = \"shapes\"", "train = { idx = [\"a\", \"b\"] }"),
        with(CLASSIFY, "builtin = \"shapes\"", "builtin = \"shapes\"\nasked = \"count\""),
        and(CLASSIFY, "[head]\npooling = \"mean\""),
        and(CLASSIFY, "[images.augmentation]\nflip = 0.5"),
        with(CLASSIFY, "width = 8\n", "width = 8\nposition_grid = [4, 4]\n"),
    ] {
        if let Err(error) = parse(&text, &[]) {
            panic!("{error}\n{text}");
        }
    }
}

#[test]
fn encoders_of_images_are_for_images_and_others_are_not() {
    let files = |line: &str| with(CAPTION, "builtin = \"shapes\"", line);
    let labels = |line: &str| with(CLASSIFY, "builtin = \"shapes\"", line);
    check(vec![
        (
            with(CAPTION, "\"caption\"", "\"translate\""),
            "4:10",
            "`encoder.cnn` reads images, which `task = \"translate\"` has not; write `task = \"caption\"`",
        ),
        (
            with(CLASSIFY, "\"classify\"", "\"label\""),
            "4:10",
            "`encoder.vit` reads images, which `task = \"label\"` has not; write `task = \"caption\"`",
        ),
        (
            with(CAPTION, "encoder.cnn]\nblocks = 1", "encoder.gru]"),
            "4:2",
            "`encoder` reads tokens, and a caption is of an image; write [encoder.cnn] or [encoder.vit]",
        ),
        (
            with(CAPTION, "[encoder.cnn]\nblocks = 1\n", ""),
            "1:1",
            "`encoder` is missing; write [encoder.cnn] or [encoder.vit]",
        ),
        (
            with(CAPTION, "[encoder.cnn]\nblocks = 1\n[decoder.lstm]", "[single.lstm]"),
            "4:2",
            "`single` reads tokens, and a caption is of an image; write [encoder.cnn] and [decoder.lstm]",
        ),
        (and(CAPTION, "[head]"), "8:2", "`head` is for tasks without a decoder"),
        (with(CAPTION, "[decoder.lstm]\nwidth = 8\n", ""), "1:1", "`decoder` is missing"),
        (
            and(PAIR, "[images]\nheight = 32"),
            "8:2",
            "`images` is for encoders of images; remove it, or write [encoder.cnn] or [encoder.vit]",
        ),
        (and(LANGUAGE, "[images]"), "6:2", "`images` is for encoders of images"),
        (
            with(PAIR, "builtin = \"copy\"", "builtin = \"shapes\""),
            "3:1",
            "`data.builtin` has images, and the encoder reads tokens; write [encoder.cnn] or [encoder.vit]",
        ),
        (
            with(PAIR, "builtin = \"copy\"", "train = { images = \"a\", tsv = \"b\" }"),
            "3:1",
            "`data.train` has images, and the encoder reads tokens",
        ),
        (
            files("builtin = \"phrases\""),
            "3:1",
            "`data.builtin` has texts, and the encoder reads images; write `builtin = \"shapes\"`",
        ),
        (
            files("train = { tsv = \"a\" }"),
            "3:1",
            "`data.train` has texts, and the encoder reads images; write `builtin = \"shapes\"`, { images = ",
        ),
        (labels("train = { tsv = \"a\" }"), "3:1", "`data.train` has texts, and the encoder reads images"),
        (files("train = { images = \"a\" }"), "3:1", "`data.train` `images` without a list; add `tsv = "),
        (
            files("builtin = \"shapes\"\nside = \"target\""),
            "4:1",
            "`data.side` is for language models; remove it",
        ),
        (
            files("builtin = \"shapes\"\nasked = \"count\""),
            "4:1",
            "`data.asked` is for `task = \"classify\"`, whose answer is a label; remove it",
        ),
        (files("builtin = \"shapes\"\ncaptions = 0"), "4:1", "`data.captions`"),
        (files("builtin = \"shapes\"\ncaptions = 1000"), "4:1", "`data.captions`"),
        (
            and(CAPTION, "[train]\nbatch_tokens = 1000"),
            "9:1",
            "`train.batch_tokens` counts tokens, and images have none; write `batch_examples = 64`",
        ),
        (
            and(CAPTION, "[train.thinning]\nbelow = 10\npower = 1"),
            "8:8",
            "`train.thinning` goes by the tokens of texts, and images have none; remove it",
        ),
        (
            and(CAPTION, "[train]\ncaptions = 65"),
            "9:1",
            "`train.captions` is how many captions of an image are learnt from together",
        ),
        (and(CAPTION, "[train]\ncaptions = 0"), "9:1", "`train.captions` is 0"),
        (
            and(CLASSIFY, "[train]\ncaptions = 2"),
            "7:1",
            "`train.captions` is how many captions of an image are learnt from together, for `task = \"caption\"`",
        ),
        (
            and(CAPTION, "[search]\nmax_ratio = 2.0"),
            "9:1",
            "`search.max_ratio` is for translators, whose sources are texts; remove it",
        ),
        (and(CAPTION, "[sharing]\nembeddings = true"), "9:1", "`sharing.embeddings`"),
        (
            and(CAPTION, "[features.lstm]"),
            "8:2",
            "`features` stand beside what a recurrent encoder reads, and there is none; write [encoder.lstm]",
        ),
    ]);
}

#[test]
fn images_that_do_not_fit_are_refused_with_a_size_that_does() {
    let sized = |text: &str, lines: &str| and(text, &format!("[images]\n{lines}"));
    check(vec![
        (
            sized(CAPTION, "height = 60\nwidth = 64"),
            "9:1",
            "`images.height` is 60, but a region has 8 pixels on a side (encoder.cnn.stem_stride); write 56 or 64",
        ),
        (
            sized(CLASSIFY, "height = 64\nwidth = 4"),
            "8:1",
            "`images.width` is 4, but a patch has 8 pixels on a side (encoder.vit.patch); write 8",
        ),
        (
            sized(CAPTION, "height = 32\nwidth = 64"),
            "9:1",
            "`images.height` differs from `width`, and scenes are square; write the same",
        ),
        (sized(CAPTION, "height = 8\nwidth = 8"), "9:1", "`images.height` scenes are drawn with sides of"),
        (sized(CAPTION, "height = 0"), "9:1", "`images.height` is from 1 to 4096 pixels; write 64"),
        (sized(CAPTION, "width = 8192"), "9:1", "`images.width` is from 1 to 4096 pixels; write 64"),
        (sized(CAPTION, "channels = 2"), "9:1", "`images.channels` is 1 for grey or 3 for colours"),
        (
            sized(CLASSIFY, "channels = 9000000000000000000"),
            "7:1",
            "`images.channels` is 1 for grey or 3 for colours",
        ),
        (
            and(CAPTION, "[images.augmentation]\nflip = 0.5"),
            "9:1",
            "`images.augmentation.flip` changes what is left of what, what is largest and what is there, and that is what is \
             asked about scenes; remove it",
        ),
        (
            and(CLASSIFY, "[images.augmentation]\ncrop = 0.5"),
            "7:1",
            "`images.augmentation.crop` changes what is left of what",
        ),
        (
            and(CLASSIFY, "[images.augmentation]\nstretch = 2.0"),
            "7:1",
            "`images.augmentation.stretch` changes what is left of what",
        ),
        (
            and(CLASSIFY, "[tokens]\nkind = \"word\""),
            "6:2",
            "`tokens` is for texts, and here images get labels; remove it",
        ),
        (
            with(CLASSIFY, "builtin = \"shapes\"", "builtin = \"shapes\"\ncaptions = 3"),
            "4:1",
            "`data.captions` is for `task = \"caption\"`; remove it",
        ),
        (
            and(CLASSIFY, "[images.augmentation]\nflip = 1.5"),
            "7:1",
            "`images.augmentation.flip` is from 0 to 1; write 0.5",
        ),
        (
            and(CLASSIFY, "[images.augmentation]\ncrop = 0.0"),
            "7:1",
            "`images.augmentation.crop` is from 0.01 to 1; write 0.5",
        ),
        (
            and(CLASSIFY, "[images.augmentation]\nstretch = 0.5"),
            "7:1",
            "`images.augmentation.stretch` is from 1 to 4; write 1.33",
        ),
        (
            and(CLASSIFY, "[images.augmentation]\ncolour = 1.0"),
            "7:1",
            "`images.augmentation.colour` is from 0 to below 1; write 0.2",
        ),
        (
            and(CLASSIFY, "[images.normalisation]\nmean = [0.5, 0.5, 0.5]\ndeviation = [0.5, 0.0, 0.5]"),
            "8:1",
            "`images.normalisation.deviation` must be above 0; write [0.5, 0.5, 0.5]",
        ),
        (sized(CAPTION, "hight = 64"), "9:1", "hint: did you mean `height`?"),
    ]);
}

#[test]
fn encoders_of_images_that_make_no_sense_are_refused_where_they_stand() {
    let cnn = |line: &str| with(CAPTION, "blocks = 1", line);
    let vit = |line: &str| with(CLASSIFY, "width = 8", line);
    check(vec![
        (
            cnn("channels = []"),
            "5:1",
            "`encoder.cnn.channels` has 0 stages; write one to eight, such as [32, 64, 128]",
        ),
        (cnn("channels = [8, 8, 8, 8, 8, 8, 8, 8, 8]"), "5:1", "`encoder.cnn.channels` has 9 stages"),
        (cnn("channels = [0]"), "5:1", "`encoder.cnn.channels` is 0; write a number from 1 to 16384"),
        (cnn("channels = [16384, 16384]\nblocks = 64"), "5:1", "`encoder.cnn.channels` makes"),
        (cnn("blocks = 0"), "5:1", "`encoder.cnn.blocks` is 0; write a number from 1 to 64"),
        (
            cnn("groups = 5"),
            "5:1",
            "`encoder.cnn.groups` is 5, which 32 channels cannot be divided into; write a number that divides all",
        ),
        (cnn("groups = 0"), "5:1", "`encoder.cnn.groups` is 0; write a number from 1"),
        (cnn("stem_stride = 3"), "5:1", "`encoder.cnn.stem_stride` is 3; write 1 or 2"),
        (cnn("dropout = 1.0"), "5:1", "`encoder.cnn.dropout` is 1; write a share from 0 to below 1"),
        (
            cnn("channels = [2, 6]\ngroups = 2\npositions = \"sinusoidal\""),
            "7:1",
            "`encoder.cnn.positions` is \"sinusoidal\", which needs a width that is a multiple of 4, and it is 6",
        ),
        (cnn("positions = \"rotary\""), "5:13", "unknown variant `rotary`"),
        (vit("patch = 0"), "5:1", "`encoder.vit.patch` is 0; write a number from 1 to 1024"),
        (vit("patch = 1025"), "5:1", "`encoder.vit.patch` is 1025; write a number from 1 to 1024"),
        (vit("width = 7"), "5:1", "`encoder.vit.width`"),
        (vit("layers = 0"), "5:1", "`encoder.vit.layers` is 0"),
        (vit("heads = 0"), "5:1", "`encoder.vit.heads` is 0"),
        (
            vit("positions = \"none\""),
            "5:1",
            "`encoder.vit.positions` is \"none\", and patches then stand nowhere; write \"learned\" or \"sinusoidal\"",
        ),
        (
            vit("positions = \"coordinates\""),
            "5:1",
            "`encoder.vit.positions` is \"coordinates\", which the regions of [encoder.cnn] have beside them; write \
             \"learned\" or \"sinusoidal\"",
        ),
        (
            vit("positions = \"sinusoidal\"\nposition_grid = [4, 4]"),
            "6:1",
            "`encoder.vit.position_grid` is for `positions = \"learned\"`; remove it, or write that",
        ),
        (
            vit("position_grid = [0, 4]"),
            "5:1",
            "`encoder.vit.position_grid` is 0; write a number from 1 to 1024",
        ),
        (
            vit("width = 6\nheads = 2\npositions = \"sinusoidal\""),
            "7:1",
            "`encoder.vit.positions` is \"sinusoidal\", which needs a width that is a multiple of 4, and it is 6",
        ),
        (
            and(&vit("patch = 1"), "[images]\nheight = 256\nwidth = 256"),
            "5:1",
            "`encoder.vit.patch` makes more than 16384 regions of an image; write a larger one",
        ),
        // Heads.
        (
            and(CLASSIFY, "[head]\npooling = \"last\""),
            "7:1",
            "`head.pooling` is \"last\", and no region of an image is; write \"mean\", \"max\" or \"attention\"",
        ),
        (
            and(&vit("class_token = false"), "[head]\npooling = \"class-token\""),
            "7:1",
            "`head.pooling` is \"class-token\", but `class_token = false`; write `class_token = true`, or `pooling = \"mean\"`",
        ),
        (
            and(
                &with(CLASSIFY, "[encoder.vit]\nwidth = 8", "[encoder.cnn]"),
                "[head]\npooling = \"class-token\"",
            ),
            "6:1",
            "`head.pooling` is \"class-token\", and [encoder.cnn] has no token; write \"mean\", \"max\" or \"attention\"",
        ),
    ]);
}

#[test]
fn attention_that_makes_no_sense_with_images_is_refused() {
    let looking = |lines: &str| and(CAPTION, &format!("[attention]\n{lines}"));
    check(vec![
        (
            looking("score = \"location\"\nmax_positions = 64"),
            "9:1",
            "`attention.score` is \"location\", which looks at places of a text; write \"additive\"",
        ),
        (
            looking("focus = \"local\""),
            "9:1",
            "`attention.focus` is \"local\", a window of a text; write \"soft\" or \"hard\"",
        ),
        (
            looking("focus = \"hard\"\ngate = true\nmarginal_steps = 10"),
            "11:1",
            "`attention.marginal_steps` sums over choices that `gate` has no share for; remove one of them",
        ),
        (
            looking("focus = \"hard\"\ndoubly_stochastic = 1.0"),
            "10:1",
            "`attention.doubly_stochastic` is for `focus = \"soft\"`",
        ),
        (
            looking("doubly_stochastic = -1.0"),
            "9:1",
            "`attention.doubly_stochastic` is -1; write a number from 0 to 100, such as 1.0",
        ),
        (
            looking("focus = \"hard\"\nconcentration = { price = 0.1 }"),
            "10:1",
            "`attention.concentration` is for `focus = \"soft\"`",
        ),
        (
            looking("concentration = { price = 11.0, after = 9 }"),
            "9:19",
            "`attention.concentration.price` is 11; write a number from 0 to 10, such as 0.3",
        ),
        (looking("doubly_stochastic = nan"), "9:1", "`attention.doubly_stochastic` is NaN; write a number"),
        (
            with(&looking("gate = true"), "decoder.lstm", "decoder.transformer"),
            "8:2",
            "`attention` is for recurrent decoders",
        ),
    ]);
}
