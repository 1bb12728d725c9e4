//! The baseline without examples: the rest pose deformed as rigidly as possible to the control
//! points.
//!
//! **Equation.** `min Σ_t A_t ‖∇x_t − R_t‖² + β w̄ Σ_k |x_k − c_k|²` over positions and rotations,
//! by turns.
//!
//! **Source.** Sorkine and Alexa, "As-rigid-as-possible surface modeling", 2007; per triangle as in
//! Liu et al., "A local/global approach to mesh parameterization", 2008.
//!
//! **Ours.** It starts from the frames of the nearest control points, the best start that we know;
//! from the rest pose it stays in worse minima.

use pliant_mesh::glam::{DMat3, DVec3};

use crate::control_points::Alignment;
use crate::local_frame::LocalFrame;
use crate::poisson::Poisson;
use crate::workbench::{Predictor, Workbench};

/// *Ours*: from a start this good, more rounds than it needs.
const ROUNDS: usize = 40;

/// The frames that it starts from.
#[derive(Debug)]
pub(crate) struct Arap {
    frames: Vec<LocalFrame>,
}

impl Arap {
    pub(crate) fn new(bench: &Workbench, neighbors: usize) -> Self {
        Self {
            frames: bench
                .distances
                .iter()
                .map(|reach| LocalFrame::new(&bench.points[0], reach, neighbors, 2.0))
                .collect(),
        }
    }
}

impl Predictor for Arap {
    fn pose(&self, bench: &Workbench, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let global = Alignment::of(&bench.points[0], control);
        let anchors = bench.carried_rest(&global);
        let places: Vec<DMat3> = self
            .frames
            .iter()
            .map(|frame| frame.place(control, &global).rotation)
            .collect();
        let rotations: Vec<DMat3> = bench
            .regions
            .of_triangle
            .iter()
            .map(|&b| places[b as usize])
            .collect();
        let unstretched = vec![DMat3::IDENTITY; bench.triangle_count()];
        let mut positions = poisson.solve(&rotations, &anchors, control);
        for _ in 0..ROUNDS {
            positions = poisson.solve(&bench.refit(&positions, &unstretched), &anchors, control);
        }
        positions
    }
}
