//! Terms of the energy over four points: angles between triangles, areas of triangles and volumes
//! of tetrahedra.
//!
//! **Problem.** Add to forces, energy and Hessian of springs what further terms contribute, to the
//! same bits on any number of threads.
//!
//! **Equation.** An element with a measure `C(x)` (an angle, a volume) has the energy `φ(C)`:
//!
//! ```text
//! f = −φ′ ∇C        H = φ″ ∇C ∇Cᵀ + φ′ ∇²C
//! ```
//!
//! The first part of `H`, with `φ″` no less than zero, never curves down: it is the matrix of Gauss
//! and Newton where `φ` is a square.
//!
//! **Ours.** Both parts where the exact Hessian is asked for, the first alone where it is to be
//! definite.

use std::collections::BTreeSet;

use pliant_linalg::{outer, parallel};
use pliant_mesh::glam::{DMat3, DVec3};

use crate::collapse::{area, area_curvature};
use crate::enclosed::Shell;
use crate::energy::{Node, Transverse, add_to_row};
use crate::hinge::{angle, angle_curvature, wrapped};
use crate::support::Support;
use crate::tet_volume::{price, volume, volume_curvature};

/// Elements or vertices in one parallel task.
const GRAIN: usize = 512;

/// What an element measures, and what that is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Law {
    /// The angle over the edge of the first two corners, in radians.
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
    pub(crate) law: Law,
    pub(crate) weight: f64,
}

/// An element where it stands: `φ`, its derivatives, and the gradients of what it measures.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Local {
    energy: f64,
    slope: f64,
    /// Not below zero.
    curvature: f64,
    gradients: [DVec3; 4],
}

/// All terms beside springs, with the elements of every point.
#[derive(Debug, Clone, Default)]
pub(crate) struct Further {
    elements: Vec<Element>,
    starts: Vec<usize>,
    /// Element and corner.
    around: Vec<(u32, u8)>,
    shells: Vec<Shell>,
}

impl Element {
    fn at(&self, positions: &[DVec3]) -> Local {
        let places = self.corners.map(|v| positions[v as usize]);
        match self.law {
            Law::Angle(target) => {
                let Some((angle, gradients)) = angle(places) else {
                    return Local::default();
                };
                let off = wrapped(angle - target);
                Local {
                    energy: 0.5 * self.weight * off * off,
                    slope: self.weight * off,
                    curvature: self.weight,
                    gradients,
                }
            }
            Law::Area(target) if target > 0.0 => self.priced(target, area(places)),
            Law::Volume(target) if target > 0.0 => self.priced(target, volume(places)),
            Law::Area(_) | Law::Volume(_) => Local::default(),
        }
    }

    /// A measure that is to be `target`, with its gradients.
    fn priced(&self, target: f64, (measure, gradients): (f64, [DVec3; 4])) -> Local {
        let [value, first, second] = price(measure / target).map(|p| p * self.weight);
        Local {
            energy: value,
            slope: first / target,
            curvature: second.max(0.0) / (target * target),
            gradients,
        }
    }

    /// The block of the Hessian between two corners.
    fn block(
        &self,
        local: &Local,
        row: usize,
        column: usize,
        positions: &[DVec3],
        transverse: Transverse,
    ) -> DMat3 {
        let block = outer(
            local.gradients[row],
            local.gradients[column] * local.curvature,
        );
        if transverse == Transverse::Projected {
            return block;
        }
        let places = self.corners.map(|v| positions[v as usize]);
        let bent = match self.law {
            Law::Angle(_) => angle_curvature(places, row, column),
            Law::Area(_) => area_curvature(places, row, column),
            Law::Volume(_) => volume_curvature(places, row, column),
        };
        block + bent * local.slope
    }
}

impl Further {
    /// Elements over `points` points, and closed surfaces.
    pub(crate) fn new(points: usize, elements: Vec<Element>, shells: Vec<Shell>) -> Self {
        let mut starts = vec![0; points + 1];
        for &v in elements.iter().flat_map(|element| &element.corners) {
            starts[v as usize + 1] += 1;
        }
        for i in 0..points {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut around) = (starts.clone(), vec![(0, 0); 4 * elements.len()]);
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
            shells,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.elements.is_empty() && self.shells.is_empty()
    }

    /// Whether all elements are tetrahedra, whose edges are springs: what suits those then suits
    /// all.
    pub(crate) fn follows_springs(&self) -> bool {
        self.shells.is_empty()
            && self
                .elements
                .iter()
                .all(|element| matches!(element.law, Law::Volume(_)))
    }

    /// The elements of some vertices by themselves, with the numbers that `number` gives their
    /// corners.
    pub(crate) fn elements_of(
        &self,
        vertices: &[u32],
        mut number: impl FnMut(u32) -> u32,
    ) -> Vec<Element> {
        debug_assert!(self.shells.is_empty(), "closed surfaces have no patches");
        if self.elements.is_empty() {
            return Vec::new();
        }
        let around = |&v: &u32| {
            self.around[self.starts[v as usize]..self.starts[v as usize + 1]]
                .iter()
                .map(|(element, _)| *element)
        };
        let own: BTreeSet<u32> = vertices.iter().flat_map(around).collect();
        own.into_iter()
            .map(|k| self.elements[k as usize])
            .map(|e| Element {
                corners: e.corners.map(&mut number),
                ..e
            })
            .collect()
    }

    /// What elements that are stiff at `positions` resist: `c` and `g` of the `c g gᵀ` of each in
    /// the Hessian, by corners.
    pub(crate) fn stiff(&self, positions: &[DVec3]) -> Vec<(f64, [(usize, DVec3); 4])> {
        let locals = self.locals(positions);
        let of = |(element, local): (&Element, &Local)| {
            let corner = |k: usize| (element.corners[k] as usize, local.gradients[k]);
            (local.curvature > 0.0).then(|| {
                (
                    local.curvature,
                    [corner(0), corner(1), corner(2), corner(3)],
                )
            })
        };
        self.elements.iter().zip(&locals).filter_map(of).collect()
    }

    /// All elements where they stand.
    pub(crate) fn locals(&self, positions: &[DVec3]) -> Vec<Local> {
        parallel::map(self.elements.len(), GRAIN, |k| {
            self.elements[k].at(positions)
        })
    }

    /// Adds the forces to `nodes`; returns the energy.
    pub(crate) fn add_to(&self, positions: &[DVec3], nodes: &mut [Node]) -> f64 {
        let locals = self.locals(positions);
        if !self.elements.is_empty() {
            parallel::for_each_chunk_mut(nodes, GRAIN, |start, chunk| {
                for (k, node) in chunk.iter_mut().enumerate() {
                    for &(element, corner) in
                        &self.around[self.starts[start + k]..self.starts[start + k + 1]]
                    {
                        let local = &locals[element as usize];
                        node.force -= local.gradients[corner as usize] * local.slope;
                    }
                }
            });
        }
        let inside: f64 = self
            .shells
            .iter()
            .map(|shell| shell.add_to(positions, nodes))
            .sum();
        locals.iter().map(|local| local.energy).sum::<f64>() + inside
    }

    /// Adds the blocks of a vertex to its row of the Hessian; returns that on the diagonal. Closed
    /// surfaces are left out, see [`columns`](Self::columns).
    pub(crate) fn add_row(
        &self,
        vertex: usize,
        locals: &[Local],
        positions: &[DVec3],
        support: &Support,
        transverse: Transverse,
        row: &mut Vec<(u32, DMat3)>,
    ) -> DMat3 {
        let mut diagonal = DMat3::ZERO;
        if self.elements.is_empty() {
            return diagonal;
        }
        for &(k, own) in &self.around[self.starts[vertex]..self.starts[vertex + 1]] {
            let (element, local) = (&self.elements[k as usize], &locals[k as usize]);
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

    /// What closed surfaces add to the Hessian, `Σ weight g gᵀ`: weights and columns `g` over the
    /// unknowns.
    pub(crate) fn columns(&self, positions: &[DVec3], support: &Support) -> Vec<(f64, Vec<DVec3>)> {
        let column = |shell: &Shell| {
            let mut column = vec![DVec3::ZERO; support.unknown_vertices().len()];
            shell.for_each_slope(positions, |vertex, slope| {
                if let Some(unknown) = support.unknown_of(vertex) {
                    column[unknown as usize] += slope;
                }
            });
            support.project(&mut column);
            (shell.weight, column)
        };
        self.shells.iter().map(column).collect()
    }
}

#[cfg(test)]
mod tests;
