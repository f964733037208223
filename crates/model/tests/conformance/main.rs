//! What must hold of every model, whatever it is made of. A new variant is a line in `variants.rs`,
//! `transformers.rs`, `heads.rs`, `images.rs` or `sounds.rs`, and runs through all of this.

mod attention;
mod eight_bits;
mod gradients;
mod heads;
mod hostile;
mod images;
mod padding;
mod saving;
mod sounds;
mod stepping;
mod transformers;
mod variants;
