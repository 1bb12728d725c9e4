//! A vocabulary indexed for matching: spellings, synonyms and the similarity of words.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::name_matching::{Candidate, MatchKind};
use super::slider_name::{Side, SliderName};
use super::vocabulary::{Vocabulary, meanings};

/// Below this similarity, two words are different words.
pub(super) const LEAST_WORD: f64 = 0.75;
/// Below this score, two names do not match. *Chosen*: `smile` for `mouthSmile` passes,
/// `browInnerUp` for `browOuterUp` does not.
const LEAST_SCORE: f64 = 0.7;

/// The name of a slider in all its plausible readings.
pub(super) struct Source {
    pub(super) text: String,
    pub(super) readings: Vec<SliderName>,
    /// The letters and digits alone, for names without separators; as written, and without a
    /// prefix.
    letters: Vec<String>,
    /// The rows of the table of meanings that contain it.
    pub(super) rows: Vec<usize>,
}

impl Source {
    pub(super) fn new(name: &str, vocabularies: &[Lexicon]) -> Self {
        let mut texts = vec![name];
        texts.extend(without_prefix(name));

        let mut readings: Vec<SliderName> =
            texts.iter().map(|text| SliderName::parse(text)).collect();

        // A code with a description also matches by its code alone.
        let action_units: Vec<SliderName> = readings.iter().filter_map(action_unit).collect();
        readings.extend(action_units);

        let mut source = Self {
            text: name.to_owned(),
            readings,
            letters: texts.iter().map(|text| letters(text)).collect(),
            rows: Vec::new(),
        };
        source.look_up(vocabularies);
        source
    }

    /// Collects the rows of meanings and the readings that the vocabularies have for it.
    fn look_up(&mut self, vocabularies: &[Lexicon]) {
        let entries = vocabularies.iter().flat_map(|lexicon| &lexicon.entries);
        let (names, aliases): (Vec<&Entry>, Vec<&Entry>) = entries
            .filter(|entry| entry.is_spelling_of(self))
            .partition(|entry| !entry.is_alias);

        // Names take precedence: ARKit's `mouthStretch` is not the "mouth stretch" of FACS.
        let known = if names.is_empty() { aliases } else { names };
        let mut rows = BTreeSet::new();
        for entry in known {
            rows.extend(&entry.rows);

            // A name without separators has a side only if a vocabulary knows it.
            self.readings.push(entry.reading.clone());
        }
        self.rows = rows.into_iter().collect();
    }

    /// Whether one of its readings has these sides.
    pub(super) fn has_sides(&self, sides: &[Side]) -> bool {
        self.readings.iter().any(|reading| reading.sides == sides)
    }
}

/// `head.jawOpen` without the name of its mesh; `None` if only a side would remain, as in
/// `blink.L`.
fn without_prefix(name: &str) -> Option<&str> {
    let (_, rest) = name.rsplit_once(['.', ':', '|', '/'])?;
    let reading = SliderName::parse(rest);
    let has_word = reading.words.iter().any(|word| word.len() > 1);
    has_word.then_some(rest)
}

/// `AU12_LipCornerPuller_L` without its description.
fn action_unit(reading: &SliderName) -> Option<SliderName> {
    let has_code = reading.words.len() > 2
        && reading.words[0] == "au"
        && reading.words[1].chars().all(char::is_numeric);
    has_code.then(|| SliderName {
        words: reading.words[..2].to_vec(),
        sides: reading.sides.clone(),
    })
}

/// The letters and digits of a name in lower case.
fn letters(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// One spelling of a name of a vocabulary.
pub(super) struct Entry {
    /// The name itself, which may have another spelling.
    pub(super) name: String,
    /// Whether this is a synonym of it.
    is_alias: bool,
    pub(super) reading: SliderName,
    /// Its spellings without separators.
    joined: Vec<String>,
    /// The rows of the table of meanings that contain the name.
    pub(super) rows: Vec<usize>,
}

impl Entry {
    fn new(vocabulary: Vocabulary, spelling: &str, name: &str) -> Self {
        let reading = SliderName::parse(spelling);

        // The side may stand before or after the words.
        let mut joined = vec![letters(spelling)];
        if let [side] = reading.sides[..] {
            let stem = reading.stem();
            let side_words = match side {
                Side::Left => ["left", "l"],
                Side::Right => ["right", "r"],
            };
            for word in side_words {
                joined.push(format!("{word}{stem}"));
                joined.push(format!("{stem}{word}"));
            }
        }

        Self {
            name: name.to_owned(),
            is_alias: spelling != name,
            reading,
            joined,
            rows: rows_of_meaning(vocabulary, name),
        }
    }

    fn is_spelling_of(&self, source: &Source) -> bool {
        let stem = self.reading.stem();
        let same_reading = source
            .readings
            .iter()
            .any(|reading| reading.sides == self.reading.sides && reading.stem() == stem);
        same_reading
            || source
                .letters
                .iter()
                .any(|letters| self.joined.contains(letters))
    }
}

/// The rows of the table of meanings that contain a name of a vocabulary, sides aside.
fn rows_of_meaning(vocabulary: Vocabulary, name: &str) -> Vec<usize> {
    let stem = SliderName::parse(name).stem();
    let column = vocabulary.column();
    let mut rows = Vec::new();
    for (k, row) in meanings().iter().enumerate() {
        if !row[column].is_empty() && SliderName::parse(row[column]).stem() == stem {
            rows.push(k);
        }
    }

    rows
}

/// All vocabularies, in their order.
pub(super) static LEXICONS: LazyLock<Vec<Lexicon>> =
    LazyLock::new(|| Vocabulary::ALL.into_iter().map(Lexicon::new).collect());

/// A vocabulary indexed for matching.
pub(super) struct Lexicon {
    /// The names in their order, then their synonyms.
    entries: Vec<Entry>,
    name_count: usize,
    /// The words of each distinct stem, from which the rarity of a word is computed.
    stems: BTreeSet<Vec<String>>,
}

impl Lexicon {
    fn new(vocabulary: Vocabulary) -> Self {
        let names = vocabulary.names();
        let mut entries = Vec::with_capacity(names.len());
        // Names before synonyms: the front of the list is that of `names`.
        for name in &names {
            entries.push(Entry::new(vocabulary, name, name));
        }
        for (spelling, name) in vocabulary.aliases() {
            entries.push(Entry::new(vocabulary, &spelling, &name));
        }

        let stems = entries
            .iter()
            .map(|entry| common_words(&entry.reading.words))
            .collect();
        Self {
            entries,
            name_count: names.len(),
            stems,
        }
    }

    /// The entries of the names, without synonyms.
    pub(super) fn names(&self) -> &[Entry] {
        &self.entries[..self.name_count]
    }

    pub(super) fn candidates<'a>(&'a self, source: usize, name: &Source) -> Vec<Candidate<'a>> {
        let mut candidates = Vec::new();
        for entry in &self.entries {
            if let Some((how, row)) = self.match_entry(entry, name) {
                candidates.push(Candidate {
                    source,
                    name: &entry.name,
                    how,
                    row,
                });
            }
        }

        candidates
    }

    /// How a slider matches an entry, if it does, and the row of meanings that relates them.
    fn match_entry(&self, entry: &Entry, name: &Source) -> Option<(MatchKind, usize)> {
        if entry.name == name.text {
            return Some((MatchKind::Exact, 0));
        }
        if entry.is_spelling_of(name) {
            // Synonyms rank after all rows of meanings.
            return Some(if entry.is_alias {
                (MatchKind::Meaning, meanings().len())
            } else {
                (MatchKind::Case, 0)
            });
        }

        // Beyond spellings, the sides must agree.
        if !name.has_sides(&entry.reading.sides) {
            return None;
        }
        if let Some(&row) = entry.rows.iter().find(|row| name.rows.contains(row)) {
            return Some((MatchKind::Meaning, row));
        }

        let mut best = 0.0_f64;
        for reading in &name.readings {
            if reading.sides == entry.reading.sides {
                best = best.max(self.score(&reading.words, &entry.reading.words));
            }
        }
        (best >= LEAST_SCORE).then_some((MatchKind::Fuzzy(best), 0))
    }

    /// The weight of a word: the rarer, the larger.
    fn weight(&self, word: &str) -> f64 {
        let with = self
            .stems
            .iter()
            .filter(|stem| stem.iter().any(|w| word_similarity(w, word) >= LEAST_WORD))
            .count();
        (1.0 + self.stems.len() as f64 / with.max(1) as f64).ln()
    }

    /// The similarity of two lists of words, from 0 to 1.
    fn score(&self, a: &[String], b: &[String]) -> f64 {
        let a = common_words(a);
        let mut unused = common_words(b);

        // Most pairs of names have no word in common.
        if !a.iter().any(|word| most_similar(word, &unused).is_some()) {
            return 0.0;
        }

        let total: f64 = a.iter().chain(&unused).map(|word| self.weight(word)).sum();
        let mut shared = 0.0;
        for word in &a {
            if let Some((k, similarity)) = most_similar(word, &unused) {
                let other = unused.remove(k);
                shared += similarity * (self.weight(word) + self.weight(&other));
            }
        }

        shared / total
    }
}

/// The first of the most similar words, with its similarity; `None` if all are different words.
fn most_similar(word: &str, others: &[String]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (k, other) in others.iter().enumerate() {
        let similarity = word_similarity(word, other);
        if similarity >= LEAST_WORD && best.is_none_or(|(_, most)| similarity > most) {
            best = Some((k, similarity));
        }
    }

    best
}

/// The words in the form that most vocabularies use.
fn common_words(words: &[String]) -> Vec<String> {
    let common = |word: &String| match word.as_str() {
        "eyebrow" | "eyebrows" | "brows" => "brow".to_owned(),
        "eyelid" | "eyelids" | "lids" => "lid".to_owned(),
        "eyes" => "eye".to_owned(),
        "lips" => "lip".to_owned(),
        "cheeks" => "cheek".to_owned(),
        word => word.to_owned(),
    };
    words.iter().map(common).collect()
}

/// One minus the Levenshtein distance relative to the longer word.
fn word_similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }

    // With so different lengths the similarity is below the threshold anyway.
    let shorter = a.len().min(b.len());
    let longer = a.len().max(b.len());
    if a.is_ascii() && b.is_ascii() && (shorter as f64) < LEAST_WORD * longer as f64 {
        return 0.0;
    }

    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        // One row of the dynamic programme is kept.
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }

    1.0 - row[b.len()] as f64 / a.len().max(b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_similarity_uses_the_levenshtein_distance() {
        for (a, b, distance) in [
            ("kitten", "sitting", 3.0),
            ("flaw", "lawn", 2.0),
            ("größe", "grösse", 2.0),
            ("smile", "smile", 0.0),
        ] {
            let longest = a.chars().count().max(b.chars().count()) as f64;
            assert!((word_similarity(a, b) - (1.0 - distance / longest)).abs() < 1e-12);
            assert_eq!(word_similarity(a, b), word_similarity(b, a));
        }
    }
}
