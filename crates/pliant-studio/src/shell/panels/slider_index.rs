//! Names, sides and mirror partners of the sliders of a rig, computed once per rig.

use std::sync::Arc;

use eframe::egui::{Id, Ui};
use pliant::rig::{Rig, SliderGroup, SliderId, SliderPairs, Target, all_groups};

/// Names, groups and partners of the sliders of a rig.
#[derive(Debug)]
pub(crate) struct SliderIndex {
    rig: Arc<Rig>,
    /// Names in small letters, for the search.
    small: Vec<String>,
    /// The groups; a single one if the names have no common parts.
    pub(crate) groups: Vec<SliderGroup>,
    /// The slider on the other side.
    partners: Vec<Option<usize>>,
    /// The weights of the in-betweens of each slider.
    in_betweens: Vec<Vec<f64>>,
}

impl SliderIndex {
    /// The index of a rig, cached while the rig is the same.
    pub(crate) fn of(ui: &Ui, rig: &Arc<Rig>) -> Arc<Self> {
        let id = Id::unique("slider book");
        let known = ui
            .data(|data| data.get_temp::<Arc<Self>>(id))
            .filter(|index| Arc::ptr_eq(&index.rig, rig));
        known.unwrap_or_else(|| {
            let index = Arc::new(Self::new(rig));
            ui.data_mut(|data| data.insert_temp(id, index.clone()));
            index
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
            in_betweens: rig.targets().iter().map(in_between_weights).collect(),
        }
    }

    pub(crate) fn rig(&self) -> &Rig {
        &self.rig
    }

    pub(crate) fn name(&self, slider: SliderId) -> &str {
        &self.rig.targets()[slider.index()].name
    }

    /// The slider on the other side, if that is another one.
    pub(crate) fn partner(&self, slider: SliderId) -> Option<SliderId> {
        let partner = self.partners[slider.index()].map(SliderId::from);
        partner.filter(|&partner| partner != slider)
    }

    /// The weights at which a slider passes other shapes.
    pub(crate) fn in_betweens(&self, slider: SliderId) -> &[f64] {
        &self.in_betweens[slider.index()]
    }

    /// Whether a name holds all parts of a search.
    pub(crate) fn matches(&self, slider: SliderId, search: &str) -> bool {
        search
            .to_lowercase()
            .split_whitespace()
            .all(|part| self.small[slider.index()].contains(part))
    }
}

fn in_between_weights(target: &Target) -> Vec<f64> {
    let in_betweens = target.in_betweens.iter();
    in_betweens.map(|between| between.weight).collect()
}

#[cfg(test)]
mod tests {
    use pliant::mesh::Mesh;
    use pliant::mesh::glam::DVec3;

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
    fn mirror_partners_are_on_the_other_side() {
        let index = SliderIndex::new(&Arc::new(rig(&["smile_L", "jawOpen", "smile_R"])));
        assert_eq!(
            [0, 1, 2].map(|k| index.partner(SliderId::new(k))),
            [Some(2.into()), None, Some(0.into())]
        );
    }

    #[test]
    fn a_search_matches_names_that_contain_all_parts() {
        let index = SliderIndex::new(&Arc::new(rig(&[
            "mouthSmileLeft",
            "mouthSmileRight",
            "jawLeft",
        ])));

        let found = |search: &str| {
            (0..3)
                .filter(|&k| index.matches(SliderId::new(k), search))
                .collect::<Vec<_>>()
        };

        assert_eq!(found("LEFT mou"), [0]);
        assert_eq!(found("left"), [0, 2]);
        assert_eq!(found(" "), [0, 1, 2]);
        assert!(found("tail").is_empty());
    }
}
