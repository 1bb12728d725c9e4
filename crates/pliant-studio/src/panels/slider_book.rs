//! What a rig's sliders are called and where they belong: read once for each rig.

use std::sync::Arc;

use eframe::egui::{Id, Ui};
use pliant::rig::{Rig, SliderName, SliderPairs, Vocabulary, match_names};

/// Parts of a face and the words that name them. A name belongs to the first part of which it holds a word: nouns come before verbs,
/// and `eyebrow` is a brow.
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
const ORDER: [&str; 10] = ["Brows", "Eyes", "Nose", "Cheeks", "Mouth", "Jaw", "Tongue", "Speech", "Head", "Neck"];

/// Where sliders go that belong nowhere else.
const OTHER: &str = "Other";

/// Names, groups and partners of the sliders of a rig.
#[derive(Debug)]
pub(super) struct SliderBook {
    rig: Arc<Rig>,
    /// Names in small letters, for the search.
    small: Vec<String>,
    /// The groups; a single one where there is nothing to tell apart.
    pub(super) groups: Vec<Group>,
    /// The slider on the other side.
    partners: Vec<Option<usize>>,
}

/// Sliders that belong together.
#[derive(Debug, PartialEq)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) sliders: Vec<usize>,
}

impl SliderBook {
    /// The book of a rig, kept while the rig is the same.
    pub(super) fn of(ui: &Ui, rig: &Arc<Rig>) -> Arc<Self> {
        let id = Id::unique("slider book");
        let known = ui.data(|data| data.get_temp::<Arc<Self>>(id)).filter(|book| Arc::ptr_eq(&book.rig, rig));
        known.unwrap_or_else(|| {
            let book = Arc::new(Self::new(rig));
            ui.data_mut(|data| data.insert_temp(id, book.clone()));
            book
        })
    }

    fn new(rig: &Arc<Rig>) -> Self {
        let names: Vec<&str> = rig.targets().iter().map(|target| &*target.name).collect();
        let given: Vec<Group> =
            rig.groups().iter().map(|group| Group { name: group.name.clone(), sliders: group.sliders.clone() }).collect();
        let groups = if given.is_empty() { by_part(&names) } else { with_others(given, names.len()) };
        let partners = SliderPairs::by_name(&names).partners().to_vec();
        Self { rig: rig.clone(), small: names.iter().map(|name| name.to_lowercase()).collect(), groups, partners }
    }

    pub(super) fn rig(&self) -> &Rig {
        &self.rig
    }

    /// The slider on the other side, if that is another one.
    pub(super) fn partner(&self, slider: usize) -> Option<usize> {
        self.partners[slider].filter(|&partner| partner != slider)
    }

    /// Whether a name holds all parts of a search.
    pub(super) fn matches(&self, slider: usize, search: &str) -> bool {
        search.to_lowercase().split_whitespace().all(|part| self.small[slider].contains(part))
    }
}

fn by_part(names: &[&str]) -> Vec<Group> {
    let part = |k: usize| part_of(names[k]).or_else(|| part_meant(names[k])).unwrap_or(OTHER);
    let parts: Vec<&str> = (0..names.len()).map(part).collect();
    let group = |name: &str| Group { name: name.into(), sliders: (0..names.len()).filter(|&k| parts[k] == name).collect() };
    ORDER.iter().chain([&OTHER]).map(|name| group(name)).filter(|group| !group.sliders.is_empty()).collect()
}

fn part_of(name: &str) -> Option<&'static str> {
    let stem = SliderName::parse(name).stem();
    PARTS.iter().find(|(_, words)| words.iter().any(|word| stem.contains(word))).map(|(part, _)| *part)
}

/// Codes such as AU12 say nothing by themselves; ARKit's name for the same thing, or for one side of it, does.
fn part_meant(name: &str) -> Option<&'static str> {
    let meant = match_names(&[name], Vocabulary::Arkit);
    let whole = meant.pairs.iter().map(|pair| &pair.name);
    whole.chain(meant.to_split.iter().map(|(_, sides)| &sides[0])).find_map(|name| part_of(name))
}

fn with_others(mut groups: Vec<Group>, count: usize) -> Vec<Group> {
    let mut grouped = vec![false; count];
    groups.iter().flat_map(|group| &group.sliders).for_each(|&k| grouped[k] = true);
    let left: Vec<usize> = (0..count).filter(|&k| !grouped[k]).collect();
    if !left.is_empty() {
        groups.push(Group { name: OTHER.into(), sliders: left });
    }
    groups
}

#[cfg(test)]
mod tests {
    use pliant::mesh::Mesh;
    use pliant::mesh::glam::DVec3;
    use pliant::rig::{SliderGroup, Target};

    use super::*;

    fn rig(names: &[&str]) -> Rig {
        let mesh = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        Rig::new(mesh, names.iter().map(|name| Target::from_dense(*name, [])).collect()).unwrap()
    }

    fn groups(rig: Rig) -> Vec<(String, Vec<usize>)> {
        SliderBook::new(&Arc::new(rig)).groups.into_iter().map(|group| (group.name, group.sliders)).collect()
    }

    #[test]
    fn names_fall_into_the_parts_of_a_face() {
        let names = ["jawOpen", "eyebrow_raise_L", "cheekSquintLeft", "eyeBlink_L", "mouthSmileLeft", "tail", "AU12", "smile_right"];
        let wanted =
            [("Brows", vec![1]), ("Eyes", vec![3]), ("Cheeks", vec![2]), ("Mouth", vec![4, 6, 7]), ("Jaw", vec![0]), ("Other", vec![5])];
        assert_eq!(groups(rig(&names)), wanted.map(|(name, sliders)| (name.to_owned(), sliders)));
    }

    #[test]
    fn a_rig_s_own_groups_go_first_and_none_is_left_out() {
        let own = SliderGroup { name: "mine".into(), sliders: vec![2, 0] };
        let groups = groups(rig(&["jawOpen", "b", "c"]).with_groups(vec![own]).unwrap());
        assert_eq!(groups, [("mine".to_owned(), vec![2, 0]), ("Other".to_owned(), vec![1])]);
    }

    #[test]
    fn partners_are_on_the_other_side_and_nobody_is_its_own() {
        let book = SliderBook::new(&Arc::new(rig(&["smile_L", "jawOpen", "smile_R"])));
        assert_eq!([0, 1, 2].map(|k| book.partner(k)), [Some(2), None, Some(0)]);
    }

    #[test]
    fn a_search_finds_names_that_hold_all_its_parts() {
        let book = SliderBook::new(&Arc::new(rig(&["mouthSmileLeft", "mouthSmileRight", "jawLeft"])));
        let found = |search: &str| (0..3).filter(|&k| book.matches(k, search)).collect::<Vec<_>>();
        assert_eq!(found("LEFT mou"), [0]);
        assert_eq!(found("left"), [0, 2]);
        assert_eq!(found(" "), [0, 1, 2]);
        assert!(found("tail").is_empty());
    }
}
