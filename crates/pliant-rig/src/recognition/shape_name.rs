//! Names of combinations and in-betweens.
//!
//! **Problem.** `smile_L_jawOpen` is a combination of the sliders `smile_L` and `jawOpen`;
//! `eye_blink_L` is one slider, although its words are separated in the same way.
//!
//! **Method.** Names are compared by their words and sides ([`SliderName`]), so that `jaw_open`
//! and `jawOpen` are one slider. Where `+` or `__` separates parts, each part is looked up.
//! Otherwise the pieces between `_` are joined to parts in every way, and the way with the fewest
//! parts that are all sliders is taken. A number after an action unit is an action unit. If the
//! last piece is a side, it may belong to every part. MetaHuman abbreviates the parts of its
//! combinations: `McornerPull_Jopen_L` is `mouth_cornerPull_L` with `jaw_open`, after the name of
//! the mesh (`head_lod0_mesh__`).

use std::collections::HashMap;

use crate::{MatchKind, SliderName, Vocabulary, match_names};

/// What a name says about its shape; shapes by index.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShapeName {
    /// An ordinary slider.
    Slider,
    /// `of` at the weight `at`.
    InBetween { of: usize, at: f64 },
    /// A combination of two sliders or more.
    Combination(Vec<usize>),
}

/// The names of all targets, without the names of their meshes.
pub(super) struct Names {
    /// The name of the mesh, and the rest.
    names: Vec<(String, String)>,
    /// Targets by their mesh, words and sides; `None` where several have the same.
    by_words: HashMap<(String, SliderName), Option<usize>>,
}

impl Names {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let full: Vec<&str> = names.collect();
        let shared = shared_prefix(&full);
        let mut split = Vec::with_capacity(full.len());
        let mut by_words = HashMap::new();
        for (k, name) in full.iter().enumerate() {
            let cut = shared.max(mesh_prefix(name));
            let (mesh, rest) = name.split_at(cut);
            split.push((mesh.to_owned(), rest.to_owned()));
            by_words
                .entry((mesh.to_owned(), SliderName::parse(rest)))
                .and_modify(|known| *known = None)
                .or_insert(Some(k));
        }

        Self {
            names: split,
            by_words,
        }
    }

    /// What the name of target `index` says.
    pub(super) fn read(&self, index: usize) -> ShapeName {
        let (mesh, name) = &self.names[index];
        if is_published(name) {
            return ShapeName::Slider;
        }

        let reader = Reader { names: self, mesh };
        if let Some(parts) = reader.parts(name, index) {
            return ShapeName::Combination(parts);
        }
        match reader.in_between(name) {
            Some((of, at)) if of != index => ShapeName::InBetween { of, at },
            _ => ShapeName::Slider,
        }
    }
}

/// Reads names among those of one mesh.
struct Reader<'a> {
    names: &'a Names,
    mesh: &'a str,
}

impl Reader<'_> {
    fn look_up(&self, name: &str) -> Option<usize> {
        let key = (self.mesh.to_owned(), SliderName::parse(name));
        *self.names.by_words.get(&key)?
    }

    /// The parts of a combination, ascending.
    fn parts(&self, name: &str, index: usize) -> Option<Vec<usize>> {
        let whole = Pieces::of(name).and_then(|pieces| self.join(&pieces.texts, pieces.joins, ""));
        let mut parts = whole.or_else(|| self.parts_of_one_side(name))?;
        parts.sort_unstable();
        parts.dedup();
        (parts.len() > 1 && !parts.contains(&index)).then_some(parts)
    }

    /// `smile_jawOpen_L`: the side belongs to every part that has one.
    fn parts_of_one_side(&self, name: &str) -> Option<Vec<usize>> {
        let (rest, side) = name.rsplit_once('_')?;
        let reading = SliderName::parse(&format!("x_{side}"));
        if reading.sides.len() != 1 || reading.words.len() != 1 {
            return None;
        }

        let pieces = Pieces::of(rest)?;
        self.join(&pieces.texts, pieces.joins, side)
    }

    /// The fewest sliders whose names are runs of `texts`, in order.
    fn join(&self, texts: &[&str], joins: bool, side: &str) -> Option<Vec<usize>> {
        // best[k]: the parts of the first k pieces.
        let mut best: Vec<Option<Vec<usize>>> = vec![None; texts.len() + 1];
        best[0] = Some(Vec::new());
        for end in 1..=texts.len() {
            let first = if joins { 0 } else { end - 1 };
            for begin in first..end {
                // The whole name is no part of itself.
                if begin == 0 && end == texts.len() {
                    continue;
                }
                let Some(before) = &best[begin] else { continue };
                let follows_unit = begin > 0 && is_action_unit(texts[begin - 1]);
                let Some(part) = self.part(&texts[begin..end].join("_"), side, follows_unit) else {
                    continue;
                };

                let count = before.len() + 1;
                if best[end].as_ref().is_none_or(|known| count < known.len()) {
                    best[end] = Some([&before[..], &[part]].concat());
                }
            }
        }

        best.pop().flatten()
    }

    /// The slider that a part of a name means.
    fn part(&self, text: &str, side: &str, follows_unit: bool) -> Option<usize> {
        let unit = format!("AU{text}");
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        let text = if follows_unit && is_number {
            &unit
        } else {
            text
        };

        let spelled_out = without_abbreviation(text);
        for text in [Some(text), spelled_out.as_deref()].into_iter().flatten() {
            let sided = (!side.is_empty()).then(|| self.look_up(&format!("{text}_{side}")));
            let found = sided.flatten().or_else(|| self.look_up(text));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The slider and the weight of `name_050`, `name50` or `name_50_L`.
    fn in_between(&self, name: &str) -> Option<(usize, f64)> {
        let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
        let digits = name[..end]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_digit)
            .count();
        let (before, number) = name[..end].split_at(end - digits);
        let after = &name[end..];

        // Two digits, or three with a leading zero: 1 to 99 percent.
        let percent: u32 = number.parse().ok()?;
        if !(2..=3).contains(&digits) || !(1..100).contains(&percent) {
            return None;
        }

        let rest = SliderName::parse(&format!("x{after}"));
        if !after.is_empty() && (rest.words.len() != 1 || rest.sides.len() != 1) {
            return None;
        }

        let base = before.trim_end_matches(['_', '.', '-', ' ']);
        let of = self.look_up(&format!("{base}{after}"))?;
        Some((of, f64::from(percent) / 100.0))
    }
}

/// The pieces of a name that may be joined to parts.
struct Pieces<'a> {
    texts: Vec<&'a str>,
    /// Whether several pieces may form one part.
    joins: bool,
}

impl<'a> Pieces<'a> {
    fn of(name: &'a str) -> Option<Self> {
        let (separator, joins) = if name.contains('+') {
            ("+", false)
        } else if name.contains("__") {
            ("__", false)
        } else {
            ("_", true)
        };
        let texts: Vec<&str> = name.split(separator).map(str::trim).collect();
        (texts.len() > 1 && texts.iter().all(|text| !text.is_empty()))
            .then_some(Self { texts, joins })
    }
}

/// `AU6`, `au06L`, or a number after one.
fn is_action_unit(text: &str) -> bool {
    let digits = text
        .strip_prefix("AU")
        .or_else(|| text.strip_prefix("au"))
        .unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// `McornerPull` as `mouth_cornerPull`.
fn without_abbreviation(text: &str) -> Option<String> {
    const REGIONS: [(char, &str); 6] = [
        ('M', "mouth"),
        ('J', "jaw"),
        ('E', "eye"),
        ('B', "brow"),
        ('N', "nose"),
        ('T', "tongue"),
    ];

    let mut letters = text.chars();
    let (_, region) = REGIONS
        .into_iter()
        .find(|(letter, _)| letters.as_str().starts_with(*letter))?;
    letters.next();
    let rest = letters.as_str();
    rest.starts_with(|c: char| c.is_lowercase())
        .then(|| format!("{region}_{rest}"))
}

/// The length of the name of a mesh in a MetaHuman target, as in `head_lod0_mesh__jaw_open`.
fn mesh_prefix(name: &str) -> usize {
    const END: &str = "_mesh__";
    name.find(END).map_or(0, |at| at + END.len())
}

/// Whether a vocabulary has this name, in any spelling.
fn is_published(name: &str) -> bool {
    Vocabulary::ALL.into_iter().any(|vocabulary| {
        // A list of action units is matched by its first one; all words must agree.
        let map = match_names(&[name], vocabulary);
        map.pairs.first().is_some_and(|pair| {
            matches!(pair.how, MatchKind::Exact | MatchKind::Case)
                && SliderName::parse(&pair.name) == SliderName::parse(name)
        })
    })
}

/// The length of the prefix of a mesh that all names share, such as `head_lod0_mesh__` or `face.`.
fn shared_prefix(names: &[&str]) -> usize {
    let Some(first) = names.first().filter(|_| names.len() > 1) else {
        return 0;
    };
    let ends = ["__", ".", ":", "|", "/"];
    let cuts = ends
        .iter()
        .filter_map(|end| Some(first.find(end)? + end.len()));
    let shared = |cut: &usize| names.iter().all(|name| name.starts_with(&first[..*cut]));
    cuts.filter(shared).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(names: &[&str], name: &str) -> ShapeName {
        let index = names.iter().position(|known| *known == name).unwrap();
        Names::new(names.iter().copied()).read(index)
    }

    fn parts(names: &[&str], name: &str) -> Vec<String> {
        match read(names, name) {
            ShapeName::Combination(parts) => {
                parts.iter().map(|&part| names[part].to_owned()).collect()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn conventions_for_combinations_are_read() {
        for (names, expected) in [
            (
                &["smile", "jawOpen", "smile_jawOpen"][..],
                &["smile", "jawOpen"][..],
            ),
            (
                &["smile", "jawOpen", "jawOpen__smile"],
                &["smile", "jawOpen"],
            ),
            (
                &["smile", "jawOpen", "jawOpen+smile"],
                &["smile", "jawOpen"],
            ),
            (&["AU6", "AU12", "AU6_AU12"], &["AU6", "AU12"]),
            (&["AU06", "AU12", "AU6+12"], &["AU06", "AU12"]),
            (&["AU6L", "AU12L", "AU6L_AU12L"], &["AU6L", "AU12L"]),
            (
                &["AU6", "AU12", "AU25", "AU6_12_25"],
                &["AU6", "AU12", "AU25"],
            ),
            (
                &["smile_L", "jaw_open", "smile_L_jaw_open"],
                &["smile_L", "jaw_open"],
            ),
            (
                &["smile_L", "smile_R", "jawOpen", "smile_jawOpen_L"],
                &["smile_L", "jawOpen"],
            ),
            (
                &["m__mouth_up", "m__jaw_open", "m__mouth_up_jaw_open"],
                &["m__mouth_up", "m__jaw_open"],
            ),
            (
                &[
                    "teeth_lod0_mesh__jaw_open",
                    "head_lod0_mesh__mouth_cornerPull_left",
                    "head_lod0_mesh__mouth_stretch_left",
                    "head_lod0_mesh__jaw_open",
                    "head_lod0_mesh__McornerPull_Mstretch_Jopen_L",
                ],
                &[
                    "head_lod0_mesh__mouth_cornerPull_left",
                    "head_lod0_mesh__mouth_stretch_left",
                    "head_lod0_mesh__jaw_open",
                ],
            ),
        ] {
            let name = names.last().unwrap();
            assert_eq!(parts(names, name), expected, "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_sliders() {
        let names = [
            "mouth",
            "left",
            "mouth_left",
            "eye_50",
            "browDown_L",
            "AU1",
            "AU12",
            "jaw",
            "lip_upper",
            "smile2",
            "a_b",
            "_",
            "x__",
            "+",
            "blink_L",
            "blink100",
        ];
        for name in names {
            assert_eq!(read(&names, name), ShapeName::Slider, "{name}");
        }
    }

    #[test]
    fn conventions_for_in_betweens_are_read() {
        for (names, of, at) in [
            (&["blink", "blink_050"][..], 0, 0.5),
            (&["blink", "blink50"], 0, 0.5),
            (&["blink_L", "blink_R", "blink_025_L"], 0, 0.25),
            (&["eye.blink", "eye.blink.075"], 0, 0.75),
            (&["AU6", "AU6_50"], 0, 0.5),
        ] {
            let name = names.last().unwrap();
            assert_eq!(read(names, name), ShapeName::InBetween { of, at }, "{name}");
        }
    }
}
