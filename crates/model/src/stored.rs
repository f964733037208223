//! A file of weights as it lies on the disk: safetensors, of floats or of eight-bit integers with their scales.
//!
//! When a file is opened its header alone is read, and all sizes and offsets in it are checked against the file
//! before any memory is taken. The values of a tensor are read through a memory map that lasts as long as they are
//! copied or made ready, and no longer: a map of a file that somebody cuts short meanwhile ends the process with a
//! signal (SIGBUS), which no check can prevent. Gatto's own files are replaced and never changed, so that whoever has
//! one open keeps what it was; and a model that is in use does not depend on its files.
//!
//! A matrix `name` in eight bits is a tensor of I8 [I, O], beside `name.scale` of F32 [O]: W_io = scale_o · q_io.

use crate::error::ModelError;
use gatto_kernels::quantised::Quantised;
use gatto_nn::{Matrix, Precision};
use memmap2::{Mmap, MmapOptions};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What the scales of a matrix are called, behind its own name.
pub(crate) const SCALE: &str = ".scale";

/// Bytes that are copied at a time; whole floats.
const AT_ONCE: usize = 4 << 20;

/// An open file of weights.
#[derive(Debug)]
pub struct Stored {
    path: PathBuf,
    file: File,
    len: u64,
    parameters: BTreeMap<String, Parameter>,
}

/// A parameter in a file.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
    values: Place,
    /// Of a matrix in eight bits.
    scales: Option<Place>,
}

/// Some bytes of the file.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u64,
    len: usize,
}

impl Parameter {
    /// How its values are kept.
    pub fn precision(&self) -> Precision {
        if self.scales.is_some() { Precision::Int8 } else { Precision::Float }
    }

    /// Its numbers.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Its bytes in the file.
    pub fn bytes(&self) -> usize {
        self.values.len + self.scales.map_or(0, |scales| scales.len)
    }
}

impl Stored {
    /// Opens a file and checks all that its header says.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let unreadable = |error: io::Error| ModelError::Unreadable { path: path.to_owned(), error };
        let damaged = |message: String| ModelError::Damaged { path: path.to_owned(), message };
        let file = File::open(path).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Err(unreadable(io::Error::other("it is not a file")));
        }
        let len = found.len();
        let (first, metadata) = header(&file, len).map_err(unreadable)?.map_err(damaged)?;
        let tensors: BTreeMap<String, (Dtype, &[usize], Place)> = metadata
            .tensors()
            .into_iter()
            .map(|(name, tensor)| {
                let (start, end) = tensor.data_offsets;
                let place = Place { start: first + start as u64, len: end - start };
                (name, (tensor.dtype, tensor.shape.as_slice(), place))
            })
            .collect();
        let parameters = parameters(&tensors).map_err(damaged)?;
        Ok(Self { path: path.to_owned(), file, len, parameters })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.len
    }

    /// The parameters by name.
    pub fn parameters(&self) -> &BTreeMap<String, Parameter> {
        &self.parameters
    }

    /// Eight bits if any parameter has them.
    pub fn precision(&self) -> Precision {
        let bytes = self.parameters.values().any(|parameter| parameter.precision() == Precision::Int8);
        if bytes { Precision::Int8 } else { Precision::Float }
    }

    /// The values of a parameter as floats.
    pub fn floats(&self, parameter: &Parameter) -> Result<Vec<f32>, ModelError> {
        let mut found = Vec::with_capacity(parameter.count());
        if parameter.precision() == Precision::Int8 {
            self.show(parameter, |values| {
                if let Matrix::Bytes(values, scales) = values {
                    let rows = values.chunks_exact(scales.len().max(1));
                    found.extend(rows.flat_map(|row| row.iter().zip(scales)).map(|(&q, s)| f32::from(q) * s));
                }
            })?;
            return Ok(found);
        }
        // Piece by piece, so that the file does not stand beside its copy.
        for start in (0..parameter.values.len).step_by(AT_ONCE) {
            let place = Place {
                start: parameter.values.start + start as u64,
                len: AT_ONCE.min(parameter.values.len - start),
            };
            let piece = mapped(&self.file, place).map_err(|error| self.unreadable(error))?;
            found.extend_from_slice(&floats(piece.as_deref().unwrap_or_default()));
        }
        Ok(found)
    }

    /// Shows the values of a parameter as they are.
    pub(crate) fn show<T>(
        &self,
        parameter: &Parameter,
        look: impl FnOnce(Matrix<'_>) -> T,
    ) -> Result<T, ModelError> {
        let map = |place: Place| mapped(&self.file, place).map_err(|error| self.unreadable(error));
        let values = map(parameter.values)?;
        let values = values.as_deref().unwrap_or_default();
        Ok(match parameter.scales {
            None => look(Matrix::Floats(&floats(values))),
            Some(scales) => {
                let scales = map(scales)?;
                look(Matrix::Bytes(integers(values), &floats(scales.as_deref().unwrap_or_default())))
            }
        })
    }

    fn unreadable(&self, error: io::Error) -> ModelError {
        ModelError::Unreadable { path: self.path.clone(), error }
    }
}

/// Tensors put together to parameters, or what is wrong with them.
fn parameters(
    tensors: &BTreeMap<String, (Dtype, &[usize], Place)>,
) -> Result<BTreeMap<String, Parameter>, String> {
    let in_bytes = |name: &str| tensors.get(name).is_some_and(|(dtype, ..)| *dtype == Dtype::I8);
    let mut found = BTreeMap::new();
    for (name, &(dtype, shape, values)) in tensors {
        let scales = match dtype {
            Dtype::F32 if name.strip_suffix(SCALE).is_some_and(in_bytes) => continue,
            Dtype::F32 => None,
            Dtype::I8 => {
                let &[rows, columns] = shape else {
                    return Err(format!("`{name}` holds I8 values and is no matrix"));
                };
                if rows > Quantised::MOST_ROWS {
                    return Err(format!("`{name}` has too many rows for I8 values"));
                }
                match tensors.get(&format!("{name}{SCALE}")) {
                    Some(&(Dtype::F32, shape, scales)) if shape == [columns] => Some(scales),
                    _ => return Err(format!("`{name}` holds I8 values without a scale for each column")),
                }
            }
            other => return Err(format!("`{name}` holds {other:?} and neither F32 nor I8 values")),
        };
        found.insert(name.clone(), Parameter { shape: shape.to_vec(), values, scales });
    }
    Ok(found)
}

/// Where the tensors of a file of `len` bytes begin, and what its header says of them; or why that cannot be true.
fn header(mut file: &File, len: u64) -> io::Result<Result<(u64, Metadata), String>> {
    /// As much as the format allows.
    const MOST: u64 = 100_000_000;
    const SIZE: u64 = size_of::<u64>() as u64;
    let mut size = [0; SIZE as usize];
    if len < SIZE {
        return Ok(Err("it is too short for a header".to_owned()));
    }
    file.read_exact(&mut size)?;
    let size = u64::from_le_bytes(size);
    if size > MOST.min(len - SIZE) {
        return Ok(Err(format!("its header is said to have {size} bytes, which it has not")));
    }
    let mut text = vec![0; size as usize];
    file.read_exact(&mut text)?;
    // Reading it checks that tensors lie one behind the other and are as large as their shapes say.
    let metadata = match serde_json::from_slice::<Metadata>(&text) {
        Ok(metadata) => metadata,
        Err(error) => return Ok(Err(format!("its header is not one: {error}"))),
    };
    let (told, there) = (metadata.data_len() as u64, len - SIZE - size);
    Ok(match told == there {
        true => Ok((SIZE + size, metadata)),
        false => Err(format!("its header tells of {told} bytes of tensors, and there are {there}")),
    })
}

/// A part of a file in memory; none of nothing.
fn mapped(file: &File, place: Place) -> io::Result<Option<Mmap>> {
    if place.len == 0 {
        return Ok(None);
    }
    // Beyond the end of a file there is a signal, not an error.
    if place.start + place.len as u64 > file.metadata()?.len() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has become shorter; write it again"));
    }
    // SAFETY: the map is only read, as numbers: whatever stands there, and should another process change it
    // meanwhile, every bit pattern is one. The header, which is text, is not mapped but read.
    #[allow(unsafe_code, reason = "a file can change under its map, which no interface can rule out")]
    unsafe {
        MmapOptions::new().offset(place.start).len(place.len).map(file).map(Some)
    }
}

/// Bytes as floats: where they are, if they lie as the machine reads them.
fn floats(bytes: &[u8]) -> Cow<'_, [f32]> {
    // SAFETY: every bit pattern is a float.
    #[allow(unsafe_code, reason = "bytes that are not copied")]
    let (before, values, behind) = unsafe { bytes.align_to::<f32>() };
    if cfg!(target_endian = "little") && before.is_empty() && behind.is_empty() {
        return Cow::Borrowed(values);
    }
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Bytes as integers.
fn integers(bytes: &[u8]) -> &[i8] {
    // SAFETY: a byte is a byte.
    #[allow(unsafe_code, reason = "bytes that are not copied")]
    let (_, values, _) = unsafe { bytes.align_to::<i8>() };
    values
}
