//! Matching of slider names to a vocabulary.
//!
//! **Problem.** A rig says `mesh.EyeBlink_L`, the capture device `eyeBlinkLeft`, the coder `AU45L`.
//! A wrong match is worse than none, and left must never become right.
//!
//! **Equation.** Names that differ in more than their spelling, and that no table relates, are
//! compared by their words. The weight of a word is `w = ln(1 + N / n)`, where `n` of the `N` names
//! of the vocabulary have it:
//!
//! ```text
//! score(a, b) = 2 Σ w s(a, b) / (Σ w(a) + Σ w(b))
//! ```
//!
//! with the similarity `s` of two words, `1 − d / length` with the Levenshtein distance `d`, if it
//! is at least 0.75; each word is used once.
//!
//! **Source.** Dice, "Measures of the amount of ecologic association between species", 1945; Spärck
//! Jones, "A statistical interpretation of term specificity", 1972; Levenshtein, 1966.
//!
//! **Departures.** Matches are made in the order of their certainty: equal, equal except for the
//! spelling, equal in meaning, similar. Within one kind the best score comes first, then the
//! alphabetical order, so that the order of the sliders does not matter. Each slider and each name
//! is used once.

use std::collections::BTreeSet;

use super::Vocabulary;
use super::lexicon::{Entry, LEXICONS, Lexicon, Source};
use super::slider_name::Side;

/// How a slider's name was matched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MatchKind {
    /// The same text.
    Exact,
    /// Another case, separator, prefix such as `mesh.`, or spelling of the side.
    Case,
    /// The name of another vocabulary for the same motion.
    Meaning,
    /// Similar words, with their score from 0 to 1.
    Fuzzy(f64),
}

/// A slider and its name in the vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct NamePair {
    /// The slider, by its index in the list.
    pub source: usize,
    /// The vocabulary's name for it.
    pub name: String,
    /// How it was matched.
    pub how: MatchKind,
}

/// The result of [`match_names`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NameMap {
    /// Sliders with a name, in the order of the sliders.
    pub pairs: Vec<NamePair>,
    /// Sliders without one.
    pub unmatched_sources: Vec<usize>,
    /// Names that no slider has. Where the vocabulary has a name for both sides and one for each,
    /// only those that complete one of the two alternatives.
    pub unmatched_names: Vec<String>,
    /// Sliders of both sides for which the vocabulary has only a left and a right name; split them
    /// first.
    pub to_split: Vec<(usize, [String; 2])>,
    /// Left and right sliders that together are one name of the vocabulary; add them up first.
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

    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        candidates.extend(lexicon.candidates(index, source));
    }

    candidates.sort_by(|a, b| {
        a.rank()
            .partial_cmp(&b.rank())
            .expect("scores are finite")
            .then_with(|| a.names(from).cmp(&b.names(from)))
    });

    // Greedy assignment in the order of certainty.
    let pairs = assign(candidates, from.len());
    report(pairs, &sources, lexicon)
}

/// A possible match of a slider and a name.
pub(super) struct Candidate<'a> {
    pub(super) source: usize,
    pub(super) name: &'a str,
    pub(super) how: MatchKind,
    /// The row of the table that relates them; the first is preferred.
    pub(super) row: usize,
}

impl<'a> Candidate<'a> {
    /// Ascending from the most certain.
    fn rank(&self) -> (u8, f64, usize) {
        match self.how {
            MatchKind::Exact => (0, 0.0, 0),
            MatchKind::Case => (1, 0.0, 0),
            MatchKind::Meaning => (2, 0.0, self.row),
            MatchKind::Fuzzy(score) => (3, -score, 0),
        }
    }

    fn names<'b>(&'b self, from: &'b [&str]) -> (&'b str, &'a str, usize) {
        (from[self.source], self.name, self.source)
    }
}

/// Accepts the candidates in their order; each slider and each name once.
fn assign(candidates: Vec<Candidate<'_>>, sources: usize) -> Vec<NamePair> {
    let mut taken = vec![false; sources];
    let mut names = BTreeSet::new();
    let mut pairs = Vec::new();

    for candidate in candidates {
        if !taken[candidate.source] && names.insert(candidate.name) {
            taken[candidate.source] = true;
            pairs.push(NamePair {
                source: candidate.source,
                name: candidate.name.to_owned(),
                how: candidate.how,
            });
        }
    }

    pairs.sort_by_key(|pair| pair.source);
    pairs
}

fn report(pairs: Vec<NamePair>, sources: &[Source], lexicon: &Lexicon) -> NameMap {
    let used: BTreeSet<&str> = pairs.iter().map(|pair| pair.name.as_str()).collect();
    let matched: BTreeSet<usize> = pairs.iter().map(|pair| pair.source).collect();
    let unmatched_sources: Vec<usize> = (0..sources.len())
        .filter(|k| !matched.contains(k))
        .collect();

    let names = lexicon.names();
    let mut unmatched_names = Vec::new();
    let mut unused: Vec<&Entry> = Vec::new();
    for entry in names {
        if is_missing(entry, names, &used) {
            unmatched_names.push(entry.name.clone());
        }
        if !used.contains(entry.name.as_str()) {
            unused.push(entry);
        }
    }

    // A slider of both sides may stand for a left and a right name.
    let mut to_split = Vec::new();
    for &k in &unmatched_sources {
        if let Some(halves) = halves(&sources[k], &unused) {
            to_split.push((k, halves));
        }
    }

    NameMap {
        to_merge: merges(sources, &unmatched_sources, &unused),
        unmatched_sources,
        unmatched_names,
        to_split,
        pairs,
    }
}

/// Whether a name is reported as missing. Where a vocabulary has a name for both sides and one for
/// each, the one for both is missing if none of the three is used, and a side if only the other is.
fn is_missing(entry: &Entry, names: &[Entry], used: &BTreeSet<&str>) -> bool {
    if used.contains(entry.name.as_str()) {
        return false;
    }

    let stem = entry.reading.stem();
    let mut has_whole = false;
    let mut whole_used = false;
    let mut sibling_used = false;
    for other in names {
        if other.name == entry.name || other.reading.stem() != stem {
            continue;
        }

        // Siblings have the same words and another side.
        let is_whole = !other.reading.is_sided();
        let is_used = used.contains(other.name.as_str());
        has_whole |= is_whole;
        whole_used |= is_whole && is_used;
        sibling_used |= is_used;
    }

    if entry.reading.is_sided() {
        !has_whole || (sibling_used && !whole_used)
    } else {
        !sibling_used
    }
}

/// Whether a slider has the meaning of a name, sides aside.
fn same_except_for_side(source: &Source, entry: &Entry) -> bool {
    let stem = entry.reading.stem();
    source.readings.iter().any(|reading| reading.stem() == stem)
        || entry.rows.iter().any(|row| source.rows.contains(row))
}

/// The unused left and right names of a slider of both sides.
fn halves(source: &Source, unused: &[&Entry]) -> Option<[String; 2]> {
    if !source.has_sides(&[]) {
        return None;
    }

    let half = |side: Side| {
        let mut found = unused
            .iter()
            .filter(|entry| entry.reading.sides == [side] && same_except_for_side(source, entry));
        found.next().map(|entry| entry.name.clone())
    };

    Some([half(Side::Left)?, half(Side::Right)?])
}

/// The unused names of both sides that an unmatched left and right slider make together.
fn merges(sources: &[Source], unmatched: &[usize], unused: &[&Entry]) -> Vec<([usize; 2], String)> {
    let mut pairs = Vec::new();
    for entry in unused {
        if entry.reading.is_sided() {
            continue;
        }
        let half = |side: Side| {
            let halves = unmatched.iter().copied().filter(|&k| {
                sources[k].has_sides(&[side]) && same_except_for_side(&sources[k], entry)
            });
            // By name, so that the order of the sliders does not decide between several.
            halves.min_by_key(|&k| &sources[k].text)
        };
        if let (Some(left), Some(right)) = (half(Side::Left), half(Side::Right)) {
            pairs.push(([left, right], entry.name.clone()));
        }
    }

    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SliderName;

    fn strings(names: &[String]) -> Vec<&str> {
        names.iter().map(String::as_str).collect()
    }

    fn named(map: &NameMap, source: usize) -> Option<&str> {
        map.pairs
            .iter()
            .find(|pair| pair.source == source)
            .map(|pair| pair.name.as_str())
    }

    /// The map as slider → name, sorted by the names of the sliders.
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
    fn each_vocabulary_matches_itself_exactly() {
        for vocabulary in Vocabulary::ALL {
            let names = vocabulary.names();
            let map = match_names(&strings(&names), vocabulary);
            assert_eq!(map.pairs.len(), names.len());
            assert!(
                map.pairs
                    .iter()
                    .all(|pair| pair.name == names[pair.source] && pair.how == MatchKind::Exact),
                "{vocabulary}"
            );
            assert!(map.unmatched_sources.is_empty() && map.unmatched_names.is_empty());
        }
    }

    #[test]
    fn a_slider_is_matched_in_all_its_spellings() {
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
    fn the_names_of_ict_facekit_match_arkit() {
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
    fn order_and_case_do_not_change_the_match() {
        let mut sources: Vec<String> = ICT.iter().map(|&name| name.to_owned()).collect();
        sources.extend(["smile_L", "mouth_smile_L", "AU26", "happy", "open"].map(str::to_owned));
        let expected = by_name(&strings(&sources), Vocabulary::Arkit);

        for k in 0..sources.len() {
            sources.rotate_left(1);
            sources.swap(0, k);
            assert_eq!(by_name(&strings(&sources), Vocabulary::Arkit), expected);
        }

        let separated: Vec<String> = sources
            .iter()
            .map(|name| SliderName::parse(name))
            .map(|n| n.words.join("_") + side_text(&n))
            .collect();
        let upper_case: Vec<String> = separated.iter().map(|name| name.to_uppercase()).collect();

        assert_eq!(
            by_name(&strings(&separated), Vocabulary::Arkit),
            by_name(&strings(&upper_case), Vocabulary::Arkit)
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
            // One by one, so that no better match hides a wrong one.
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

    fn matched(map: &NameMap) -> Vec<&str> {
        map.pairs.iter().map(|pair| pair.name.as_str()).collect()
    }

    #[test]
    fn names_of_one_meaning_match_across_vocabularies_and_each_is_used_once() {
        let names = ["AU12L", "AU26", "AU12", "aa", "mouth-open"];
        let map = match_names(&names, Vocabulary::Arkit);
        assert_eq!(named(&map, 0), Some("mouthSmileLeft"));
        let jaw = matched(&map).into_iter().filter(|name| *name == "jawOpen");
        assert_eq!(jaw.count(), 1);

        let names = ["A", "Joy", "Blink_L", "LookLeft", "AU62"];
        assert_eq!(
            matched(&match_names(&names, Vocabulary::Vrm)),
            ["aa", "happy", "blinkLeft", "lookLeft", "lookRight"]
        );

        // The name means different units in ARKit and FACS.
        let map = match_names(&["mouthStretch_L", "mouth stretch"], Vocabulary::Facs);
        assert_eq!(map.pairs[0].name, "AU20L");
    }

    #[test]
    fn of_a_whole_name_and_its_sides_only_one_alternative_is_missing() {
        let names = ["mouthSmileLeft", "jawOpen", "jawLeft", "lipCornerPuller_R"];
        let map = match_names(&names, Vocabulary::Facs);
        assert_eq!(matched(&map), ["AU12L", "AU26", "AU30L", "AU12R"]);

        // AU12 has both sides, AU26 has the whole, AU9 has none.
        let missing = |name: &str| map.unmatched_names.iter().any(|known| known == name);
        assert!(!missing("AU12") && !missing("AU26L"));
        assert!(missing("AU9") && !missing("AU9L"));
    }

    #[test]
    fn a_slider_of_both_sides_is_to_be_split_where_the_vocabulary_has_sides() {
        let map = match_names(&["AU12"], Vocabulary::Arkit);
        let sides = ["mouthSmileLeft", "mouthSmileRight"].map(str::to_owned);
        assert_eq!(map.to_split, [(0, sides)]);
    }

    #[test]
    fn rare_words_weigh_more_than_common_ones() {
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
}
