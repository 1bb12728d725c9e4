//! Points and tetrahedra inside shapes, in correspondence.
//!
//! **Problem.** Springs on the surface alone let a large shape of small triangles crumple. Springs
//! through the inside hold its volume; they must be the same in every shape, join nothing across a
//! gap, and favour no shape by its place in the list.
//!
//! **Method.** For each connected part: close its small holes ([`part`]), choose the shape in which
//! it is spread the furthest and the fullest, place points inside ([`lattice`]), join all by
//! Delaunay tetrahedra ([`delaunay`](mod@delaunay)), keep those inside ([`cull`]), find the points
//! in the other shapes ([`carry`]), drop what any shape turns inside out.
//!
//! **Source.** Section 3.1 of the paper: internal springs along the edges of a constrained Delaunay
//! tetrahedralization of the surface's vertices, refined by vertices that are added to all shapes
//! correspondingly.
//!
//! **Ours.** Not constrained, see [`cull`]. The paper does not say where added vertices lie in the
//! other shapes. The chosen shape has the largest product of second moment and volume for its area,
//! since limbs that are spread do not touch and what is flat has no inside; equal ones are told
//! apart by their coordinates, so that the order of the shapes has no say.

mod carry;
mod cull;
mod delaunay;
mod lattice;
mod part;
pub(crate) mod tetrahedron;

use std::cmp::Ordering;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, triangle_area};

use crate::PhysicsError;
use carry::Carrier;
pub(crate) use part::{Frame, LARGEST_CAPS, twins};
use part::{Part, Solid};
use tetrahedron::thickness;

/// Tetrahedra that are left out are told of above this share: ours. Every bend turns over a few
/// beside its crease, which none misses.
const WORTH_TELLING: f64 = 0.02;

/// A tetrahedron less thick than this part of its shortest edge in any shape is dropped.
const LEAST_THICKNESS: f64 = 1e-3;

/// A shape that leaves less than this part of the chosen shape's volume, beside its size, is flat
/// or turned inside out.
const LEAST_VOLUME: f64 = 1e-3;

/// Coordinates beyond this overflow in the square of an area.
const COORDINATE_LIMIT: f64 = 1e70;

/// How many points are placed inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InteriorPoints {
    /// None: tetrahedra join vertices of the surface, as in the paper.
    None,
    /// At most about this many for each vertex of a part's surface; thin parts hold fewer, since
    /// points are at least [`InteriorOptions::LEAST_SPACING`] apart.
    Share(f64),
    /// Beneath the surface, this many times the mean edge apart; further in the depth.
    Spacing(f64),
}

/// How the inside is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InteriorOptions {
    points: InteriorPoints,
}

impl InteriorOptions {
    /// Ours: a sphere of 8 thousand vertices that defeated Newton's method converges with half as
    /// many points inside.
    pub const DEFAULT_SHARE: f64 = 0.5;
    /// Cells of the lattice have at least this many mean edges by default, so that tetrahedra
    /// beneath the surface are not flat.
    pub const LEAST_SPACING: f64 = 1.5;

    /// Which points are added. Default: [`DEFAULT_SHARE`](Self::DEFAULT_SHARE).
    #[must_use]
    pub fn with_points(self, points: InteriorPoints) -> Self {
        Self { points }
    }

    fn check(&self) -> Result<(), MeshError> {
        let (what, value) = match self.points {
            InteriorPoints::None => return Ok(()),
            InteriorPoints::Share(share) => ("the share of interior points", share),
            InteriorPoints::Spacing(spacing) => ("the spacing of interior points", spacing),
        };
        let is_good = value > 0.0 && value.is_finite();
        if is_good {
            Ok(())
        } else {
            Err(MeshError::BadNumber {
                what,
                value,
                needed: "positive and finite",
            })
        }
    }

    /// The least cell for a part's typical edge, and the most points.
    fn measures(&self, edge: f64, vertices: usize) -> Option<(f64, f64)> {
        match self.points {
            InteriorPoints::None => None,
            InteriorPoints::Share(share) => {
                Some((Self::LEAST_SPACING * edge, share * vertices as f64))
            }
            InteriorPoints::Spacing(spacing) => Some((spacing * edge, f64::INFINITY)),
        }
    }
}

impl Default for InteriorOptions {
    fn default() -> Self {
        Self {
            points: InteriorPoints::Share(Self::DEFAULT_SHARE),
        }
    }
}

/// Points and tetrahedra inside shapes of one topology.
#[derive(Debug, Clone, PartialEq)]
pub struct Interior {
    points: Vec<Vec<DVec3>>,
    tetrahedra: Vec<[u32; 4]>,
    notes: Vec<String>,
}

impl Interior {
    /// No points and no tetrahedra inside any of so many shapes.
    pub(crate) fn none(shapes: usize) -> Self {
        Self {
            points: vec![Vec::new(); shapes],
            tetrahedra: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Fills shapes that are poses of one mesh. No tetrahedron is turned inside out in any of them.
    ///
    /// # Errors
    /// If there is no shape, shapes differ in their faces, a position is not finite or beyond 1e70,
    /// or an option is not a positive number.
    pub fn fill(shapes: &[&Mesh], options: &InteriorOptions) -> Result<Self, PhysicsError> {
        options.check()?;
        check_shapes(shapes)?;
        let surface = shapes[0].vertex_count() as u32;
        let mut interior = Self::none(shapes.len());
        let twins = twins(shapes);
        let joined = twins
            .iter()
            .enumerate()
            .filter(|(v, twin)| **twin as usize != *v)
            .count();
        let mut tally = Tally {
            joined,
            ..Tally::default()
        };
        let parts = Part::all_of(shapes[0], &twins)?;
        for part in &parts {
            let filling = Filling::of(part, shapes, options, &mut tally)?;
            let first = surface + interior.points[0].len() as u32;
            let own = part.vertices.len() as u32;
            let number = |v: u32| {
                if v < own {
                    part.vertices[v as usize]
                } else {
                    first + v - own
                }
            };
            interior
                .tetrahedra
                .extend(filling.tetrahedra.iter().map(|t| t.map(number)));
            for (all, added) in interior.points.iter_mut().zip(filling.points) {
                all.extend(added);
            }
        }
        interior.notes = tally.notes(parts.len());
        Ok(interior)
    }

    /// The points added to a shape; they are numbered on after the vertices of the surface.
    ///
    /// # Panics
    /// If there is no such shape.
    #[must_use]
    pub fn points(&self, shape: usize) -> &[DVec3] {
        &self.points[shape]
    }

    /// Tetrahedra over vertices of the surface and added points; all have positive volume `(b −
    /// a)·((c − a) × (d − a))` in every shape.
    #[must_use]
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// What a user should know: open sheets, closed holes, tetrahedra left out.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Declines shapes that are not poses of one mesh, or not finite.
pub(crate) fn check_shapes(shapes: &[&Mesh]) -> Result<(), PhysicsError> {
    let first = shapes.first().ok_or(PhysicsError::NoShapes)?;
    for (shape, mesh) in shapes.iter().enumerate() {
        let (found, expected) = (mesh.vertex_count(), first.vertex_count());
        if found != expected {
            return Err(PhysicsError::OtherCount {
                shape,
                found,
                expected,
            });
        }
        if !mesh.same_surface(first) {
            return Err(PhysicsError::OtherFaces { shape });
        }
        check_positions(mesh).map_err(|source| PhysicsError::Shape { shape, source })?;
    }
    Ok(())
}

fn check_positions(mesh: &Mesh) -> Result<(), MeshError> {
    mesh.require_finite()?;
    let largest = mesh
        .positions()
        .iter()
        .map(|p| p.abs().max_element())
        .fold(0.0, f64::max);
    let is_good = largest < COORDINATE_LIMIT;
    if is_good {
        Ok(())
    } else {
        Err(MeshError::BadNumber {
            what: "the largest coordinate",
            value: largest,
            needed: "below 1e70",
        })
    }
}

/// What happened to the parts.
#[derive(Default)]
struct Tally {
    joined: usize,
    open: usize,
    empty: usize,
    flattened: usize,
    holes: usize,
    hole_edges: usize,
    inside: usize,
    turned: usize,
}

impl Tally {
    fn notes(&self, parts: usize) -> Vec<String> {
        let of_parts = |count: usize| {
            if parts == 1 {
                "the surface".to_owned()
            } else {
                format!("{count} of {parts} parts")
            }
        };
        let mut notes = Vec::new();
        if self.joined > 0 {
            notes.push(format!(
                "{} vertices coincide with others in every shape and are one with them inside",
                self.joined
            ));
        }
        if self.open > 0 {
            notes.push(format!(
                "{}: open, so without an inside; shell springs only",
                of_parts(self.open)
            ));
        }
        if self.empty > 0 {
            notes.push(format!(
                "{}: closed but too thin for tetrahedra; shell springs only",
                of_parts(self.empty)
            ));
        }
        if self.flattened > 0 {
            notes.push(format!(
                "{}: flat or turned inside out in some shape; shell springs only",
                of_parts(self.flattened)
            ));
        }
        if self.holes > 0 {
            notes.push(format!(
                "{} small hole(s) with {} boundary edges are closed for the interior",
                self.holes, self.hole_edges
            ));
        }
        if self.turned as f64 > WORTH_TELLING * self.inside as f64 {
            let share = 100.0 * self.turned as f64 / self.inside as f64;
            notes.push(format!(
                "{share:.0} % of the inside is left without springs: some shape turns it inside out; is it a pose of the same mesh?"
            ));
        }
        notes
    }
}

/// The inside of one part: points for each shape, tetrahedra in the numbering of the part.
struct Filling {
    points: Vec<Vec<DVec3>>,
    tetrahedra: Vec<[u32; 4]>,
}

impl Filling {
    fn none(shapes: usize) -> Self {
        Self {
            points: vec![Vec::new(); shapes],
            tetrahedra: Vec::new(),
        }
    }

    fn of(
        part: &Part,
        shapes: &[&Mesh],
        options: &InteriorOptions,
        tally: &mut Tally,
    ) -> Result<Self, PhysicsError> {
        let positions: Vec<Vec<DVec3>> = shapes.iter().map(|mesh| part.positions(mesh)).collect();
        let chosen = chosen_shape(&positions, &part.triangles);
        let frames: Option<Vec<Frame>> = positions.iter().map(|points| Frame::of(points)).collect();
        let Some(frames) = frames else {
            tally.empty += 1;
            return Ok(Self::none(shapes.len()));
        };
        let seen = |shape: usize| {
            positions[shape]
                .iter()
                .map(|&p| frames[shape].local(p))
                .collect::<Vec<_>>()
        };
        let Some(solid) = Solid::close(Mesh::from_triangles(seen(chosen), &part.triangles)?)?
        else {
            tally.open += 1;
            return Ok(Self::none(shapes.len()));
        };
        let volume = |shape: usize| {
            solid
                .surface
                .posed(seen(shape))
                .map(|mesh| mesh.signed_volume())
        };
        let volumes = (0..shapes.len())
            .map(volume)
            .collect::<Result<Vec<f64>, _>>()?;
        if volumes.iter().any(|v| v / volumes[chosen] < LEAST_VOLUME) {
            tally.flattened += 1;
            return Ok(Self::none(shapes.len()));
        }
        tally.holes += solid.holes;
        tally.hole_edges += solid.hole_edges;
        let (points, tetrahedra) = stuff(&solid, options);
        tally.inside += tetrahedra.len();
        let carried = carry_to_all(&solid, &points, &tetrahedra, shapes.len(), chosen, seen)?;
        let (carried, kept) = keep_upright(carried, &tetrahedra, solid.surface.vertex_count());
        tally.turned += tetrahedra.len() - kept.len();
        tally.empty += usize::from(kept.is_empty());
        let world = |shape: usize| {
            carried[shape]
                .iter()
                .map(|&p| frames[shape].world(p))
                .collect()
        };
        Ok(Self {
            points: (0..shapes.len()).map(world).collect(),
            tetrahedra: kept,
        })
    }
}

/// The shape that is spread the furthest and is the fullest, both for its area.
fn chosen_shape(shapes: &[Vec<DVec3>], triangles: &[[u32; 3]]) -> usize {
    let scores: Vec<f64> = shapes
        .iter()
        .map(|points| spread_and_fullness(points, triangles))
        .collect();
    let order = |&a: &usize, &b: &usize| {
        scores[a]
            .total_cmp(&scores[b])
            .then_with(|| by_coordinates(&shapes[a], &shapes[b]))
    };
    (0..shapes.len()).max_by(order).unwrap_or(0)
}

/// Second moment over area, times volume over area to the power 3/2: no unit, and zero for what is
/// flat.
fn spread_and_fullness(points: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let center = points
        .iter()
        .map(|p| *p / points.len() as f64)
        .sum::<DVec3>();
    let corners = |t: &[u32; 3]| t.map(|v| points[v as usize] - center);
    let area: f64 = triangles.iter().map(|t| triangle_area(corners(t))).sum();
    let volume = triangles
        .iter()
        .map(corners)
        .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
        .sum::<f64>()
        .abs();
    let moment = points
        .iter()
        .map(|p| p.distance_squared(center))
        .sum::<f64>();
    if area > 0.0 {
        moment / area * (volume / area.powf(1.5))
    } else {
        0.0
    }
}

/// An order of shapes that does not depend on where they stand in a list.
pub(crate) fn by_coordinates(a: &[DVec3], b: &[DVec3]) -> Ordering {
    let numbers = |points: &[DVec3]| {
        points
            .iter()
            .flat_map(|p| p.to_array())
            .collect::<Vec<f64>>()
    };
    let (a, b) = (numbers(a), numbers(b));
    a.iter()
        .zip(&b)
        .map(|(x, y)| x.total_cmp(y))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The surface's vertices and the points inside, and the tetrahedra between them that lie inside.
fn stuff(solid: &Solid, options: &InteriorOptions) -> (Vec<DVec3>, Vec<[u32; 4]>) {
    let mut points = solid.surface.positions().to_vec();
    let mut depths = vec![0.0; points.len()];
    if let Some((finest, most)) = options.measures(lattice::typical_edge(solid), points.len()) {
        for inner in lattice::inner_points(solid, finest, most) {
            points.push(inner.position);
            depths.push(inner.depth);
        }
    }
    let mut tetrahedra = cull::inside(solid, &points, &depths, delaunay::delaunay(&points));
    let stays = keep_attached(&mut tetrahedra, points.len(), solid.surface.vertex_count());
    let kept = points
        .iter()
        .zip(stays)
        .filter(|(_, stays)| *stays)
        .map(|(p, _)| *p)
        .collect();
    (kept, tetrahedra)
}

/// Drops inner points, and their tetrahedra, that no chain of tetrahedra joins to the surface, and
/// numbers the others anew; returns which points stay.
fn keep_attached(tetrahedra: &mut Vec<[u32; 4]>, points: usize, surface: usize) -> Vec<bool> {
    let mut attached: Vec<bool> = (0..points).map(|v| v < surface).collect();
    let mut grows = true;
    while grows {
        grows = false;
        for t in tetrahedra.iter() {
            let reached = t.iter().filter(|&&v| attached[v as usize]).count();
            if (1..4).contains(&reached) {
                t.iter().for_each(|&v| attached[v as usize] = true);
                grows = true;
            }
        }
    }
    tetrahedra.retain(|t| attached[t[0] as usize]);
    renumber(tetrahedra, &attached);
    attached
}

fn renumber(tetrahedra: &mut [[u32; 4]], used: &[bool]) {
    let count_on = |next: &mut u32, &used: &bool| {
        let number = *next;
        *next += u32::from(used);
        Some(number)
    };
    let numbers: Vec<u32> = used.iter().scan(0, count_on).collect();
    for v in tetrahedra.iter_mut().flatten() {
        *v = numbers[*v as usize];
    }
}

/// Surface and inner points of every shape in its own frame.
fn carry_to_all(
    solid: &Solid,
    points: &[DVec3],
    tetrahedra: &[[u32; 4]],
    shapes: usize,
    chosen: usize,
    seen: impl Fn(usize) -> Vec<DVec3>,
) -> Result<Vec<Vec<DVec3>>, PhysicsError> {
    if points.len() == solid.surface.vertex_count() {
        return Ok((0..shapes).map(seen).collect());
    }
    let carrier = Carrier::new(&solid.surface, points, tetrahedra)?;
    let place = |shape: usize| {
        if shape == chosen {
            Ok(points.to_vec())
        } else {
            Ok(carrier.carry(&solid.surface.posed(seen(shape))?))
        }
    };
    (0..shapes).map(place).collect()
}

/// Drops tetrahedra that are flat or turned in any shape, and inner points that then hang on
/// nothing; returns the inner points.
fn keep_upright(
    mut shapes: Vec<Vec<DVec3>>,
    tetrahedra: &[[u32; 4]],
    surface: usize,
) -> (Vec<Vec<DVec3>>, Vec<[u32; 4]>) {
    let upright = |t: &[u32; 4]| {
        shapes
            .iter()
            .all(|points| thickness(t.map(|v| points[v as usize])) >= LEAST_THICKNESS)
    };
    let mut kept: Vec<[u32; 4]> = tetrahedra.iter().copied().filter(upright).collect();
    let stays = keep_attached(&mut kept, shapes[0].len(), surface);
    for points in &mut shapes {
        let inner = points.iter().zip(&stays).skip(surface);
        *points = inner
            .filter(|(_, stays)| **stays)
            .map(|(p, _)| *p)
            .collect();
    }
    (shapes, kept)
}

#[cfg(test)]
mod tests;
