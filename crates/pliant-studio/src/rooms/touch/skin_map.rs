//! The colours of touched skin.

use pliant::mesh::glam::DVec3;
use pliant::physics::Touch;

use super::setup::Shown;
use crate::view::{Heat, HeatMap};

/// The least stretch that fills the colours, in per cent: less is not seen.
const LEAST_STRETCH: f64 = 10.0;
/// The least displacement that fills the colours, in radii of the largest patch.
const LEAST_WAY: f64 = 0.05;

/// Maps with ranges that grow while skin is touched, so that colours do not flicker.
#[derive(Debug)]
pub(super) struct SkinMap {
    vertex_count: usize,
    /// The same array for as long as the patches are: the card has it already.
    softness: Option<Heat>,
    most_way: f64,
    most_stretch: f64,
}

impl SkinMap {
    /// Nothing seen yet.
    pub(super) fn new(vertex_count: usize) -> Self {
        Self { vertex_count, softness: None, most_way: 0.0, most_stretch: 0.0 }
    }

    /// The map that is wanted, grey outside the patches.
    pub(super) fn heat(&mut self, shown: Shown, touch: &Touch, shape: &[DVec3]) -> Option<Heat> {
        match shown {
            Shown::Skin => None,
            Shown::Softness => Some(self.softness(touch)),
            Shown::Displacement => Some(self.displacement(touch, shape)),
            Shown::Stretch => Some(self.stretch(touch)),
        }
    }

    fn softness(&mut self, touch: &Touch) -> Heat {
        if let Some(heat) = &self.softness {
            return heat.clone();
        }
        let values = self.spread(touch, touch.region().softness().iter().copied());
        let heat = Heat::new(&values, HeatMap::Sequential, "Softness", "").with_range([0.0, 1.0]);
        self.softness = Some(heat.clone());
        heat
    }

    fn displacement(&mut self, touch: &Touch, shape: &[DVec3]) -> Heat {
        let ways = touch.region().vertices().iter().map(|&v| touch.positions()[v as usize].distance(shape[v as usize]));
        let values = self.spread(touch, ways);
        let least = LEAST_WAY * touch.region().reaches().iter().copied().fold(0.0, f64::max);
        self.most_way = values.iter().copied().fold(self.most_way.max(least), f64::max);
        Heat::new(&values, HeatMap::Sequential, "Displacement", "").with_range([0.0, self.most_way as f32])
    }

    fn stretch(&mut self, touch: &Touch) -> Heat {
        let values = self.spread(touch, touch.strains().into_iter().map(|strain| 100.0 * strain));
        self.most_stretch = values.iter().map(|value| value.abs()).fold(self.most_stretch.max(LEAST_STRETCH), f64::max);
        let most = self.most_stretch as f32;
        Heat::new(&values, HeatMap::Diverging, "Stretch", "%").with_range([-most, most])
    }

    /// Values of soft vertices among all.
    fn spread(&self, touch: &Touch, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut all = vec![f64::NAN; self.vertex_count];
        for (&vertex, value) in touch.region().vertices().iter().zip(values) {
            all[vertex as usize] = value;
        }
        all
    }
}
