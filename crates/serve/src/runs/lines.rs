//! The lines of a file that may be as long as they like: those that are too long are passed over.

use std::io::{self, BufRead};

/// The most bytes of a line that is read.
const LONGEST: usize = 64 << 10;

/// Shows every whole line of a file to `look`. What a run that was killed has left behind the last line end is no line.
pub(super) fn each_line(mut file: impl BufRead, mut look: impl FnMut(&[u8])) -> io::Result<()> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            return Ok(());
        }
        let end = piece.iter().position(|&byte| byte == b'\n');
        let read = &piece[..end.unwrap_or(piece.len())];
        too_long |= line.len() + read.len() > LONGEST;
        if !too_long {
            line.extend_from_slice(read);
        }
        let used = read.len() + usize::from(end.is_some());
        file.consume(used);
        if end.is_some() {
            if !too_long {
                look(&line);
            }
            line.clear();
            too_long = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_come_whole_or_not_at_all() {
        let long = "x".repeat(LONGEST + 1);
        let text = format!("one\n\n{long}\ntwo\nwithout an end");
        for buffer in [1, 7, 1 << 20] {
            let mut found = Vec::new();
            each_line(BufReader::with_capacity(buffer, text.as_bytes()), |line| {
                found.push(String::from_utf8(line.to_vec()).unwrap());
            })
            .unwrap();
            assert_eq!(found, ["one", "", "two"]);
        }
    }
}
