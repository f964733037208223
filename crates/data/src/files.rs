//! Opening files for reading, compressed or not, and writing them so that none is ever left half written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::{DataError, WriteError};

/// An open file, seen as the text that it holds.
pub(crate) enum Opened {
    /// As it stands.
    Plain(BufReader<File>),
    /// Gzip, told by its first two bytes.
    Gzip(BufReader<MultiGzDecoder<BufReader<File>>>),
}

/// Opens a file for reading, through gzip if its first bytes say so, whatever its name.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, DataError> {
    Ok(match open_either(path)? {
        Opened::Plain(reader) => Box::new(reader),
        Opened::Gzip(reader) => Box::new(reader),
    })
}

/// Opens a file and says whether it is compressed.
pub(crate) fn open_either(path: &Path) -> Result<Opened, DataError> {
    let failed = |error| DataError::Read { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(DataError::Folder { path: path.to_owned() });
    }
    let mut reader = BufReader::with_capacity(1 << 16, file);
    if reader.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]) {
        Ok(Opened::Gzip(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(reader))))
    } else {
        Ok(Opened::Plain(reader))
    }
}

impl Read for Opened {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(into),
            Self::Gzip(reader) => reader.read(into),
        }
    }
}

impl BufRead for Opened {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Plain(reader) => reader.fill_buf(),
            Self::Gzip(reader) => reader.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match self {
            Self::Plain(reader) => reader.consume(amount),
            Self::Gzip(reader) => reader.consume(amount),
        }
    }
}

/// Writes a file whole or not at all: under a temporary name in the same folder, synced, then
/// renamed over `path`. Whoever reads `path` sees the old content or the new, even after a power
/// cut; on an error the temporary file is removed and `path` is as it was.
///
/// A symbolic link stays, and the file that it points to is replaced. What is no file (a device, a
/// pipe, `/dev/stdout`) is written to as it goes.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    let written = match destination(path) {
        Ok(Destination::File(file)) => replace_file(&file, write),
        Ok(Destination::Stream) => write_through(path, write),
        Err(error) => Err(error),
    };
    written.map_err(|error| WriteError { path: path.to_owned(), error })
}

/// As [`replace`], for what can be made again: without waiting for the disk, so that a power cut may leave a file whose
/// content is not whole.
pub(crate) fn replace_unsynced(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = Temporary(temporary_name(folder_of(path), path)?);
    let mut writer = BufWriter::new(File::create_new(&temporary.0)?);
    write(&mut writer)?;
    writer.flush()?;
    fs::rename(&temporary.0, path)
}

/// What a path stands for when it is written to.
enum Destination {
    /// A regular file, there or not yet, behind all links.
    File(PathBuf),
    /// Something that takes bytes and cannot be replaced.
    Stream,
}

fn destination(path: &Path) -> io::Result<Destination> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    match fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(Destination::Stream),
        Ok(_) if is_link && is_open_file(path) => Ok(Destination::Stream),
        Ok(_) if is_link => fs::canonicalize(path).map(Destination::File),
        // A link to a file that is not there yet.
        Err(error) if is_link && error.kind() == io::ErrorKind::NotFound => {
            Ok(Destination::File(folder_of(path).join(fs::read_link(path)?)))
        }
        _ => Ok(Destination::File(path.to_owned())),
    }
}

/// Whether a link names an open file of a process, as `/dev/stdout` and `/dev/fd/3` do: replaced
/// behind the back of who opened it (`>> log`), it would lose what it held.
fn is_open_file(link: &Path) -> bool {
    let within = |path: &Path| fs::canonicalize(folder_of(path)).is_ok_and(|path| path.starts_with("/proc"));
    within(link) || fs::read_link(link).is_ok_and(|to| within(&to))
}

fn write_through(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(OpenOptions::new().append(true).open(path)?);
    write(&mut writer)?;
    writer.flush()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn replace_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = folder_of(path);
    let temporary = Temporary(temporary_name(folder, path)?);
    let mut writer = BufWriter::new(File::create_new(&temporary.0)?);
    write(&mut writer)?;
    writer.flush()?;
    writer.get_ref().sync_all()?;
    fs::rename(&temporary.0, path)?;
    // The new name is an entry of the folder, which has to reach the disk as well. Not every
    // system lets a folder be opened; there, the rename stands as the system keeps it.
    if let Ok(folder) = File::open(folder) {
        folder.sync_all()?;
    }
    Ok(())
}

/// A hidden name beside `path` that no other process or thread uses.
fn temporary_name(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path does not end in a file name"));
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    Ok(folder.join(hidden))
}

/// Removes its file when dropped; after the rename there is nothing left to remove.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn gzip_is_told_by_content_not_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let mut text = String::new();
        replace(&path, |out| {
            // Two members, as `cat a.gz b.gz` makes.
            for part in ["one\n", "two\n"] {
                let mut gzip = GzEncoder::new(&mut *out, flate2::Compression::fast());
                gzip.write_all(part.as_bytes())?;
                gzip.finish()?;
            }
            Ok(())
        })
        .unwrap();
        open(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "one\ntwo\n");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        replace(&path, |out| out.write_all(b"old")).unwrap();
        let error = replace(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        })
        .unwrap_err();
        assert!(error.to_string().contains("model: cannot be written: disk full"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["model"]);

        replace(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[test]
    fn a_panic_while_writing_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let result = std::panic::catch_unwind(|| replace(&path, |_| panic!("on purpose")));
        assert!(result.is_err());
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn places_that_cannot_be_written_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("missing/file"), folder.path().join("..")] {
            let error = replace(&path, |_| Ok(())).unwrap_err();
            assert_eq!(error.path, path);
        }
        // A folder of that name is not replaced.
        let error = replace(folder.path(), |_| Ok(())).unwrap_err();
        assert_eq!(error.path, folder.path());
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_what_they_point_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), elsewhere.path().join("file"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for text in ["made", "replaced"] {
            replace(&link, |out| out.write_all(text.as_bytes())).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        replace(&link, |_| Err(io::Error::other("disk full"))).unwrap_err();
        assert_eq!(fs::read_to_string(&file).unwrap(), "replaced");
        assert_eq!(
            (names(folder.path()), names(elsewhere.path())),
            (vec!["link".into()], vec!["file".into()])
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_and_open_files_are_written_to_as_they_are() {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        // A link to the device: should it be replaced, the system keeps its own.
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        replace(&link, |out| out.write_all(b"nothing")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

        let path = folder.path().join("log");
        let mut log = File::create(&path).unwrap();
        log.write_all(b"before\n").unwrap();
        let open = PathBuf::from(format!("/proc/self/fd/{}", log.as_raw_fd()));
        replace(&open, |out| out.write_all(b"behind\n")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "before\nbehind\n");
        assert_eq!(names(folder.path()), ["log", "null"]);
    }

    #[test]
    fn missing_files_and_folders_are_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(open(folder.path()), Err(DataError::Folder { path }) if path == folder.path()));
        let missing = folder.path().join("missing");
        assert!(matches!(open(&missing), Err(DataError::Read { path, .. }) if path == missing));
    }
}
