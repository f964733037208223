//! Encoder–decoder models as a library: everything that the `gatto` binary does, and the parts that
//! it is made of.
//!
//! Train a model that reverses sequences, then use it:
//!
//! ```
//! use gatto::train::{ConfigFile, RunOptions, run};
//! use gatto::model::Saved;
//! use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"
//!     task = "translate"
//!     [data]
//!     builtin = "reverse"
//!     max_length = 3
//!     [tokens]
//!     kind = "word"
//!     [encoder.gru]
//!     width = 48
//!     [decoder.gru]
//!     width = 48
//!     [train]
//!     steps = 300
//!     batch_tokens = 512
//!     max_length = 20
//!     learning_rate = 5e-3
//! "#;
//! # let folder = std::env::temp_dir().join(format!("gatto-doc-{}", std::process::id()));
//! # let directory = folder.as_path();
//! # let _ = std::fs::remove_dir_all(directory);
//! let config = ConfigFile::parse(Path::new("reverse.toml"), text.into(), ".".into(), &[])?;
//! let outcome = run(&config, &RunOptions::new(directory), &mut ())?;
//! assert_eq!(outcome.step, 300);
//!
//! let saved = Saved::load(directory, &gatto::Device::flex())?;
//! let predictions = saved.predict(&["a b c", "x y"], 64)?;
//! println!("{} {}", predictions[0].text, predictions[1].text); // c b a, y x
//! # assert_eq!(predictions[1].text, "y x");
//! # std::fs::remove_dir_all(directory)?;
//! # Ok(())
//! # }
//! ```

pub use burn::tensor::Device;
pub use gatto_data as data;
pub use gatto_inspect as inspect;
pub use gatto_kernels as kernels;
pub use gatto_metrics as metrics;
pub use gatto_model as model;
pub use gatto_nn as nn;
pub use gatto_search as search;
pub use gatto_serve as serve;
pub use gatto_train as train;
