//! Boundary conditions of an equilibrium: fixed vertices and constrained directions.
//!
//! **Problem.** Some vertices have given positions for the whole blend. Vertices in contact lose
//! one direction or all of them for some solves.
//!
//! **Equation.** The displacements `δ` that a constraint allows are those with `δ = P δ`:
//!
//! ```text
//! free: P = I        plane of normal n: P = I − n nᵀ        line along d: P = d dᵀ        fixed: P = 0
//! ```
//!
//! A solver moves along `P δ`, makes `P f` vanish, and its matrix is `P H P` plus any definite
//! matrix on the constrained directions.
//!
//! **Source.** Ma et al. 2012, section 3.4 (fixed vertices); Baraff and Witkin 1998, section 5 (the
//! filter `P`).
//!
//! **Departures.** Vertices that are held for the whole blend are not unknowns; contacts, which
//! come and go, keep the unknowns and so every prefactored matrix.

use std::collections::BTreeMap;

use pliant_linalg::outer;
use pliant_mesh::glam::{DMat3, DVec3};

use crate::blend::energy::Node;

/// The positions that a vertex may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constraint {
    /// Held at a point.
    Fixed(DVec3),
    /// On the plane of the points `p` with `normal · p = offset`; the normal has length one.
    Plane {
        /// Unit normal.
        normal: DVec3,
        /// Distance of the plane from the origin along the normal.
        offset: f64,
    },
    /// On the line through a point.
    Line {
        /// A point of the line.
        point: DVec3,
        /// Unit vector along it.
        direction: DVec3,
    },
}

/// Directions with a smaller sine count as parallel. Chosen: their intersection would be far away.
const PARALLEL: f64 = 1e-2;

impl Constraint {
    /// The projection onto the directions that the constraint allows.
    pub(crate) fn projector(&self) -> DMat3 {
        match *self {
            Self::Fixed(_) => DMat3::ZERO,
            Self::Plane { normal, .. } => DMat3::IDENTITY - outer(normal, normal),
            Self::Line { direction, .. } => outer(direction, direction),
        }
    }

    /// The intersection of two constraints. Where it is empty, or nearly so, the first constraint
    /// holds.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fixed(_), _) => self,
            (_, Self::Fixed(_)) => other,
            (Self::Line { point, direction }, Self::Plane { normal, offset })
            | (Self::Plane { normal, offset }, Self::Line { point, direction }) => {
                // A line meets a plane in a point, unless they are nearly parallel.
                let slope = direction.dot(normal);
                let line = Self::Line { point, direction };
                if slope.abs() < PARALLEL {
                    line
                } else {
                    Self::Fixed(point + direction * ((offset - normal.dot(point)) / slope))
                }
            }
            (
                Self::Plane { normal, offset },
                Self::Plane {
                    normal: second,
                    offset: far,
                },
            ) => {
                // Two planes meet in a line along the cross product of their normals.
                let across = normal.cross(second);
                if across.length() < PARALLEL {
                    // Of two planes with the same normal, the outer one.
                    return if normal.dot(second) > 0.0 && far > offset {
                        other
                    } else {
                        self
                    };
                }

                let point = (second.cross(across) * offset + across.cross(normal) * far)
                    / across.length_squared();
                Self::Line {
                    point,
                    direction: across.normalize(),
                }
            }
            (Self::Line { .. }, Self::Line { .. }) => self,
        }
    }

    /// The nearest point that the constraint allows.
    #[must_use]
    pub fn nearest(&self, point: DVec3) -> DVec3 {
        match *self {
            Self::Fixed(place) => place,
            Self::Plane { normal, offset } => point - normal * (normal.dot(point) - offset),
            Self::Line {
                point: start,
                direction,
            } => start + direction * direction.dot(point - start),
        }
    }
}

/// The boundary conditions of a system of springs.
#[derive(Debug, Clone)]
pub(crate) struct Support {
    /// Vertices that are not held for the whole blend, ascending.
    unknown_vertices: Vec<u32>,
    /// The index of each vertex among the unknowns.
    unknown_of: Vec<Option<u32>>,
    constraints: BTreeMap<usize, (Constraint, DMat3)>,
}

impl Support {
    /// No vertex is held.
    #[cfg(test)]
    pub(crate) fn free(points: usize) -> Self {
        Self::holding(&vec![false; points])
    }

    /// Vertices with `held` keep their given positions.
    pub(crate) fn holding(held: &[bool]) -> Self {
        let unknown_vertices: Vec<u32> = (0..held.len() as u32)
            .filter(|&v| !held[v as usize])
            .collect();

        // The inverse map, from vertices to unknowns.
        let mut unknown_of = vec![None; held.len()];
        for (unknown, &vertex) in unknown_vertices.iter().enumerate() {
            unknown_of[vertex as usize] = Some(unknown as u32);
        }

        Self {
            unknown_vertices,
            unknown_of,
            constraints: BTreeMap::new(),
        }
    }

    /// Replaces all constraints; constraints on held vertices are ignored.
    pub(crate) fn constrain(&mut self, constraints: impl IntoIterator<Item = (usize, Constraint)>) {
        self.constraints.clear();
        let free = constraints
            .into_iter()
            .filter(|(vertex, _)| self.unknown_of[*vertex].is_some());
        self.constraints = free
            .map(|(vertex, constraint)| (vertex, (constraint, constraint.projector())))
            .collect();
    }

    /// Whether no unknown vertex has a constraint.
    pub(crate) fn is_unconstrained(&self) -> bool {
        self.constraints.is_empty()
    }

    pub(crate) fn unknown_vertices(&self) -> &[u32] {
        &self.unknown_vertices
    }

    pub(crate) fn unknown_of(&self, vertex: usize) -> Option<u32> {
        self.unknown_of[vertex]
    }

    /// The constraint of an unknown vertex.
    pub(crate) fn constraint(&self, vertex: usize) -> Option<Constraint> {
        self.constraints.get(&vertex).map(|constraint| constraint.0)
    }

    /// The directions in which a vertex may move; the identity also for held vertices, which are
    /// not unknowns.
    pub(crate) fn projector(&self, vertex: usize) -> DMat3 {
        self.constraints
            .get(&vertex)
            .map_or(DMat3::IDENTITY, |constraint| constraint.1)
    }

    /// `P block P` of two vertices.
    pub(crate) fn between(&self, vertex: usize, block: &DMat3, other: usize) -> DMat3 {
        if self.constraints.is_empty() {
            *block
        } else {
            self.projector(vertex) * *block * self.projector(other)
        }
    }

    /// Moves constrained vertices to the nearest allowed positions.
    pub(crate) fn place(&self, positions: &mut [DVec3]) {
        for (&vertex, (constraint, _)) in &self.constraints {
            positions[vertex] = constraint.nearest(positions[vertex]);
        }
    }

    /// Forces on the unknowns, projected onto the allowed directions.
    pub(crate) fn gather_forces(&self, nodes: &[Node], forces: &mut [DVec3]) {
        for (force, &vertex) in forces.iter_mut().zip(&self.unknown_vertices) {
            *force = nodes[vertex as usize].force;
        }
        self.project(forces);
    }

    /// Projects the vector of each unknown onto its allowed directions.
    pub(crate) fn project(&self, vectors: &mut [DVec3]) {
        for (&vertex, (_, projector)) in &self.constraints {
            let unknown =
                self.unknown_of[vertex].expect("constraints of held vertices are left out");
            vectors[unknown as usize] = *projector * vectors[unknown as usize];
        }
    }

    /// `positions = from + step · direction` over the unknowns.
    pub(crate) fn advance(
        &self,
        from: &[DVec3],
        step: f64,
        direction: &[DVec3],
        positions: &mut [DVec3],
    ) {
        for (displacement, &vertex) in direction.iter().zip(&self.unknown_vertices) {
            positions[vertex as usize] = from[vertex as usize] + *displacement * step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_constrains_its_normal_and_nothing_else() {
        let normal = DVec3::new(1.0, 2.0, -2.0) / 3.0;
        let plane = Constraint::Plane {
            normal,
            offset: 0.5,
        };
        let mut support = Support::holding(&[true, false, false]);

        support.constrain([(0, Constraint::Fixed(DVec3::ONE)), (2, plane)]);
        let mut moves = [DVec3::new(1.0, 0.0, 0.0), DVec3::new(0.3, -0.4, 2.0)];
        let before = moves;
        support.project(&mut moves);

        assert_eq!(moves[0], before[0]);
        assert!(moves[1].dot(normal).abs() < 1e-15);
        assert!((before[1] - moves[1]).cross(normal).length() < 1e-15);

        let mut points = [DVec3::ZERO, DVec3::X, DVec3::new(5.0, 1.0, 1.0)];
        support.place(&mut points);
        assert_eq!(
            points[0],
            DVec3::ZERO,
            "constraints do not move held vertices"
        );

        assert!((points[2].dot(normal) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn two_planes_intersect_in_a_line_and_three_in_a_point() {
        let corner = DVec3::new(0.4, -1.0, 2.0);
        let plane = |normal: DVec3| Constraint::Plane {
            normal,
            offset: normal.dot(corner),
        };

        let [a, b, c] = [
            DVec3::X,
            DVec3::new(0.6, 0.8, 0.0),
            DVec3::new(0.0, 0.6, 0.8),
        ]
        .map(plane);

        let line = a.and(b);
        for point in [DVec3::ZERO, DVec3::new(3.0, 4.0, -5.0)] {
            let place = line.nearest(point);
            assert!(
                a.nearest(place).distance(place) < 1e-14
                    && b.nearest(place).distance(place) < 1e-14
            );

            assert!(
                (line.projector() * (place - point)).length() < 1e-14,
                "straight to it"
            );
        }

        for point in [line.and(c), c.and(line)] {
            assert!(
                matches!(point, Constraint::Fixed(p) if p.distance(corner) < 1e-14),
                "{point:?}"
            );
            assert_eq!(point.and(a), point);
        }

        let further = Constraint::Plane {
            normal: DVec3::X,
            offset: 9.0,
        };

        assert_eq!((a.and(further), further.and(a)), (further, further));
    }
}
