//! Interior points and tetrahedra of closed shapes, in correspondence.
//!
//! - [`component`]: connected components, closed, each in its own frame.
//! - [`lattice`]: points inside a component, from an octree.
//! - [`delaunay`](mod@delaunay): the Delaunay triangulation of points in space.
//! - [`inside_test`]: the tetrahedra that lie inside.
//! - [`arap_embedding`]: the positions of the inner points in the other shapes.
//! - [`tetrahedron`]: volume, thickness and edges.
//!
//! **Problem.** Springs on the surface alone let a large shape of small triangles crumple. Springs
//! through the interior preserve its volume; they must be the same in every shape, must not bridge
//! gaps, and must not depend on the order of the shapes.
//!
//! **Method.** For each connected component: close its small holes, choose the shape in which it is
//! most spread out and fullest, place points inside, connect all by Delaunay tetrahedra, keep those
//! inside, embed the points in the other shapes, and drop the tetrahedra that are inverted in any
//! shape.
//!
//! **Source.** Ma et al. 2012, section 3.1: internal springs along the edges of a constrained
//! Delaunay tetrahedralisation of the surface vertices, refined by vertices that are added to all
//! shapes correspondingly.
//!
//! **Departures.** Not constrained, see [`inside_test`]. Ma et al. do not say where added vertices
//! lie in the other shapes. The chosen shape has the largest product of second moment and volume
//! relative to its area, since limbs that are spread out do not touch and a flat shape has no
//! interior; ties are resolved by coordinates, so that the order of the shapes does not matter.

mod arap_embedding;
mod component;
mod delaunay;
mod inside_test;
mod lattice;
pub(crate) mod tetrahedron;

use std::cmp::Ordering;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, triangle_area};

use crate::PhysicsError;
use arap_embedding::ArapEmbedding;
use component::{ClosedComponent, Component};
pub(crate) use component::{ComponentFrame, LARGEST_CAPS, twins};
use tetrahedron::thickness;

/// A larger share of dropped tetrahedra gives a warning. Chosen: every bend inverts a few beside
/// its crease, without consequence.
const WARNING_SHARE: f64 = 0.02;

/// A tetrahedron thinner than this share of its shortest edge in any shape is dropped.
const LEAST_THICKNESS: f64 = 1e-3;

/// A shape with less than this share of the volume of the chosen shape, relative to its size, is
/// flat or inverted.
const LEAST_VOLUME: f64 = 1e-3;

/// Larger coordinates overflow in the square of an area.
const COORDINATE_LIMIT: f64 = 1e70;

/// The number of interior points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InteriorPoints {
    /// None: tetrahedra connect surface vertices only, as in Ma et al. 2012.
    None,
    /// At most about this many for each surface vertex of a component; thin components have fewer,
    /// since points are at least [`InteriorOptions::LEAST_SPACING`] apart.
    Share(f64),
    /// Beneath the surface, this many mean edges apart; coarser towards the centre.
    Spacing(f64),
}

/// Options of the interior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InteriorOptions {
    points: InteriorPoints,
}

impl InteriorOptions {
    /// Chosen: a sphere of 8 thousand vertices on which Newton's method fails converges with half
    /// as many interior points.
    pub const DEFAULT_SHARE: f64 = 0.5;
    /// By default cells of the lattice have at least this many mean edges, so that tetrahedra
    /// beneath the surface are not flat.
    pub const LEAST_SPACING: f64 = 1.5;

    /// The interior points. Default: [`DEFAULT_SHARE`](Self::DEFAULT_SHARE).
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

    /// The least cell for a component with the given typical edge, and the largest number of
    /// points.
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

/// Interior points and tetrahedra of shapes of one topology.
#[derive(Debug, Clone, PartialEq)]
pub struct Interior {
    points: Vec<Vec<DVec3>>,
    tetrahedra: Vec<[u32; 4]>,
    warnings: Vec<String>,
}

impl Interior {
    /// No points and no tetrahedra inside any of so many shapes.
    pub(crate) fn none(shapes: usize) -> Self {
        Self {
            points: vec![Vec::new(); shapes],
            tetrahedra: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Fills shapes that are poses of one mesh. No tetrahedron is inverted in any of them.
    ///
    /// # Errors
    /// If there is no shape, shapes differ in their faces, a position is not finite or beyond 1e70,
    /// or an option is not a positive number.
    pub fn fill(shapes: &[&Mesh], options: &InteriorOptions) -> Result<Self, PhysicsError> {
        options.check()?;
        check_shapes(shapes)?;

        let twins = twins(shapes);
        let components = Component::all_of(shapes[0], &twins)?;
        let mut tally = FillTally::default();
        for (v, twin) in twins.iter().enumerate() {
            tally.joined += usize::from(*twin as usize != v);
        }

        let surface = shapes[0].vertex_count() as u32;
        let mut interior = Self::none(shapes.len());
        for component in &components {
            let filled = ComponentInterior::of(component, shapes, options, &mut tally)?;
            // Inner points come after all surface vertices, component by component.
            let first = surface + interior.points[0].len() as u32;
            for tetrahedron in &filled.tetrahedra {
                let global = tetrahedron.map(|v| component.global(v, first));
                interior.tetrahedra.push(global);
            }
            for (all, added) in interior.points.iter_mut().zip(filled.points) {
                all.extend(added);
            }
        }

        interior.warnings = tally.warnings(components.len());
        Ok(interior)
    }

    /// The interior points of a shape; they are numbered after the surface vertices.
    ///
    /// # Panics
    /// If there is no such shape.
    #[must_use]
    pub fn points(&self, shape: usize) -> &[DVec3] {
        &self.points[shape]
    }

    /// Tetrahedra over surface vertices and interior points; all have a positive volume `(b −
    /// a)·((c − a) × (d − a))` in every shape.
    #[must_use]
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// Warnings about open sheets, closed holes and dropped tetrahedra.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Rejects shapes that are not poses of one mesh, or not finite.
pub(crate) fn check_shapes(shapes: &[&Mesh]) -> Result<(), PhysicsError> {
    let first = shapes.first().ok_or(PhysicsError::NoShapes)?;
    for (shape, mesh) in shapes.iter().enumerate() {
        let found = mesh.vertex_count();
        let expected = first.vertex_count();
        if found != expected {
            return Err(PhysicsError::VertexCountMismatch {
                shape,
                found,
                expected,
            });
        }

        if !mesh.same_surface(first) {
            return Err(PhysicsError::FaceMismatch { shape });
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

/// Counts over all components.
#[derive(Default)]
struct FillTally {
    joined: usize,
    open: usize,
    empty: usize,
    flattened: usize,
    holes: usize,
    hole_edges: usize,
    inside: usize,
    inverted: usize,
}

impl FillTally {
    fn warnings(&self, components: usize) -> Vec<String> {
        let of_components = |count: usize| {
            if components == 1 {
                "the surface".to_owned()
            } else {
                format!("{count} of {components} components")
            }
        };

        let mut warnings = Vec::new();
        if self.joined > 0 {
            warnings.push(format!(
                "{} vertices coincide with others in every shape and are merged for the interior",
                self.joined
            ));
        }

        if self.open > 0 {
            warnings.push(format!(
                "{}: open, so without an interior; surface springs only",
                of_components(self.open)
            ));
        }

        if self.empty > 0 {
            warnings.push(format!(
                "{}: closed but too thin for tetrahedra; surface springs only",
                of_components(self.empty)
            ));
        }

        if self.flattened > 0 {
            warnings.push(format!(
                "{}: flat or turned inside out in some shape; surface springs only",
                of_components(self.flattened)
            ));
        }

        if self.holes > 0 {
            warnings.push(format!(
                "{} small hole(s) with {} boundary edges are closed for the interior",
                self.holes, self.hole_edges
            ));
        }

        if self.inverted as f64 > WARNING_SHARE * self.inside as f64 {
            let share = 100.0 * self.inverted as f64 / self.inside as f64;
            warnings.push(format!(
                "{share:.0} % of the interior has no springs, because some shape turns it inside out; check that this shape is a pose of the same mesh"
            ));
        }

        warnings
    }
}

/// The interior of one component: points for each shape, tetrahedra in the numbering of the
/// component.
struct ComponentInterior {
    points: Vec<Vec<DVec3>>,
    tetrahedra: Vec<[u32; 4]>,
}

impl ComponentInterior {
    fn none(shapes: usize) -> Self {
        Self {
            points: vec![Vec::new(); shapes],
            tetrahedra: Vec::new(),
        }
    }

    fn of(
        component: &Component,
        shapes: &[&Mesh],
        options: &InteriorOptions,
        tally: &mut FillTally,
    ) -> Result<Self, PhysicsError> {
        let positions: Vec<Vec<DVec3>> = shapes
            .iter()
            .map(|mesh| component.positions(mesh))
            .collect();
        let Some(frames) = frames_of(&positions) else {
            tally.empty += 1;
            return Ok(Self::none(shapes.len()));
        };

        // In its own frame a component does not depend on its placement or size.
        let mut local = Vec::with_capacity(shapes.len());
        for (points, frame) in positions.iter().zip(&frames) {
            local.push(points.iter().map(|&p| frame.local(p)).collect::<Vec<_>>());
        }

        let chosen = chosen_shape(&positions, &component.triangles);
        let surface = Mesh::from_triangles(local[chosen].clone(), &component.triangles)?;
        let Some(solid) = ClosedComponent::close(surface)? else {
            tally.open += 1;
            return Ok(Self::none(shapes.len()));
        };
        if is_flat_somewhere(&solid, &local, chosen)? {
            tally.flattened += 1;
            return Ok(Self::none(shapes.len()));
        }

        let (points, tetrahedra) = tetrahedralise(&solid, options);
        let embedded = embed_in_all(&solid, &points, &tetrahedra, local, chosen)?;
        let (inner, kept) = drop_inverted(embedded, &tetrahedra, solid.surface.vertex_count());
        tally.holes += solid.holes;
        tally.hole_edges += solid.hole_edges;
        tally.inside += tetrahedra.len();
        tally.inverted += tetrahedra.len() - kept.len();
        tally.empty += usize::from(kept.is_empty());

        let mut world = Vec::with_capacity(shapes.len());
        for (points, frame) in inner.iter().zip(&frames) {
            world.push(points.iter().map(|&p| frame.world(p)).collect());
        }

        Ok(Self {
            points: world,
            tetrahedra: kept,
        })
    }
}

/// The frame of each shape; `None` where all points of a shape coincide.
fn frames_of(shapes: &[Vec<DVec3>]) -> Option<Vec<ComponentFrame>> {
    shapes
        .iter()
        .map(|points| ComponentFrame::of(points))
        .collect()
}

/// Whether some shape has almost no volume, or one of the other sign, relative to the chosen one.
fn is_flat_somewhere(
    solid: &ClosedComponent,
    local: &[Vec<DVec3>],
    chosen: usize,
) -> Result<bool, PhysicsError> {
    let mut volumes = Vec::with_capacity(local.len());
    for points in local {
        volumes.push(solid.surface.posed(points.clone())?.signed_volume());
    }

    Ok(volumes.iter().any(|v| v / volumes[chosen] < LEAST_VOLUME))
}

/// The shape that is most spread out and fullest, both relative to its area.
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

/// Second moment over area, times volume over area to the power 3/2: dimensionless, and zero for a
/// flat shape.
fn spread_and_fullness(points: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    // Divided before the sum: coordinates may be near the overflow of the sum.
    let center = points
        .iter()
        .map(|p| *p / points.len() as f64)
        .sum::<DVec3>();
    let corners = |t: &[u32; 3]| t.map(|v| points[v as usize] - center);
    let area: f64 = triangles.iter().map(|t| triangle_area(corners(t))).sum();

    // Relative to the area, so that size does not matter.
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

/// An order of shapes that does not depend on their order in a list.
pub(crate) fn by_coordinates(a: &[DVec3], b: &[DVec3]) -> Ordering {
    for (p, q) in a.iter().zip(b) {
        for (x, y) in p.to_array().iter().zip(&q.to_array()) {
            let order = x.total_cmp(y);
            if order.is_ne() {
                return order;
            }
        }
    }

    Ordering::Equal
}

/// The surface vertices and interior points, and the tetrahedra between them that lie inside.
fn tetrahedralise(
    solid: &ClosedComponent,
    options: &InteriorOptions,
) -> (Vec<DVec3>, Vec<[u32; 4]>) {
    let mut points = solid.surface.positions().to_vec();

    // Surface vertices have depth zero, inner points their distance from the surface.
    let mut depths = vec![0.0; points.len()];
    if let Some((finest, most)) = options.measures(lattice::typical_edge(solid), points.len()) {
        for inner in lattice::inner_points(solid, finest, most) {
            points.push(inner.position);
            depths.push(inner.depth);
        }
    }

    let mut tetrahedra = inside_test::inside(solid, &points, &depths, delaunay::delaunay(&points));
    let stays = keep_attached(&mut tetrahedra, points.len(), solid.surface.vertex_count());
    let kept = points
        .iter()
        .zip(stays)
        .filter(|(_, stays)| *stays)
        .map(|(p, _)| *p)
        .collect();

    (kept, tetrahedra)
}

/// Drops inner points, and their tetrahedra, that no chain of tetrahedra connects to the surface,
/// and renumbers the others; returns which points stay.
fn keep_attached(tetrahedra: &mut Vec<[u32; 4]>, points: usize, surface: usize) -> Vec<bool> {
    // Flood from the surface through common tetrahedra.
    let mut attached: Vec<bool> = (0..points).map(|v| v < surface).collect();
    let mut grows = true;
    while grows {
        grows = false;
        for t in tetrahedra.iter() {
            let reached = t.iter().filter(|&&v| attached[v as usize]).count();
            if (1..4).contains(&reached) {
                for &v in t {
                    attached[v as usize] = true;
                }
                grows = true;
            }
        }
    }

    tetrahedra.retain(|t| attached[t[0] as usize]);
    renumber(tetrahedra, &attached);
    attached
}

/// Numbers the used points consecutively.
fn renumber(tetrahedra: &mut [[u32; 4]], used: &[bool]) {
    let mut numbers = Vec::with_capacity(used.len());
    let mut next = 0;
    for &used in used {
        numbers.push(next);
        next += u32::from(used);
    }

    for v in tetrahedra.iter_mut().flatten() {
        *v = numbers[*v as usize];
    }
}

/// Surface and inner points of every shape in its own frame; `local` has the surface vertices.
fn embed_in_all(
    solid: &ClosedComponent,
    points: &[DVec3],
    tetrahedra: &[[u32; 4]],
    local: Vec<Vec<DVec3>>,
    chosen: usize,
) -> Result<Vec<Vec<DVec3>>, PhysicsError> {
    // Without inner points nothing is embedded.
    if points.len() == solid.surface.vertex_count() {
        return Ok(local);
    }

    let embedding = ArapEmbedding::new(&solid.surface, points, tetrahedra)?;
    let mut all = Vec::with_capacity(local.len());
    for (shape, surface) in local.into_iter().enumerate() {
        if shape == chosen {
            all.push(points.to_vec());
        } else {
            all.push(embedding.embed(&solid.surface.posed(surface)?));
        }
    }

    Ok(all)
}

/// Drops tetrahedra that are flat or inverted in any shape, and inner points without tetrahedra;
/// returns the inner points and the kept tetrahedra.
fn drop_inverted(
    mut shapes: Vec<Vec<DVec3>>,
    tetrahedra: &[[u32; 4]],
    surface: usize,
) -> (Vec<Vec<DVec3>>, Vec<[u32; 4]>) {
    let mut kept = Vec::new();
    for t in tetrahedra {
        let is_valid = shapes
            .iter()
            .all(|points| thickness(t.map(|v| points[v as usize])) >= LEAST_THICKNESS);
        if is_valid {
            kept.push(*t);
        }
    }

    let stays = keep_attached(&mut kept, shapes[0].len(), surface);
    for points in &mut shapes {
        let mut inner = Vec::new();
        for (p, &stays) in points.iter().zip(&stays).skip(surface) {
            if stays {
                inner.push(*p);
            }
        }
        *points = inner;
    }

    (shapes, kept)
}

#[cfg(test)]
mod tests;
