//! Texts that cannot control a terminal.
//!
//! **Problem.** Names, paths and URIs come from files that nobody checked. Escape sequences in them
//! could colour, move or clear a terminal, and a name can be as long as its file.
//!
//! **Rule.** Control characters and characters that change the direction of writing are shown as
//! `\u{1b}`; a word of a message that is longer than [`LONGEST_WORD`] is shortened.

use std::fmt::Write;

/// *Chosen*: longer than any vertex list or path that a person types, shorter than three lines.
const LONGEST_WORD: usize = 240;
/// Characters of a longer word that are shown at each end.
const SHOWN_ENDS: usize = 40;

/// One line of a message: without line breaks and control characters, and with short words.
pub(crate) fn message_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (k, word) in text.split(' ').enumerate() {
        if k > 0 {
            line.push(' ');
        }
        line += &escape(&shorten(word), |_| false);
    }
    line
}

/// A result of several lines: without control characters other than line breaks and tabs.
pub(crate) fn result_text(text: &str) -> String {
    escape(text, |c| c == '\n' || c == '\t')
}

fn shorten(word: &str) -> String {
    let length = word.chars().count();
    if length <= LONGEST_WORD {
        return word.to_owned();
    }

    let start: String = word.chars().take(SHOWN_ENDS).collect();
    let end: String = word.chars().skip(length - SHOWN_ENDS).collect();
    format!("{start}…({length} characters)…{end}")
}

fn escape(text: &str, is_allowed: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if !is_allowed(c) && (c.is_control() || changes_direction(c)) {
            let _ = write!(escaped, "{}", c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Marks, embeddings, overrides and isolates of bidirectional text (Unicode Standard Annex 9).
fn changes_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_a_message_controls_the_terminal() {
        let every: String = ('\0'..='\u{ffff}').collect();
        for c in message_line(&every)
            .chars()
            .chain(result_text(&every).chars())
        {
            let allowed = c == '\n' || c == '\t';
            assert!(
                allowed || !(c.is_control() || changes_direction(c)),
                "{c:?}"
            );
        }
        assert_eq!(message_line("\u{1b}[2Jred"), "\\u{1b}[2Jred");
        assert_eq!(message_line("two\nlines"), "two\\u{a}lines");
    }

    #[test]
    fn usual_texts_are_unchanged() {
        for text in [
            "pose head.glb: no target 'smile'",
            "größe  0.585 m",
            "目",
            "",
        ] {
            assert_eq!(message_line(text), text);
        }
        assert_eq!(result_text("a\tb\nc"), "a\tb\nc");
    }

    #[test]
    fn a_long_name_keeps_its_two_ends() {
        let line = message_line(&format!("no target '{}'", "x".repeat(5000)));
        assert!(line.starts_with("no target 'xxx"), "{line}");
        assert!(line.ends_with("xxx'"), "{line}");
        assert!(line.chars().count() < LONGEST_WORD, "{line}");
    }
}
