//! Which part of a face a slider moves, by its name.

use super::{SliderName, Vocabulary, match_names};
use crate::{Rig, SliderGroup};

/// Parts of a face and the words that name them. A name belongs to the first part of which it holds
/// a word: nouns come before verbs, and `eyebrow` is a brow.
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

/// Where sliders go that belong nowhere else.
const OTHER: &str = "Other";

/// The sliders of a rig in groups, none left out: its own groups and then the others, or where it
/// has none by the parts of a face that their names say, from the top to the bottom.
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
    let part = |k: usize| {
        part_of(names[k])
            .or_else(|| part_meant(names[k]))
            .unwrap_or(OTHER)
    };
    let parts: Vec<&str> = (0..names.len()).map(part).collect();
    let group = |name: &str| SliderGroup {
        name: name.into(),
        sliders: (0..names.len()).filter(|&k| parts[k] == name).collect(),
    };
    ORDER
        .iter()
        .chain([&OTHER])
        .map(|name| group(name))
        .filter(|group| !group.sliders.is_empty())
        .collect()
}

fn part_of(name: &str) -> Option<&'static str> {
    let stem = SliderName::parse(name).stem();
    PARTS
        .iter()
        .find(|(_, words)| words.iter().any(|word| stem.contains(word)))
        .map(|(part, _)| *part)
}

/// Codes such as AU12 say nothing by themselves; ARKit's name for the same thing, or for one side
/// of it, does.
fn part_meant(name: &str) -> Option<&'static str> {
    let meant = match_names(&[name], Vocabulary::Arkit);
    let whole = meant.pairs.iter().map(|pair| &pair.name);
    whole
        .chain(meant.to_split.iter().map(|(_, sides)| &sides[0]))
        .find_map(|name| part_of(name))
}

fn with_others(mut groups: Vec<SliderGroup>, count: usize) -> Vec<SliderGroup> {
    let mut grouped = vec![false; count];
    groups
        .iter()
        .flat_map(|group| &group.sliders)
        .for_each(|&k| grouped[k] = true);
    let left: Vec<usize> = (0..count).filter(|&k| !grouped[k]).collect();
    if !left.is_empty() {
        groups.push(SliderGroup {
            name: OTHER.into(),
            sliders: left,
        });
    }
    groups
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
            .map(|group| (group.name, group.sliders))
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
            sliders: vec![2, 0],
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
