//! `shortlist.safetensors`, in the run directory of the model that it belongs to:
//!
//! | tensor | type and shape | |
//! |---|---|---|
//! | `counts` | U32 [source tokens] | how many translations each source token has |
//! | `translations` | U32 [their sum] | target tokens, those of a source token behind each other, the best first |
//! | `frequent` | U32 [any] | target tokens that may always be written |
//! | `vocabularies` | U64 \[2\] | what the tokens of source and target come to |
//!
//! A file is read as if anybody could have written it: it is no longer than the vocabularies allow, its shapes agree with
//! each other and with them, and no token is beyond them.

use super::{Shortlist, sum_of};
use crate::error::ModelError;
use crate::weights::{self, Written};
use gatto_data::tokens::TokenizerPair;
use safetensors::{Dtype, SafeTensors};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const COUNTS: &str = "counts";
const TRANSLATIONS: &str = "translations";
const FREQUENT: &str = "frequent";
const VOCABULARIES: &str = "vocabularies";

/// As long as a header may be.
const HEADER: usize = 1 << 16;

impl Shortlist {
    /// Its file in the run directory.
    pub const FILE: &str = "shortlist.safetensors";

    /// Whether a run directory has one.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(Self::FILE).exists()
    }

    /// Writes it into a run directory, in one piece or not at all.
    pub fn save(&self, directory: &Path) -> Result<(), ModelError> {
        let counts: Vec<u32> = self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect();
        let integers = |values: &[u32]| Written {
            dtype: Dtype::U32,
            shape: vec![values.len()],
            bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        let sums = Written {
            dtype: Dtype::U64,
            shape: vec![self.sums.len()],
            bytes: self.sums.iter().flat_map(|sum| sum.to_le_bytes()).collect(),
        };
        let tensors = vec![
            (COUNTS, integers(&counts)),
            (TRANSLATIONS, integers(&self.translations)),
            (FREQUENT, integers(&self.always)),
            (VOCABULARIES, sums),
        ];
        weights::write(&directory.join(Self::FILE), tensors)
    }

    /// Reads that of a run directory, whose tokens are these.
    pub fn load(directory: &Path, tokens: &TokenizerPair) -> Result<Self, ModelError> {
        let path = directory.join(Self::FILE);
        let bytes = match read(&path, most_bytes(tokens)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ModelError::NoShortlist { path, directory: directory.to_owned() });
            }
            Err(error) => return Err(ModelError::Unreadable { path, error }),
        };
        let read = bytes.ok_or_else(|| "it is longer than the vocabularies allow".to_owned());
        let found = read.and_then(|bytes| Self::of_bytes(&bytes, tokens));
        found.map_err(|message| ModelError::BadShortlist { path, message, directory: directory.to_owned() })
    }

    fn of_bytes(bytes: &[u8], tokens: &TokenizerPair) -> Result<Self, String> {
        let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let sums = integers::<8>(&file, VOCABULARIES, Dtype::U64)?;
        let expected = [sum_of(&tokens.source), sum_of(&tokens.target)].map(u64::to_le_bytes);
        if sums != expected {
            return Err("it was made for other tokens than those of the model".to_owned());
        }
        let of = |name| {
            Ok::<_, String>(
                integers::<4>(&file, name, Dtype::U32)?.iter().map(|&value| u32::from_le_bytes(value)),
            )
        };
        let mut starts = vec![0usize];
        for count in of(COUNTS)? {
            starts.push(starts[starts.len() - 1].saturating_add(count as usize));
        }
        let (translations, frequent): (Vec<u32>, Vec<u32>) =
            (of(TRANSLATIONS)?.collect(), of(FREQUENT)?.collect());
        let (source, target) = (tokens.source.size(), tokens.target.size());
        if starts.len() != source + 1 {
            return Err(format!(
                "`{COUNTS}` is of {} source tokens, and there are {source}",
                starts.len() - 1
            ));
        }
        if starts[source] != translations.len() {
            let (told, there) = (starts[source], translations.len());
            return Err(format!("`{COUNTS}` tells of {told} translations, and there are {there}"));
        }
        match translations.iter().chain(&frequent).find(|&&token| token as usize >= target) {
            Some(token) => {
                Err(format!("it has token {token}, and the last of the vocabulary is {}", target - 1))
            }
            None => Ok(Self::of_parts(starts, translations, frequent, tokens)),
        }
    }
}

/// As long as a file for these vocabularies may be.
fn most_bytes(tokens: &TokenizerPair) -> usize {
    let (source, target) = (tokens.source.size(), tokens.target.size());
    let translations = source.saturating_mul(Shortlist::MOST_BEST.min(target));
    translations.saturating_add(source + target + 1).saturating_mul(4).saturating_add(HEADER)
}

/// All of a file; none if it is longer than `most` bytes.
fn read(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if found.len() > most as u64 {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(found.len() as usize);
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The integers of a list in a file, of so many bytes each.
fn integers<'a, const BYTES: usize>(
    file: &SafeTensors<'a>,
    name: &str,
    dtype: Dtype,
) -> Result<&'a [[u8; BYTES]], String> {
    let tensor = file.tensor(name).map_err(|_| format!("it has no `{name}`"))?;
    match (tensor.dtype() == dtype, tensor.shape()) {
        (true, &[_]) => Ok(tensor.data().as_chunks::<BYTES>().0),
        _ => Err(format!(
            "`{name}` is {:?} {:?}, and should be a list of {dtype:?}",
            tensor.dtype(),
            tensor.shape()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use std::fs;

    #[test]
    fn a_shortlist_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        for shared in [false, true] {
            let (tokens, shortlist) = example(shared);
            assert!(!shared || Shortlist::is_in(folder.path()));
            shortlist.save(folder.path()).unwrap();
            assert_eq!(Shortlist::load(folder.path(), &tokens).unwrap(), shortlist);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
    }

    #[test]
    fn one_that_is_missing_or_of_other_tokens_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (tokens, shortlist) = example(false);
        let error = || Shortlist::load(folder.path(), &tokens).unwrap_err().to_string();
        assert!(error().contains("make one with `gatto shortlist "), "{}", error());
        shortlist.save(folder.path()).unwrap();
        let (others, _) = example(true);
        let error = Shortlist::load(folder.path(), &others).unwrap_err().to_string();
        assert!(error.contains("was made for other tokens"), "{error}");
        assert!(error.contains("make it again with `gatto shortlist "), "{error}");
    }

    /// A file of one shortlist with some of its tensors replaced.
    fn with(folder: &Path, shortlist: &Shortlist, changed: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) {
        shortlist.save(folder).unwrap();
        let bytes = fs::read(folder.join(Shortlist::FILE)).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = file.tensors().into_iter().map(|(name, tensor)| {
            let own = (tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec());
            let (dtype, shape, bytes) = (changed.iter().find(|(other, ..)| *other == name))
                .map_or(own, |(_, dtype, shape, bytes)| (*dtype, shape.clone(), bytes.clone()));
            (name, Written { dtype, shape, bytes })
        });
        weights::write(&folder.join(Shortlist::FILE), tensors.collect()).unwrap();
    }

    #[test]
    fn hostile_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (tokens, shortlist) = example(false);
        let u32s = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let (source, target) = (tokens.source.size(), tokens.target.size() as u32);
        let list = |name, values: &[u32]| (name, Dtype::U32, vec![values.len()], u32s(values));
        let counts = |first: u32| {
            let mut counts = vec![0; source];
            counts[0] = first;
            counts
        };
        for (changed, expected) in [
            (list(FREQUENT, &[0, target]), "the last of the vocabulary is 8"),
            (list(TRANSLATIONS, &[0, u32::MAX, 1]), "it has token 4294967295"),
            (list(TRANSLATIONS, &[0, 1]), "`counts` tells of 3 translations, and there are 2"),
            (list(COUNTS, &counts(u32::MAX)), "tells of 4294967295 translations"),
            (list(COUNTS, &vec![u32::MAX; source]), "translations, and there are 3"),
            (list(COUNTS, &[3]), "`counts` is of 1 source tokens, and there are 9"),
            ((COUNTS, Dtype::U32, vec![3, 3], u32s(&[0; 9])), "should be a list of U32"),
            ((FREQUENT, Dtype::F32, vec![1], u32s(&[0])), "`frequent` is F32 [1], and should be"),
            ((VOCABULARIES, Dtype::U64, vec![1], vec![0; 8]), "was made for other tokens"),
            ((VOCABULARIES, Dtype::U32, vec![4], u32s(&[0; 4])), "should be a list of U64"),
        ] {
            with(folder.path(), &shortlist, &[changed]);
            let error = Shortlist::load(folder.path(), &tokens).unwrap_err();
            assert!(matches!(error, ModelError::BadShortlist { .. }), "{error:?}");
            assert!(error.to_string().contains(expected), "{error} and not {expected}");
        }
    }

    #[test]
    fn no_part_of_a_file_is_taken_for_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (tokens, shortlist) = example(true);
        shortlist.save(folder.path()).unwrap();
        let path = folder.path().join(Shortlist::FILE);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(
                matches!(Shortlist::load(folder.path(), &tokens), Err(ModelError::BadShortlist { .. })),
                "{length}"
            );
        }
        // A byte that is another is an error or another list, and never a panic.
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0xff;
            fs::write(&path, &bytes).unwrap();
            if let Ok(found) = Shortlist::load(folder.path(), &tokens) {
                let all: Vec<u32> = (0..tokens.source.size() as u32).collect();
                assert!(
                    found.tokens_for(&all, []).iter().all(|&token| (token as usize) < tokens.target.size())
                );
            }
        }
        fs::write(&path, vec![b' '; most_bytes(&tokens) + 1]).unwrap();
        let error = Shortlist::load(folder.path(), &tokens).unwrap_err().to_string();
        assert!(error.contains("it is longer than the vocabularies allow"), "{error}");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = Shortlist::load(folder.path(), &tokens).unwrap_err().to_string();
        assert!(error.contains("shortlist.safetensors: cannot be read: it is not a file"), "{error}");
    }
}
