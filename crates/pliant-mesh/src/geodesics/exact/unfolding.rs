//! Unfolded triangles: each laid out in the plane from each of its sides.
//!
//! **Implementation.** Side `3t + k` of triangle `t` runs from corner `k` to corner `k + 1`. In its
//! frame the start lies at the origin, the end at `(length, 0)` and the third corner, the
//! apex, above. The sides that share an edge form a ring: of one side on a boundary, of two
//! inside, of more where the mesh is not a manifold.
//!
//! **Departures.** A triangle without area is laid out with a height of [`FLAT`] of its longest
//! edge; this lengthens no path by more than the rounding of its sum.

use std::f64::consts::{PI, TAU};
use std::sync::atomic::{AtomicU64, Ordering};

use pliant_linalg::parallel;

use crate::{Mesh, MeshError, Topology};

/// Least height of a layout, relative to the longest edge.
pub(super) const FLAT: f64 = 1e-13;
/// Angles within this of π or 2π, in radians, count as equal to it: rounding of
/// their sum.
const ANGLE_ROUNDING: f64 = 1e-13;
/// Edges are squared and multiplied; longer ones would overflow.
const LONGEST_EDGE: f64 = 1e100;
/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 4096;

/// One side of a triangle, with the triangle's layout in its frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub(super) length: f64,
    pub(super) apex: [f64; 2],
    /// The vertices at start, end and apex.
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) opposite: u32,
    /// The next side in the ring of this edge; itself on a boundary.
    pub(super) across: u32,
}

/// The side that follows in the same triangle: it starts at this one's end.
pub(super) fn following(side: u32) -> u32 {
    if side % 3 == 2 { side - 2 } else { side + 1 }
}

/// The side before in the same triangle: it ends at this one's start.
pub(super) fn preceding(side: u32) -> u32 {
    if side.is_multiple_of(3) {
        side + 2
    } else {
        side - 1
    }
}

/// Where shortest paths may bend at a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bend {
    /// Nowhere: its total angle is at most 2π, or π on a boundary.
    Never,
    /// In the shadow behind it: its triangles form one fan, closed or open.
    Shadow {
        /// The angle of all its triangles, in radians; infinite where the fan is open, as paths
        /// cannot come round.
        around: f64,
    },
    /// In all directions: its triangles form no fan, or have no area to measure angles by.
    Anywhere,
}

/// [`Bend`] as a number: an angle around, or one of these.
const NEVER: f64 = 0.0;
const ANYWHERE: f64 = -1.0;

/// All triangles of a pose, laid out.
#[derive(Debug)]
pub(super) struct Unfolding {
    triangles: Vec<[Side; 3]>,
    /// The triangle's angle at the start of each side, in radians.
    angles: Memo,
    /// A [`Bend`] for each vertex, as a number.
    bends: Memo,
}

/// Numbers that are computed on first use, so that a small disc does not pay for the whole
/// mesh.
#[derive(Debug)]
struct Memo(Vec<AtomicU64>);

impl Memo {
    fn new(count: usize) -> Self {
        Self(
            (0..count)
                .map(|_| AtomicU64::new(f64::NAN.to_bits()))
                .collect(),
        )
    }

    /// Threads that ask at the same time compute the same number, so relaxed ordering is enough.
    fn get(&self, index: usize, compute: impl FnOnce() -> f64) -> f64 {
        let known = f64::from_bits(self.0[index].load(Ordering::Relaxed));
        if !known.is_nan() {
            return known;
        }
        let value = compute();
        self.0[index].store(value.to_bits(), Ordering::Relaxed);
        value
    }
}

impl Unfolding {
    pub(super) fn of(mesh: &Mesh) -> Result<Self, MeshError> {
        let triangles = parallel::map(mesh.triangles().len(), TRIANGLES_PER_TASK, |t| {
            lay_out(mesh, t)
        });
        let longest = triangles
            .as_flattened()
            .iter()
            .map(|side| side.length)
            .fold(0.0, f64::max);

        if longest > LONGEST_EDGE {
            return Err(MeshError::BadNumber {
                what: "the longest edge",
                value: longest,
                needed: "at most 1e100; scale the mesh down",
            });
        }
        let angles = Memo::new(3 * triangles.len());
        let bends = Memo::new(mesh.vertex_count());

        Ok(Self {
            triangles,
            angles,
            bends,
        })
    }

    pub(super) fn sides(&self) -> &[Side] {
        self.triangles.as_flattened()
    }

    pub(super) fn side(&self, side: u32) -> &Side {
        &self.triangles.as_flattened()[side as usize]
    }

    /// Where shortest paths may bend at the vertex.
    pub(super) fn bend(&self, vertex: u32, topology: &Topology) -> Bend {
        match self
            .bends
            .get(vertex as usize, || self.bend_at(vertex, topology))
        {
            NEVER => Bend::Never,
            ANYWHERE => Bend::Anywhere,
            around => Bend::Shadow { around },
        }
    }

    /// The triangle's angle at the start of the side, in radians.
    pub(super) fn angle(&self, side: u32) -> f64 {
        self.angles.get(side as usize, || {
            let [foot, height] = self.side(side).apex;
            height.atan2(foot)
        })
    }

    /// Mean length of all sides.
    pub(super) fn mean_length(&self) -> f64 {
        self.sides().iter().map(|side| side.length).sum::<f64>() / self.sides().len() as f64
    }

    /// The side of `triangle` opposite to its corner at `vertex`.
    pub(super) fn side_opposite(&self, triangle: u32, vertex: u32) -> u32 {
        let corner = self.triangles[triangle as usize]
            .iter()
            .position(|side| side.opposite == vertex);
        3 * triangle + corner.expect("the triangle has a corner at the vertex") as u32
    }

    fn bend_at(&self, vertex: u32, topology: &Topology) -> f64 {
        let triangles = topology.vertex_triangles().row(vertex as usize);
        let Some(&first) = triangles.first() else {
            return NEVER;
        };

        // A triangle without area has no reliable angles.
        if triangles.iter().any(|&t| self.is_flat(t)) {
            return ANYWHERE;
        }

        // The fan starts at one triangle and is walked forward; if it is open, also backward.
        // Repeated triangles are not in the rings and do not count.
        let distinct = triangles
            .iter()
            .filter(|&&t| first_alike(topology, t) == t)
            .count();
        let opposite = self.side_opposite(first, vertex);
        let mut fan = Fan {
            triangles: 1,
            angle: self.angle(preceding(opposite)),
            closed: false,
        };

        let forward = self.measure(vertex, following(opposite), first, &mut fan);
        if !forward
            || (!fan.closed && !self.measure(vertex, preceding(opposite), first, &mut fan))
            || fan.triangles < distinct
        {
            return ANYWHERE;
        }

        // A shortest path bends only where the total angle exceeds 2π, or π on a boundary.
        let (straight, around) = if fan.closed {
            (TAU, fan.angle)
        } else {
            (PI, f64::INFINITY)
        };

        if fan.angle > straight + ANGLE_ROUNDING {
            around
        } else {
            NEVER
        }
    }

    /// Adds to `fan` the triangles beyond `side`, around `vertex`, up to a boundary or back
    /// to `first`; false where an edge has more than two triangles.
    fn measure(&self, vertex: u32, mut side: u32, first: u32, fan: &mut Fan) -> bool {
        while let Some(wedge) = self.wedge_beyond(vertex, side) {
            // With two triangles on the edge, the ring leads back to `side`.
            if self.side(wedge.entered).across != side {
                return false;
            }
            if wedge.entered / 3 == first {
                fan.closed = true;
                return true;
            }

            fan.triangles += 1;
            fan.angle += wedge.angle;
            side = wedge.left;
        }
        true
    }

    /// The triangle beyond `side`, which touches `vertex`, as seen from there; none beyond a
    /// boundary.
    pub(super) fn wedge_beyond(&self, vertex: u32, side: u32) -> Option<Wedge> {
        let entered = self.side(side).across;
        if entered == side {
            return None;
        }

        let (before, after) = (preceding(entered), following(entered));
        let [beyond, before_it, after_it] = [entered, before, after].map(|s| self.side(s));

        // The vertex is the start or the end of the entered side; the two cases are mirror images.
        Some(if beyond.start == vertex {
            let [foot, depth] = after_it.apex;
            let seen = Sight {
                near: after_it.start,
                far: after_it.end,
                angle: self.angle(after),
                along: foot,
                depth,
            };

            Wedge {
                entered,
                opposite: after,
                left: before,
                angle: self.angle(entered),
                reach: beyond.length,
                seen,
            }
        } else {
            let [foot, depth] = before_it.apex;
            let seen = Sight {
                near: before_it.end,
                far: before_it.start,
                angle: self.angle(entered),
                along: before_it.length - foot,
                depth,
            };

            Wedge {
                entered,
                opposite: before,
                left: after,
                angle: self.angle(after),
                reach: beyond.length,
                seen,
            }
        })
    }

    fn is_flat(&self, triangle: u32) -> bool {
        let sides = &self.triangles[triangle as usize];
        let longest = sides.iter().map(|side| side.length).fold(0.0, f64::max);
        sides
            .iter()
            .any(|side| side.apex[1] * side.length <= 2.0 * FLAT * longest * longest)
    }
}

/// A triangle at a vertex, met on a walk around it.
pub(super) struct Wedge {
    /// The side through which the walk entered.
    pub(super) entered: u32,
    /// The side away from the vertex.
    pub(super) opposite: u32,
    /// The side through which the walk goes on.
    pub(super) left: u32,
    /// The triangle's angle at the vertex.
    pub(super) angle: f64,
    /// Length of the entered side.
    pub(super) reach: f64,
    /// The opposite side, counted from the end on the entered side.
    pub(super) seen: Sight,
}

/// The side opposite to a vertex, counted from its end `near`.
pub(super) struct Sight {
    pub(super) near: u32,
    pub(super) far: u32,
    /// The triangle's angle at `near`.
    pub(super) angle: f64,
    /// The vertex: along the side and away from it.
    pub(super) along: f64,
    pub(super) depth: f64,
}

impl Wedge {
    /// Where the ray from the vertex at `angle` from the entered side meets the
    /// opposite side.
    pub(super) fn meet(&self, angle: f64) -> f64 {
        self.reach * angle.sin() / (angle + self.seen.angle).sin()
    }
}

/// Triangles around a vertex, joined by edges.
struct Fan {
    triangles: usize,
    angle: f64,
    closed: bool,
}

fn lay_out(mesh: &Mesh, triangle: usize) -> [Side; 3] {
    let vertices = mesh.triangles()[triangle];
    let points = mesh.triangle_points(triangle);
    let lengths = [0, 1, 2].map(|k| points[k].distance(points[(k + 1) % 3]));
    let longest = lengths[0].max(lengths[1]).max(lengths[2]);

    // A triangle without area gets a small height, so that layouts stay invertible.
    let doubled_area = (points[1] - points[0])
        .cross(points[2] - points[0])
        .length()
        .max(FLAT * longest * longest);

    [0, 1, 2].map(|k| {
        let start = points[k];
        let end = points[(k + 1) % 3];
        let apex = points[(k + 2) % 3];
        let length = lengths[k];

        // A side without length has no direction: the apex lies above its start.
        let foot = if length > 0.0 {
            (apex - start).dot(end - start) / length
        } else {
            0.0
        };

        let height = if length > 0.0 {
            (doubled_area / length).min(longest)
        } else {
            longest
        };

        Side {
            length,
            apex: [foot, height],
            start: vertices[k],
            end: vertices[(k + 1) % 3],
            opposite: vertices[(k + 2) % 3],
            across: next_in_ring(mesh.topology(), triangle, k),
        }
    })
}

/// The side of the next triangle at the same edge, in the cyclic order of the edge's triangles. A
/// triangle that repeats another one stays out of all rings: it offers the same paths once more,
/// and with each edge crossed twice as many.
fn next_in_ring(topology: &Topology, triangle: usize, k: usize) -> u32 {
    let edge = topology.triangle_edges()[triangle][k];
    if edge == Topology::NONE || first_alike(topology, triangle as u32) as usize != triangle {
        return (3 * triangle + k) as u32;
    }

    // The next triangle in cyclic order, without repeated ones.
    let around = topology.edge_triangles().row(edge as usize);
    let place = around
        .binary_search(&(triangle as u32))
        .expect("an edge lists its triangles, ascending");
    let mut others = around[place + 1..].iter().chain(&around[..=place]).copied();
    let next = others
        .find(|&t| first_alike(topology, t) == t)
        .expect("the triangle itself is the first of its kind");

    let side = topology.triangle_edges()[next as usize]
        .iter()
        .position(|&e| e == edge)
        .expect("a triangle lists its edges");

    3 * next + side as u32
}

/// The first triangle with the same edges.
pub(super) fn first_alike(topology: &Topology, triangle: u32) -> u32 {
    let edges = topology.triangle_edges()[triangle as usize];
    if edges[0] == Topology::NONE {
        return triangle;
    }

    let alike = |t: u32| {
        topology.triangle_edges()[t as usize]
            .iter()
            .all(|e| edges.contains(e))
    };

    // All three edges list it, in the same order; the shortest list is searched, as an edge may
    // have very many triangles.
    let rows = edges.map(|edge| topology.edge_triangles().row(edge as usize));
    let shortest = rows
        .into_iter()
        .min_by_key(|row| row.len())
        .unwrap_or_default();

    shortest
        .iter()
        .copied()
        .find(|&t| t == triangle || alike(t))
        .unwrap_or(triangle)
}
