//! What a rig's sliders are called and where they belong: read once for each rig.

use std::sync::Arc;

use eframe::egui::{Id, Ui};
use pliant::rig::{Rig, SliderGroup, SliderPairs, all_groups};

/// Names, groups and partners of the sliders of a rig.
#[derive(Debug)]
pub(super) struct SliderBook {
    rig: Arc<Rig>,
    /// Names in small letters, for the search.
    small: Vec<String>,
    /// The groups; a single one where there is nothing to tell apart.
    pub(super) groups: Vec<SliderGroup>,
    /// The slider on the other side.
    partners: Vec<Option<usize>>,
}

impl SliderBook {
    /// The book of a rig, kept while the rig is the same.
    pub(super) fn of(ui: &Ui, rig: &Arc<Rig>) -> Arc<Self> {
        let id = Id::unique("slider book");
        let known = ui
            .data(|data| data.get_temp::<Arc<Self>>(id))
            .filter(|book| Arc::ptr_eq(&book.rig, rig));
        known.unwrap_or_else(|| {
            let book = Arc::new(Self::new(rig));
            ui.data_mut(|data| data.insert_temp(id, book.clone()));
            book
        })
    }

    fn new(rig: &Arc<Rig>) -> Self {
        let names: Vec<&str> = rig.targets().iter().map(|target| &*target.name).collect();
        let groups = all_groups(rig);
        let partners = SliderPairs::by_name(&names).partners().to_vec();
        Self {
            rig: rig.clone(),
            small: names.iter().map(|name| name.to_lowercase()).collect(),
            groups,
            partners,
        }
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
        search
            .to_lowercase()
            .split_whitespace()
            .all(|part| self.small[slider].contains(part))
    }
}

#[cfg(test)]
mod tests {
    use pliant::mesh::Mesh;
    use pliant::mesh::glam::DVec3;
    use pliant::rig::Target;

    use super::*;

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

    #[test]
    fn partners_are_on_the_other_side_and_nobody_is_its_own() {
        let book = SliderBook::new(&Arc::new(rig(&["smile_L", "jawOpen", "smile_R"])));
        assert_eq!([0, 1, 2].map(|k| book.partner(k)), [Some(2), None, Some(0)]);
    }

    #[test]
    fn a_search_finds_names_that_hold_all_its_parts() {
        let book = SliderBook::new(&Arc::new(rig(&[
            "mouthSmileLeft",
            "mouthSmileRight",
            "jawLeft",
        ])));
        let found = |search: &str| {
            (0..3)
                .filter(|&k| book.matches(k, search))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("LEFT mou"), [0]);
        assert_eq!(found("left"), [0, 2]);
        assert_eq!(found(" "), [0, 1, 2]);
        assert!(found("tail").is_empty());
    }
}
