//! Groups of sliders by the part of the face that their names mention.

use super::{Rig, SliderGroup, SliderId};
use crate::names::{SliderName, Vocabulary, match_names};

/// Parts of a face and the words that name them. A name belongs to the first part that has a word
/// in it: nouns come before verbs, and `eyebrow` is a brow.
const PARTS: [(&str, &[&str]); 16] = [
    ("Brows", &["brow"]),
    ("Tongue", &["tongue"]),
    ("Nose", &["nose", "nostril"]),
    ("Cheeks", &["cheek"]),
    ("Eyes", &["eye", "lid", "pupil"]),
    ("Jaw", &["jaw", "chin"]),
    ("Mouth", &["mouth", "lip", "teeth", "dimple"]),
    ("Speech", &["viseme", "phoneme"]),
    ("Neck", &["neck", "throat"]),
    ("Head", &["head"]),
    ("Eyes", &["blink", "wink", "squint", "look"]),
    ("Nose", &["sneer"]),
    ("Cheeks", &["puff"]),
    ("Mouth", &["smile", "frown", "pucker", "funnel", "kiss"]),
    ("Brows", &["worry"]),
    ("Jaw", &["bite"]),
];

/// The order in which parts are listed: from the top of a face to its bottom.
const ORDER: [&str; 10] = [
    "Brows", "Eyes", "Nose", "Cheeks", "Mouth", "Jaw", "Tongue", "Speech", "Head", "Neck",
];

/// The group of all other sliders.
const OTHER: &str = "Other";

/// All sliders of a rig in groups: its own groups and one for the other sliders. A rig without
/// groups gets one for each part of the face, from the top to the bottom.
#[must_use]
pub fn all_groups(rig: &Rig) -> Vec<SliderGroup> {
    let names: Vec<&str> = rig.targets().iter().map(|target| &*target.name).collect();
    if rig.groups().is_empty() {
        by_part(&names)
    } else {
        with_others(rig.groups().to_vec(), names.len())
    }
}

fn by_part(names: &[&str]) -> Vec<SliderGroup> {
    let mut parts = Vec::with_capacity(names.len());
    for name in names {
        let part = part_of(name).or_else(|| part_of_synonym(name));
        parts.push(part.unwrap_or(OTHER));
    }

    // Only parts that have sliders become groups.
    let mut groups = Vec::new();
    for name in ORDER.iter().chain([&OTHER]) {
        let sliders = ids_where(parts.len(), |k| parts[k] == *name);
        if !sliders.is_empty() {
            groups.push(SliderGroup {
                name: (*name).into(),
                sliders,
            });
        }
    }

    groups
}

fn part_of(name: &str) -> Option<&'static str> {
    let stem = SliderName::parse(name).stem();
    PARTS
        .iter()
        .find(|(_, words)| words.iter().any(|word| stem.contains(word)))
        .map(|(part, _)| *part)
}

/// The part of the face by the ARKit name of the same slider, or of one side of it: codes such as
/// AU12 hold no word themselves.
fn part_of_synonym(name: &str) -> Option<&'static str> {
    let map = match_names(&[name], Vocabulary::Arkit);
    let whole = map.pairs.iter().map(|pair| &pair.name);
    let sides = map.to_split.iter().map(|(_, sides)| &sides[0]);
    whole.chain(sides).find_map(|name| part_of(name))
}

fn with_others(mut groups: Vec<SliderGroup>, count: usize) -> Vec<SliderGroup> {
    let mut grouped = vec![false; count];
    for slider in groups.iter().flat_map(|group| &group.sliders) {
        grouped[slider.index()] = true;
    }

    let rest = ids_where(count, |k| !grouped[k]);
    if !rest.is_empty() {
        groups.push(SliderGroup {
            name: OTHER.into(),
            sliders: rest,
        });
    }

    groups
}

/// The sliders of a rig with `count` of them that pass a test, ascending.
fn ids_where(count: usize, test: impl Fn(usize) -> bool) -> Vec<SliderId> {
    let indices = (0..count).filter(|&k| test(k));
    indices.map(SliderId::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use glam::DVec3;
    use pliant_mesh::Mesh;

    fn rig(names: &[&str]) -> Rig {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        Rig::new(
            mesh,
            names
                .iter()
                .map(|name| Target::from_dense(*name, []))
                .collect(),
        )
        .unwrap()
    }

    fn groups(rig: &Rig) -> Vec<(String, Vec<usize>)> {
        all_groups(rig)
            .into_iter()
            .map(|group| {
                (
                    group.name,
                    group.sliders.iter().map(|k| k.index()).collect(),
                )
            })
            .collect()
    }

    #[test]
    fn names_fall_into_the_parts_of_a_face() {
        let names = [
            "jawOpen",
            "eyebrow_raise_L",
            "cheekSquintLeft",
            "eyeBlink_L",
            "mouthSmileLeft",
            "tail",
            "AU12",
            "smile_right",
        ];

        let wanted = [
            ("Brows", vec![1]),
            ("Eyes", vec![3]),
            ("Cheeks", vec![2]),
            ("Mouth", vec![4, 6, 7]),
            ("Jaw", vec![0]),
            ("Other", vec![5]),
        ];

        assert_eq!(
            groups(&rig(&names)),
            wanted.map(|(name, sliders)| (name.to_owned(), sliders))
        );
    }

    #[test]
    fn a_rig_s_own_groups_go_first_and_none_is_left_out() {
        let own = SliderGroup {
            name: "mine".into(),
            sliders: [2, 0].map(SliderId::new).to_vec(),
        };
        let groups = groups(&rig(&["jawOpen", "b", "c"]).with_groups(vec![own]).unwrap());

        assert_eq!(
            groups,
            [
                ("mine".to_owned(), vec![2, 0]),
                ("Other".to_owned(), vec![1])
            ]
        );
    }
}
