//! Lines, words and numbers of text formats, as bytes; names need not be UTF-8.

/// Lines of a text, ended by `\n`, `\r\n` or `\r`, with their numbers counted from 1.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    next_number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a [u8]) -> Self {
        Self {
            rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text),
            next_number: 1,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }

        let end = self
            .rest
            .iter()
            .position(|&b| b == b'\n' || b == b'\r')
            .unwrap_or(self.rest.len());
        let line = &self.rest[..end];

        let ending = match self.rest[end..] {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };

        self.rest = &self.rest[end + ending..];
        self.next_number += 1;
        Some((self.next_number - 1, line))
    }
}

/// The words of a line, up to one that begins with `#`.
pub(crate) struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    /// The text that is not read yet, without the space around it.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest.trim_ascii()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|b| !is_space(*b))?;
        let from_word = &self.rest[start..];
        if from_word[0] == b'#' {
            self.rest = &[];
            return None;
        }

        let end = from_word
            .iter()
            .position(|b| is_space(*b))
            .unwrap_or(from_word.len());
        let (word, rest) = from_word.split_at(end);

        self.rest = rest;
        Some(word)
    }
}

/// The words of a whole text, over all its lines.
pub(crate) struct TextWords<'a> {
    lines: Lines<'a>,
    words: Words<'a>,
    /// The line of the last word.
    pub(crate) line: usize,
}

impl<'a> TextWords<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self {
            lines: Lines::of(bytes),
            words: Words::of(b""),
            line: 1,
        }
    }

    /// The words left on the line of the last word.
    pub(crate) fn on_this_line(&mut self) -> &mut Words<'a> {
        &mut self.words
    }
}

impl<'a> Iterator for TextWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(word) = self.words.next() {
                return Some(word);
            }
            let (line, text) = self.lines.next()?;
            self.line = line;
            self.words = Words::of(text);
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

/// A word for a message, shortened if it is long.
pub(crate) fn excerpt(word: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text =
        String::from_utf8_lossy(&word[..word.len().min(LONGEST)]).replace(char::is_control, " ");
    if word.len() > LONGEST {
        format!("{text}…")
    } else {
        text
    }
}

/// A decimal number; also the spellings of `nan` and `inf` by C libraries.
#[inline]
pub(crate) fn number(word: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(word).ok()?;
    text.parse().ok().or_else(|| c_library_number(text))
}

/// Spellings of C libraries that Rust does not know: `-nan(ind)`, `1.#QNAN`, `-1.#INF`.
#[cold]
fn c_library_number(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let (sign, size) = lower
        .strip_prefix('-')
        .map_or((1.0, lower.as_str()), |size| (-1.0, size));
    match size {
        s if s.starts_with("1.#inf") => Some(sign * f64::INFINITY),
        s if s.starts_with("1.#") || s == "nan" || s.starts_with("nan(") => Some(f64::NAN),
        _ => None,
    }
}

/// Appends the shortest decimal that reads back as the same number.
pub(crate) fn push_number(out: &mut Vec<u8>, value: f64) {
    use std::io::Write as _;

    let size = value.abs();
    // Far from 1, a plain decimal would need hundreds of zeros.
    let plain = value == 0.0 || (1e-5..1e16).contains(&size);
    let written = if plain {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };

    written.expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_of_all_systems_are_understood() {
        let lines: Vec<_> = Lines::of(b"a\r\nb\rc\n\nd").collect();
        assert_eq!(
            lines,
            [(1, &b"a"[..]), (2, b"b"), (3, b"c"), (4, b""), (5, b"d")]
        );
    }

    #[test]
    fn a_comment_ends_the_words() {
        let words: Vec<_> = Words::of(b" f\t1#2  3 # rest").collect();
        assert_eq!(words, [&b"f"[..], b"1#2", b"3"]);
    }

    #[test]
    fn written_numbers_read_back_exactly() {
        for value in [
            0.0,
            -0.0,
            0.1,
            1.0 / 3.0,
            1e-300,
            -5e-324,
            f64::MAX,
            1e16,
            12345.678,
            f64::INFINITY,
        ] {
            let mut text = Vec::new();
            push_number(&mut text, value);
            assert_eq!(number(&text).unwrap().to_bits(), value.to_bits());
            assert!(text.len() < 30);
        }
    }

    #[test]
    fn every_spelling_of_not_a_number_is_read() {
        for word in ["nan", "NaN", "-nan", "-nan(ind)", "1.#QNAN", "-1.#IND00"] {
            assert!(number(word.as_bytes()).unwrap().is_nan(), "{word}");
        }
        assert_eq!(number(b"-1.#INF"), Some(f64::NEG_INFINITY));
        for word in ["", "one", "1,5", "0x1", "1.5f"] {
            assert_eq!(number(word.as_bytes()), None, "{word}");
        }
    }
}
