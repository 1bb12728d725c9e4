//! Measurements of the thesis: tables 5.1 and 5.2.

/// Radii of soft areas, in units of the thesis' models.
pub(super) const RANGES: [f64; 5] = [1.0, 3.0, 6.0, 9.0, 12.0];

/// A row of *Çetinaslan 2016*, tables 5.1 and 5.2; Core i7-2600 at 3.4 GHz, Python within Maya.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) model: &'static str,
    pub(super) vertices: usize,
    pub(super) edges: usize,
    pub(super) faces: usize,
    /// Table 5.1: the soft area at each of [`RANGES`].
    pub(super) select_secs: [f64; 5],
    /// Table 5.2: one step with two iterations at each of [`RANGES`], and on the whole model.
    pub(super) step_secs: [f64; 6],
}

pub(super) const PUBLISHED: [Published; 3] = [
    Published {
        model: "Bald Boy",
        vertices: 9562,
        edges: 28_416,
        faces: 18_848,
        select_secs: [0.0239, 0.0299, 0.0799, 0.1589, 0.241],
        step_secs: [0.37, 0.9, 6.66, 15.36, 21.22, 29.6],
    },
    Published {
        model: "Cat Girl",
        vertices: 6798,
        edges: 20_213,
        faces: 13_412,
        select_secs: [0.018, 0.02, 0.0629, 0.072, 0.1419],
        step_secs: [0.24, 0.44, 3.54, 8.52, 11.76, 18.31],
    },
    Published {
        model: "Grey Model",
        vertices: 6720,
        edges: 19_984,
        faces: 13_264,
        select_secs: [0.019, 0.0239, 0.069, 0.167, 0.2059],
        step_secs: [0.25, 1.15, 6.41, 12.44, 16.08, 19.94],
    },
];

impl Published {
    /// The cost of a step at each range relative to a step on the whole model.
    pub(super) fn cost_shares(&self) -> [f64; 5] {
        std::array::from_fn(|k| self.step_secs[k] / self.step_secs[5])
    }
}
