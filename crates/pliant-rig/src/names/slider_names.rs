//! Which slider of a rig is which name of a vocabulary.
//!
//! **Problem.** A rig says `mesh.EyeBlink_L`, the capture device `eyeBlinkLeft`, the coder `AU45L`.
//! A wrong guess is worse than none, and left must never become right.
//!
//! **Equation.** Names that are not the same but for their writing, and that no table relates, are
//! compared by their words, each weighing `w = ln(1 + N / n)`, where `n` of the vocabulary's `N`
//! names have it:
//!
//! ```text
//! score(a, b) = 2 Σ w s(a, b) / (Σ w(a) + Σ w(b))
//! ```
//!
//! with `s` the likeness of two words, `1 − d / length` by the number `d` of changed letters, where
//! it is at least [`LEAST_WORD`]; each word is used once.
//!
//! **Source.** Dice, "Measures of the amount of ecologic association between species", 1945; Spärck
//! Jones, "A statistical interpretation of term specificity", 1972; Levenshtein, 1966.
//!
//! **Ours.** Surest first: equal, equal but for the writing, equal in meaning, alike. Within one
//! kind the best score goes first, then the names decide, so that the order of the sliders does not
//! matter. Each slider and each name is used once.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::vocabulary::{Vocabulary, meanings};
use crate::{Side, SliderName};

/// Below this, two words are different words.
const LEAST_WORD: f64 = 0.75;
/// Below this, two names are not alike. Ours: `smile` for `mouthSmile` passes, `browInnerUp` for
/// `browOuterUp` does not.
const LEAST_SCORE: f64 = 0.7;

/// How a slider's name was recognised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Likeness {
    /// It is the same text.
    Exact,
    /// It differs in case, separators, a prefix such as `mesh.`, or in how the side is written.
    Case,
    /// It is another vocabulary's name for the same.
    Meaning,
    /// Its words are alike; from 0 to 1.
    Fuzzy(f64),
}

/// A slider and its name in the vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct NamePair {
    /// The slider, by its place in the list.
    pub source: usize,
    /// The vocabulary's name for it.
    pub name: String,
    /// How it was recognised.
    pub how: Likeness,
}

/// What [`match_names`] found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NameMap {
    /// Sliders with a name, in the order of the sliders.
    pub pairs: Vec<NamePair>,
    /// Sliders without one.
    pub unmatched_sources: Vec<usize>,
    /// Names that no slider has; of a name for both sides and one for each, only what is missing
    /// to one of the two ways.
    pub unmatched_names: Vec<String>,
    /// Sliders of both sides for which the vocabulary has only a left and a right name: split them
    /// first.
    pub to_split: Vec<(usize, [String; 2])>,
    /// Left and right sliders that together are one name of the vocabulary: add them up first.
    pub to_merge: Vec<([usize; 2], String)>,
}

/// Finds for each of the sliders `from` its name in the vocabulary `to`.
///
/// ```
/// use pliant_rig::{Vocabulary, match_names};
///
/// let map = match_names(&["mesh.EyeBlink_L", "AU26", "tail"], Vocabulary::Arkit);
/// let names: Vec<&str> = map.pairs.iter().map(|pair| pair.name.as_str()).collect();
/// assert_eq!(names, ["eyeBlinkLeft", "jawOpen"]);
/// assert_eq!(map.unmatched_sources, [2]);
/// ```
#[must_use]
pub fn match_names(from: &[&str], to: Vocabulary) -> NameMap {
    let lexicon = &LEXICONS[to.column()];
    let sources: Vec<Source> = from
        .iter()
        .map(|name| Source::new(name, &LEXICONS))
        .collect();
    let candidates = sources
        .iter()
        .enumerate()
        .flat_map(|(index, source)| lexicon.candidates(index, source));
    let mut candidates: Vec<Candidate<'_>> = candidates.collect();
    candidates.sort_by(|a, b| {
        a.rank()
            .partial_cmp(&b.rank())
            .expect("scores are finite")
            .then_with(|| a.names(from).cmp(&b.names(from)))
    });
    let pairs = assign(candidates, from.len());
    report(pairs, &sources, lexicon)
}

/// A slider that may have a name.
struct Candidate<'a> {
    source: usize,
    name: &'a str,
    how: Likeness,
    /// The row of the table that relates them; the first is preferred.
    row: usize,
}

impl<'a> Candidate<'a> {
    /// Ascending from the surest.
    fn rank(&self) -> (u8, f64, usize) {
        match self.how {
            Likeness::Exact => (0, 0.0, 0),
            Likeness::Case => (1, 0.0, 0),
            Likeness::Meaning => (2, 0.0, self.row),
            Likeness::Fuzzy(score) => (3, -score, 0),
        }
    }

    fn names<'b>(&'b self, from: &'b [&str]) -> (&'b str, &'a str, usize) {
        (from[self.source], self.name, self.source)
    }
}

/// Takes the candidates in their order; each slider and each name once.
fn assign(candidates: Vec<Candidate<'_>>, sources: usize) -> Vec<NamePair> {
    let mut taken = vec![false; sources];
    let mut names = BTreeSet::new();
    let mut pairs = Vec::new();
    for Candidate {
        source, name, how, ..
    } in candidates
    {
        if !taken[source] && names.insert(name) {
            taken[source] = true;
            pairs.push(NamePair {
                source,
                name: name.to_owned(),
                how,
            });
        }
    }
    pairs.sort_by_key(|pair| pair.source);
    pairs
}

/// A slider's name, read in every way that makes sense.
struct Source {
    text: String,
    readings: Vec<SliderName>,
    /// The letters and digits alone, for names without any boundary; as written, and without a
    /// prefix.
    letters: Vec<String>,
    /// The rows of the table of meanings that speak of it.
    rows: Vec<usize>,
}

impl Source {
    fn new(name: &str, vocabularies: &[Lexicon]) -> Self {
        let texts = [Some(name), without_prefix(name)];
        let mut readings: Vec<SliderName> = texts
            .iter()
            .flatten()
            .map(|text| SliderName::parse(text))
            .collect();
        readings.extend(readings.iter().filter_map(action_unit).collect::<Vec<_>>());
        let letters = texts.iter().flatten().map(|text| letters(text)).collect();
        let mut source = Self {
            text: name.to_owned(),
            readings,
            letters,
            rows: Vec::new(),
        };
        source.learn_meanings(vocabularies);
        source
    }

    /// Collects the rows that speak of it, and how the vocabularies would read it.
    fn learn_meanings(&mut self, vocabularies: &[Lexicon]) {
        let entries = vocabularies.iter().flat_map(|lexicon| &lexicon.entries);
        let (names, aliases): (Vec<&Entry>, Vec<&Entry>) = entries
            .filter(|e| e.is_written_as(self))
            .partition(|e| !e.is_alias);
        // False friends: ARKit's `mouthStretch` is not the "mouth stretch" of FACS.
        let known = if names.is_empty() { aliases } else { names };
        let rows: BTreeSet<usize> = known
            .iter()
            .flat_map(|entry| entry.rows.iter().copied())
            .collect();
        self.rows = rows.into_iter().collect();
        // A name without boundaries only has a side once a vocabulary knows it.
        self.readings
            .extend(known.iter().map(|entry| entry.reading.clone()));
    }

    /// Whether one of its readings has these sides.
    fn has_sides(&self, sides: &[Side]) -> bool {
        self.readings.iter().any(|reading| reading.sides == sides)
    }
}

/// `head.jawOpen` without the name of its mesh; nothing where only a side would be left, as in
/// `blink.L`.
fn without_prefix(name: &str) -> Option<&str> {
    let (_, rest) = name.rsplit_once(['.', ':', '|', '/'])?;
    let reading = SliderName::parse(rest);
    let says_something = reading.words.iter().any(|word| word.len() > 1);
    says_something.then_some(rest)
}

/// `AU12_LipCornerPuller_L` without its explanation.
fn action_unit(reading: &SliderName) -> Option<SliderName> {
    let coded = reading.words.len() > 2
        && reading.words[0] == "au"
        && reading.words[1].chars().all(char::is_numeric);
    coded.then(|| SliderName {
        words: reading.words[..2].to_vec(),
        sides: reading.sides.clone(),
    })
}

fn letters(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// One way to write a name of a vocabulary.
struct Entry {
    /// The name itself, which may be written otherwise here.
    name: String,
    /// Whether this is another word for it.
    is_alias: bool,
    reading: SliderName,
    /// How it looks without any boundary.
    glued: Vec<String>,
    /// The rows of the table of meanings that speak of the name.
    rows: Vec<usize>,
}

impl Entry {
    fn new(vocabulary: Vocabulary, written: &str, name: &str) -> Self {
        let reading = SliderName::parse(written);
        let mut glued = vec![letters(written)];
        if let [side] = reading.sides[..] {
            let stem = reading.stem();
            let forms = if side == Side::Left {
                ["left", "l"]
            } else {
                ["right", "r"]
            };
            glued.extend(
                forms
                    .iter()
                    .flat_map(|form| [format!("{form}{stem}"), format!("{stem}{form}")]),
            );
        }
        let stem = SliderName::parse(name).stem();
        let column = vocabulary.column();
        let speaks = |row: &[&str; 5]| {
            !row[column].is_empty() && SliderName::parse(row[column]).stem() == stem
        };
        let rows = meanings()
            .iter()
            .enumerate()
            .filter(|(_, row)| speaks(row))
            .map(|(k, _)| k)
            .collect();
        Self {
            name: name.to_owned(),
            is_alias: written != name,
            reading,
            glued,
            rows,
        }
    }

    fn is_written_as(&self, source: &Source) -> bool {
        let same = |reading: &SliderName| {
            reading.sides == self.reading.sides && reading.stem() == self.reading.stem()
        };
        source.readings.iter().any(same)
            || source
                .letters
                .iter()
                .any(|letters| self.glued.contains(letters))
    }
}

/// All vocabularies, in their order.
static LEXICONS: LazyLock<Vec<Lexicon>> =
    LazyLock::new(|| Vocabulary::ALL.into_iter().map(Lexicon::new).collect());

/// A vocabulary, ready to be looked up.
struct Lexicon {
    /// The names in their order, then other words for them.
    entries: Vec<Entry>,
    names: usize,
    /// The words of each stem, each stem once, for how rare a word is.
    stems: BTreeSet<Vec<String>>,
}

impl Lexicon {
    fn new(vocabulary: Vocabulary) -> Self {
        let names = vocabulary.names();
        let mut entries: Vec<Entry> = names
            .iter()
            .map(|name| Entry::new(vocabulary, name, name))
            .collect();
        entries.extend(
            vocabulary
                .aliases()
                .iter()
                .map(|(written, name)| Entry::new(vocabulary, written, name)),
        );
        let stems = entries
            .iter()
            .map(|entry| common_words(&entry.reading.words))
            .collect();
        Self {
            entries,
            names: names.len(),
            stems,
        }
    }

    fn candidates<'a>(&'a self, source: usize, name: &Source) -> Vec<Candidate<'a>> {
        let judge = |entry: &'a Entry| {
            let candidate = |how, row| {
                Some(Candidate {
                    source,
                    name: &entry.name,
                    how,
                    row,
                })
            };
            if entry.name == name.text {
                return candidate(Likeness::Exact, 0);
            }
            if entry.is_written_as(name) {
                let after_all_rows = meanings().len();
                return if entry.is_alias {
                    candidate(Likeness::Meaning, after_all_rows)
                } else {
                    candidate(Likeness::Case, 0)
                };
            }
            if !name.has_sides(&entry.reading.sides) {
                return None;
            }
            if let Some(&row) = entry.rows.iter().find(|row| name.rows.contains(row)) {
                return candidate(Likeness::Meaning, row);
            }
            let scores = name
                .readings
                .iter()
                .filter(|reading| reading.sides == entry.reading.sides);
            let best = scores
                .map(|reading| self.score(&reading.words, &entry.reading.words))
                .fold(0.0, f64::max);
            if best >= LEAST_SCORE {
                candidate(Likeness::Fuzzy(best), 0)
            } else {
                None
            }
        };
        self.entries.iter().filter_map(judge).collect()
    }

    /// How much a word says: the rarer, the more.
    fn weight(&self, word: &str) -> f64 {
        let with = self
            .stems
            .iter()
            .filter(|stem| stem.iter().any(|w| likeness(w, word) >= LEAST_WORD))
            .count();
        (1.0 + self.stems.len() as f64 / with.max(1) as f64).ln()
    }

    /// The likeness of two lists of words, from 0 to 1.
    fn score(&self, a: &[String], b: &[String]) -> f64 {
        let (a, mut left) = (common_words(a), common_words(b));
        // Most pairs of names share no word at all.
        if !a
            .iter()
            .any(|word| left.iter().any(|other| likeness(word, other) >= LEAST_WORD))
        {
            return 0.0;
        }
        let total: f64 = a.iter().chain(&left).map(|word| self.weight(word)).sum();
        let mut shared = 0.0;
        for word in &a {
            let likes = left.iter().map(|other| likeness(word, other)).enumerate();
            let best = likes
                .filter(|(_, like)| *like >= LEAST_WORD)
                .max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)));
            if let Some((k, like)) = best {
                let other = left.remove(k);
                shared += like * (self.weight(word) + self.weight(&other));
            }
        }
        shared / total
    }
}

/// The words as most vocabularies have them.
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

/// One minus the share of letters that must change.
fn likeness(a: &str, b: &str) -> f64 {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    if a == b {
        return 1.0;
    }
    if a.is_ascii() && b.is_ascii() && (short as f64) < LEAST_WORD * long as f64 {
        return 0.0; // So many letters more that the rest cannot matter.
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    1.0 - row[b.len()] as f64 / a.len().max(b.len()) as f64
}

fn report(pairs: Vec<NamePair>, sources: &[Source], lexicon: &Lexicon) -> NameMap {
    let used: BTreeSet<&str> = pairs.iter().map(|pair| pair.name.as_str()).collect();
    let matched: BTreeSet<usize> = pairs.iter().map(|pair| pair.source).collect();
    let unmatched_sources: Vec<usize> = (0..sources.len())
        .filter(|k| !matched.contains(k))
        .collect();
    let names = &lexicon.entries[..lexicon.names];
    let missed = |entry: &&Entry| is_missed(entry, names, &used);
    let unmatched_names: Vec<String> = names
        .iter()
        .filter(missed)
        .map(|entry| entry.name.clone())
        .collect();
    let free = |entry: &&Entry| !used.contains(entry.name.as_str());
    let open: Vec<&Entry> = names.iter().filter(free).collect();
    let to_split = unmatched_sources
        .iter()
        .filter_map(|&k| Some((k, halves(&sources[k], &open)?)))
        .collect();
    let to_merge = merges(sources, &unmatched_sources, &open);
    NameMap {
        unmatched_sources,
        unmatched_names,
        to_split,
        to_merge,
        pairs,
    }
}

/// Whether a name is worth missing. Where a vocabulary has a name for both sides and one for each,
/// the one for both is missed if there is none of the three, and a side if only the other is there.
fn is_missed(entry: &Entry, names: &[Entry], used: &BTreeSet<&str>) -> bool {
    let stem = entry.reading.stem();
    let siblings: Vec<&Entry> = names
        .iter()
        .filter(|other| other.name != entry.name && other.reading.stem() == stem)
        .collect();
    let is_used = |entry: &Entry| used.contains(entry.name.as_str());
    let has_whole = siblings.iter().any(|other| !other.reading.is_sided());
    let whole_used = siblings
        .iter()
        .any(|other| !other.reading.is_sided() && is_used(other));
    let sibling_used = siblings.iter().any(|other| is_used(other));
    !is_used(entry)
        && match entry.reading.is_sided() {
            false => !sibling_used,
            true => !has_whole || (sibling_used && !whole_used),
        }
}

/// Whether a slider says the same as a name, sides aside.
fn same_but_for_side(source: &Source, entry: &Entry) -> bool {
    let stem = entry.reading.stem();
    source.readings.iter().any(|reading| reading.stem() == stem)
        || entry.rows.iter().any(|row| source.rows.contains(row))
}

fn halves(source: &Source, open: &[&Entry]) -> Option<[String; 2]> {
    if !source.has_sides(&[]) {
        return None;
    }
    let half = |side: Side| {
        let mut found = open
            .iter()
            .filter(|entry| entry.reading.sides == [side] && same_but_for_side(source, entry));
        found.next().map(|entry| entry.name.clone())
    };
    Some([half(Side::Left)?, half(Side::Right)?])
}

fn merges(sources: &[Source], unmatched: &[usize], open: &[&Entry]) -> Vec<([usize; 2], String)> {
    let whole = open.iter().filter(|entry| !entry.reading.is_sided());
    let pairs = whole.filter_map(|entry| {
        let half = |side: Side| {
            let fits = unmatched.iter().filter(|&&k| {
                sources[k].has_sides(&[side]) && same_but_for_side(&sources[k], entry)
            });
            fits.min_by_key(|&&k| &sources[k].text).copied()
        };
        Some(([half(Side::Left)?, half(Side::Right)?], entry.name.clone()))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[String]) -> Vec<&str> {
        names.iter().map(String::as_str).collect()
    }

    fn named(map: &NameMap, source: usize) -> Option<&str> {
        map.pairs
            .iter()
            .find(|pair| pair.source == source)
            .map(|pair| pair.name.as_str())
    }

    /// The map as slider → name, in the order of the sliders' names.
    fn by_name(from: &[&str], to: Vocabulary) -> Vec<(String, String)> {
        let map = match_names(from, to);
        let mut pairs: Vec<_> = map
            .pairs
            .iter()
            .map(|p| (from[p.source].to_lowercase(), p.name.clone()))
            .collect();
        pairs.sort();
        pairs
    }

    #[test]
    fn each_vocabulary_is_its_own_translation() {
        for vocabulary in Vocabulary::ALL {
            let names = vocabulary.names();
            let map = match_names(&strings(&names), vocabulary);
            assert_eq!(map.pairs.len(), names.len());
            assert!(
                map.pairs
                    .iter()
                    .all(|pair| pair.name == names[pair.source] && pair.how == Likeness::Exact),
                "{vocabulary}"
            );
            assert!(map.unmatched_sources.is_empty() && map.unmatched_names.is_empty());
        }
    }

    #[test]
    fn one_slider_is_found_in_all_its_spellings() {
        for name in [
            "jaw_open",
            "JawOpen",
            "mesh.jawOpen",
            "JAWOPEN",
            "blendShape1:head|jaw-open",
            "jawOpen1.jawOpen",
        ] {
            assert_eq!(
                named(&match_names(&[name], Vocabulary::Arkit), 0),
                Some("jawOpen"),
                "{name}"
            );
        }
        let spellings = [
            "eyeBlink_L",
            "EyeBlinkLeft",
            "blink.L",
            "Left_eye_blink",
            "eyeblinkl",
            "lefteyeblink",
            "AU45_Blink_L",
            "AU45L",
            "eye-left-closure",
            "mesh.eyeBlink_L",
        ];
        for name in spellings {
            assert_eq!(
                named(&match_names(&[name], Vocabulary::Arkit), 0),
                Some("eyeBlinkLeft"),
                "{name}"
            );
        }
    }

    const ICT: [&str; 18] = [
        "PupilDilate_L",
        "browDown_L",
        "browInnerUp_L",
        "browInnerUp_R",
        "cheekPuff_L",
        "cheekRaiser_L",
        "cheekSquint_L",
        "eyeBlink_R",
        "eyeLookDown_L",
        "eyeLookIn_R",
        "jawForward",
        "jawLeft",
        "jawOpen",
        "mouthLeft",
        "mouthLowerDown_L",
        "mouthRollUpper",
        "mouthSmile_R",
        "noseSneer_L",
    ];

    #[test]
    fn the_names_of_a_face_kit_become_arkits() {
        let map = match_names(&ICT, Vocabulary::Arkit);
        for (source, name) in ICT.iter().enumerate() {
            let expected = match *name {
                "PupilDilate_L" | "browInnerUp_L" | "browInnerUp_R" | "cheekPuff_L"
                | "cheekRaiser_L" => None,
                name => Some(name.replace("_L", "Left").replace("_R", "Right")),
            };
            assert_eq!(named(&map, source), expected.as_deref(), "{name}");
        }
        assert_eq!(map.to_merge, [([2, 3], "browInnerUp".to_owned())]);
    }

    #[test]
    fn order_and_case_change_nothing() {
        let mut sources: Vec<String> = ICT.iter().map(|&name| name.to_owned()).collect();
        sources.extend(["smile_L", "mouth_smile_L", "AU26", "happy", "open"].map(str::to_owned));
        let expected = by_name(&strings(&sources), Vocabulary::Arkit);
        for turn in 0..sources.len() {
            sources.rotate_left(1);
            sources.swap(0, turn);
            assert_eq!(by_name(&strings(&sources), Vocabulary::Arkit), expected);
        }
        let separated: Vec<String> = sources
            .iter()
            .map(|name| SliderName::parse(name))
            .map(|n| n.words.join("_") + side_text(&n))
            .collect();
        let shouted: Vec<String> = separated.iter().map(|name| name.to_uppercase()).collect();
        assert_eq!(
            by_name(&strings(&separated), Vocabulary::Arkit),
            by_name(&strings(&shouted), Vocabulary::Arkit)
        );
    }

    fn side_text(name: &SliderName) -> &'static str {
        match name.side() {
            Some(Side::Left) => "_l",
            Some(Side::Right) => "_r",
            None => "",
        }
    }

    #[test]
    fn left_never_becomes_right() {
        let mut sided = Vec::new();
        for vocabulary in Vocabulary::ALL {
            sided.extend(
                vocabulary
                    .names()
                    .into_iter()
                    .chain(vocabulary.aliases().into_iter().map(|(alias, _)| alias)),
            );
        }
        sided.sort();
        sided.dedup();
        for vocabulary in Vocabulary::ALL {
            // One by one, so that no better match is in the way of a wrong one.
            for name in &sided {
                for pair in match_names(&[name], vocabulary).pairs {
                    assert_eq!(
                        SliderName::parse(name).sides,
                        SliderName::parse(&pair.name).sides,
                        "{name} is not {}",
                        pair.name
                    );
                }
            }
        }
    }

    #[test]
    fn meanings_cross_vocabularies_and_whole_sliders_ask_to_be_split() {
        let map = match_names(
            &["AU12L", "AU26", "AU12", "aa", "mouth-open"],
            Vocabulary::Arkit,
        );
        assert_eq!(named(&map, 0), Some("mouthSmileLeft"));
        assert_eq!(
            map.pairs
                .iter()
                .filter(|pair| pair.name == "jawOpen")
                .count(),
            1,
            "each name is used once"
        );
        let facs = match_names(
            &["mouthSmileLeft", "jawOpen", "jawLeft", "lipCornerPuller_R"],
            Vocabulary::Facs,
        );
        let names: Vec<_> = facs.pairs.iter().map(|pair| pair.name.as_str()).collect();
        assert_eq!(names, ["AU12L", "AU26", "AU30L", "AU12R"]);
        let missed = |name: &str| facs.unmatched_names.iter().any(|known| known == name);
        assert!(
            !missed("AU12") && !missed("AU26L"),
            "both of its sides are there; the whole is"
        );
        assert!(
            missed("AU9") && !missed("AU9L"),
            "one of three is enough to miss"
        );
        let friends = match_names(&["mouthStretch_L", "mouth stretch"], Vocabulary::Facs);
        assert_eq!(
            friends.pairs[0].name, "AU20L",
            "what ARKit calls so is another unit than what FACS calls so"
        );
        let vrm = match_names(
            &["A", "Joy", "Blink_L", "LookLeft", "AU62"],
            Vocabulary::Vrm,
        );
        let names: Vec<_> = vrm.pairs.iter().map(|pair| pair.name.as_str()).collect();
        assert_eq!(names, ["aa", "happy", "blinkLeft", "lookLeft", "lookRight"]);
        let whole = match_names(&["AU12"], Vocabulary::Arkit);
        assert_eq!(
            whole.to_split,
            [(
                0,
                ["mouthSmileLeft".to_owned(), "mouthSmileRight".to_owned()]
            )]
        );
    }

    #[test]
    fn rare_words_decide_and_common_ones_do_not() {
        let map = match_names(
            &[
                "smile_L",
                "pucker",
                "mouthThing",
                "browOuterUp",
                "eyeLookSideways_L",
            ],
            Vocabulary::Arkit,
        );
        assert_eq!(named(&map, 0), Some("mouthSmileLeft"));
        assert_eq!(named(&map, 1), Some("mouthPucker"));
        assert_eq!(map.unmatched_sources, [2, 3, 4]);
    }

    #[test]
    fn changed_letters_are_counted_as_levenshtein_does() {
        for (a, b, distance) in [
            ("kitten", "sitting", 3.0),
            ("flaw", "lawn", 2.0),
            ("größe", "grösse", 2.0),
            ("smile", "smile", 0.0),
        ] {
            let longest = a.chars().count().max(b.chars().count()) as f64;
            assert!((likeness(a, b) - (1.0 - distance / longest)).abs() < 1e-12);
            assert_eq!(likeness(a, b), likeness(b, a));
        }
    }
}
