//! Energy terms over four points: dihedral angles, triangle areas and tetrahedron volumes.
//!
//! **Problem.** Add the contributions of these terms to forces, energy and Hessian of the springs,
//! with the same bits on any number of threads.
//!
//! **Equation.** An element with a measure `C(x)` (an angle, a volume) has the energy `φ(C)`:
//!
//! ```text
//! f = −φ′ ∇C        H = φ″ ∇C ∇Cᵀ + φ′ ∇²C
//! ```
//!
//! The first part of `H`, with `φ″` bounded below by zero, is positive semidefinite: it is the
//! Gauss–Newton matrix where `φ` is a square.
//!
//! **Departures.** Both parts for the exact Hessian, the first alone for a definite one.

use std::collections::BTreeSet;

use pliant_linalg::{outer, parallel};
use pliant_mesh::glam::{DMat3, DVec3};

use crate::blend::energy::Support;
use crate::blend::energy::assembly::{Node, Transverse, add_to_row};
use crate::blend::energy::enclosed_volume::EnclosedVolume;
use crate::blend::energy::hinge::{angle, angle_curvature, wrapped};
use crate::blend::energy::tetrahedron_volume::{ratio_penalty, volume, volume_curvature};
use crate::blend::energy::triangle_area::{area, area_curvature};

/// Elements or vertices in one parallel task.
const GRAIN: usize = 512;

/// The measure of an element and its target value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    /// The dihedral angle over the edge of the first two corners, in radians.
    Angle(f64),
    /// The area of the first three corners.
    Area(f64),
    /// The volume.
    Volume(f64),
}

/// A term over four points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Element {
    pub(crate) corners: [u32; 4],
    pub(crate) measure: Measure,
    pub(crate) weight: f64,
}

/// An element at given positions: `φ`, its derivatives, and the gradients of its measure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ElementState {
    energy: f64,
    slope: f64,
    /// Not negative.
    curvature: f64,
    gradients: [DVec3; 4],
}

/// All terms other than springs, with the elements of every point.
#[derive(Debug, Clone, Default)]
pub(crate) struct ElementTerms {
    elements: Vec<Element>,
    starts: Vec<usize>,
    /// Element and corner.
    around: Vec<(u32, u8)>,
    enclosed: Vec<EnclosedVolume>,
}

impl Element {
    fn at(&self, positions: &[DVec3]) -> ElementState {
        let places = self.corners.map(|v| positions[v as usize]);
        match self.measure {
            Measure::Angle(target) => {
                let Some((angle, gradients)) = angle(places) else {
                    return ElementState::default();
                };

                // A squared difference, the shorter way round.
                let off = wrapped(angle - target);
                ElementState {
                    energy: 0.5 * self.weight * off * off,
                    slope: self.weight * off,
                    curvature: self.weight,
                    gradients,
                }
            }
            Measure::Area(target) if target > 0.0 => self.penalised(target, area(places)),
            Measure::Volume(target) if target > 0.0 => self.penalised(target, volume(places)),
            Measure::Area(_) | Measure::Volume(_) => ElementState::default(),
        }
    }

    /// The state of a measure with a target value, given the measure and its gradients.
    fn penalised(&self, target: f64, (measure, gradients): (f64, [DVec3; 4])) -> ElementState {
        let [value, first, second] = ratio_penalty(measure / target).map(|p| p * self.weight);
        ElementState {
            energy: value,
            slope: first / target,
            curvature: second.max(0.0) / (target * target),
            gradients,
        }
    }

    /// The block of the Hessian between two corners.
    fn block(
        &self,
        local: &ElementState,
        row: usize,
        column: usize,
        positions: &[DVec3],
        transverse: Transverse,
    ) -> DMat3 {
        // φ″ ∇C ∇Cᵀ, and for the exact Hessian also φ′ ∇²C.
        let block = outer(
            local.gradients[row],
            local.gradients[column] * local.curvature,
        );
        if transverse == Transverse::Projected {
            return block;
        }

        let places = self.corners.map(|v| positions[v as usize]);
        let bent = match self.measure {
            Measure::Angle(_) => angle_curvature(places, row, column),
            Measure::Area(_) => area_curvature(places, row, column),
            Measure::Volume(_) => volume_curvature(places, row, column),
        };

        block + bent * local.slope
    }
}

impl ElementTerms {
    /// Elements over `points` points, and closed surfaces.
    pub(crate) fn new(
        points: usize,
        elements: Vec<Element>,
        enclosed: Vec<EnclosedVolume>,
    ) -> Self {
        // Compressed rows: the elements of every point.
        let mut starts = vec![0; points + 1];
        for &v in elements.iter().flat_map(|element| &element.corners) {
            starts[v as usize + 1] += 1;
        }
        for i in 0..points {
            starts[i + 1] += starts[i];
        }

        let mut next = starts.clone();
        let mut around = vec![(0, 0); 4 * elements.len()];
        for (k, element) in (0..).zip(&elements) {
            for (corner, &v) in (0..).zip(&element.corners) {
                around[next[v as usize]] = (k, corner);
                next[v as usize] += 1;
            }
        }

        Self {
            elements,
            starts,
            around,
            enclosed,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.elements.is_empty() && self.enclosed.is_empty()
    }

    /// Whether all elements are tetrahedra, whose edges are springs: a preconditioner of the
    /// springs then suits all terms.
    pub(crate) fn follows_springs(&self) -> bool {
        self.enclosed.is_empty()
            && self
                .elements
                .iter()
                .all(|element| matches!(element.measure, Measure::Volume(_)))
    }

    /// The elements of some vertices, with their corners renumbered by `number`.
    pub(crate) fn elements_of(
        &self,
        vertices: &[u32],
        mut number: impl FnMut(u32) -> u32,
    ) -> Vec<Element> {
        debug_assert!(
            self.enclosed.is_empty(),
            "closed surfaces have no subsystems"
        );
        if self.elements.is_empty() {
            return Vec::new();
        }

        // Neighbours share elements; ascending, so that sums have a fixed order.
        let mut own = BTreeSet::new();
        for &v in vertices {
            own.extend(self.around(v as usize).iter().map(|(element, _)| *element));
        }

        let mut elements = Vec::with_capacity(own.len());
        for k in own {
            let element = self.elements[k as usize];
            elements.push(Element {
                corners: element.corners.map(&mut number),
                ..element
            });
        }

        elements
    }

    /// The elements of a vertex, each with the corner that the vertex is.
    fn around(&self, vertex: usize) -> &[(u32, u8)] {
        &self.around[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// `c` and `g` of the `c g gᵀ` that each element adds to the Hessian, by corners; elements
    /// without stiffness at `positions` are left out.
    pub(crate) fn stiff(&self, positions: &[DVec3]) -> Vec<(f64, [(usize, DVec3); 4])> {
        let mut stiff = Vec::new();
        for (element, state) in self.elements.iter().zip(self.states(positions)) {
            if state.curvature > 0.0 {
                let corners =
                    [0, 1, 2, 3].map(|k| (element.corners[k] as usize, state.gradients[k]));
                stiff.push((state.curvature, corners));
            }
        }

        stiff
    }

    /// The state of every element.
    pub(crate) fn states(&self, positions: &[DVec3]) -> Vec<ElementState> {
        parallel::map(self.elements.len(), GRAIN, |k| {
            self.elements[k].at(positions)
        })
    }

    /// Adds the forces to `nodes`; returns the energy.
    pub(crate) fn add_to(&self, positions: &[DVec3], nodes: &mut [Node]) -> f64 {
        let states = self.states(positions);
        if !self.elements.is_empty() {
            // Each node gathers from its elements, so that no two threads write to one.
            parallel::for_each_chunk_mut(nodes, GRAIN, |start, chunk| {
                for (k, node) in chunk.iter_mut().enumerate() {
                    for &(element, corner) in self.around(start + k) {
                        let state = &states[element as usize];
                        node.force -= state.gradients[corner as usize] * state.slope;
                    }
                }
            });
        }

        let enclosed: f64 = self
            .enclosed
            .iter()
            .map(|surface| surface.add_to(positions, nodes))
            .sum();

        states.iter().map(|state| state.energy).sum::<f64>() + enclosed
    }

    /// Adds the blocks of a vertex to its row of the Hessian; returns the diagonal block. Closed
    /// surfaces are left out, see [`columns`](Self::columns).
    pub(crate) fn add_row(
        &self,
        vertex: usize,
        states: &[ElementState],
        positions: &[DVec3],
        support: &Support,
        transverse: Transverse,
        row: &mut Vec<(u32, DMat3)>,
    ) -> DMat3 {
        let mut diagonal = DMat3::ZERO;
        if self.elements.is_empty() {
            return diagonal;
        }

        for &(k, own) in self.around(vertex) {
            let element = &self.elements[k as usize];
            let local = &states[k as usize];
            for (corner, &other) in element.corners.iter().enumerate() {
                let block = element.block(local, own as usize, corner, positions, transverse);
                if corner == own as usize {
                    diagonal += block;
                } else if let Some(column) = support.unknown_of(other as usize) {
                    add_to_row(row, column, support.between(vertex, &block, other as usize));
                }
            }
        }

        diagonal
    }

    /// The dense part of the Hessian, `Σ weight g gᵀ` over closed surfaces: weights and columns `g`
    /// over the unknowns.
    pub(crate) fn columns(&self, positions: &[DVec3], support: &Support) -> Vec<(f64, Vec<DVec3>)> {
        let mut columns = Vec::with_capacity(self.enclosed.len());
        for surface in &self.enclosed {
            let mut column = vec![DVec3::ZERO; support.unknown_vertices().len()];
            surface.for_each_gradient(positions, |vertex, gradient| {
                if let Some(unknown) = support.unknown_of(vertex) {
                    column[unknown as usize] += gradient;
                }
            });
            support.project(&mut column);
            columns.push((surface.weight, column));
        }

        columns
    }
}

#[cfg(test)]
mod tests;
