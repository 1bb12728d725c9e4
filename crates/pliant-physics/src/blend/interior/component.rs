//! Connected components of a shape, closed, each in its own frame.
//!
//! **Problem.** Distinguish inside and outside for each component separately (an eyeball inside a
//! head is not a hole in it), also where a scan has small holes, independent of placement and
//! orientation.
//!
//! **Departures.** A boundary loop is closed by a fan from its centre when all fans together are
//! small compared with the surface of the component; otherwise the component is an open sheet and
//! has no interior. The frame is spanned by two sums over the vertices with weights that depend
//! only on their number: it rotates with the component, exists for spheres and boxes, where
//! principal axes do not, and is the same for any order of the shapes.

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{
    Mesh, MeshError, SurfaceIndex, Topology, WindingTree, triangle_area, triangle_normal,
};

use super::delaunay::split_mix;

/// Fans over holes have at most this share of the area of a component. Chosen: a head cut at its
/// neck needs about 0.07, half a sphere 0.5.
pub(crate) const LARGEST_CAPS: f64 = 0.1;

/// A frame whose second axis is nearer to its first than this is replaced by the coordinate axes.
const LEAST_ANGLE: f64 = 1e-6;

/// The vertices and triangles of one connected component.
#[derive(Debug)]
pub(super) struct Component {
    /// The vertices in the numbering of the shape, ascending.
    pub(super) vertices: Vec<u32>,
    /// The triangles in the numbering of the component.
    pub(super) triangles: Vec<[u32; 3]>,
}

impl Component {
    /// The connected components of a surface, in the order of their first vertices; vertices are
    /// merged with their `twins`.
    pub(super) fn all_of(mesh: &Mesh, twins: &[u32]) -> Result<Vec<Self>, MeshError> {
        // Components of the surface with merged twins.
        let joined: Vec<[u32; 3]> = mesh
            .triangles()
            .iter()
            .map(|t| t.map(|v| twins[v as usize]))
            .collect();
        let joined = Mesh::from_triangles(mesh.positions().to_vec(), &joined)?;
        let component_of = joined.topology().component_of_vertex();

        let mut components: Vec<Self> = (0..joined.topology().component_count())
            .map(|_| Self {
                vertices: Vec::new(),
                triangles: Vec::new(),
            })
            .collect();

        // Vertices are numbered within their component.
        let mut places = vec![0_u32; mesh.vertex_count()];
        for (v, &component) in component_of
            .iter()
            .enumerate()
            .filter(|(_, component)| **component != Topology::NONE)
        {
            let vertices = &mut components[component as usize].vertices;
            places[v] = vertices.len() as u32;
            vertices.push(v as u32);
        }

        for triangle in joined.triangles() {
            components[component_of[triangle[0] as usize] as usize]
                .triangles
                .push(triangle.map(|v| places[v as usize]));
        }

        Ok(components)
    }

    /// The positions of the component in a shape.
    pub(super) fn positions(&self, mesh: &Mesh) -> Vec<DVec3> {
        self.vertices
            .iter()
            .map(|&v| mesh.positions()[v as usize])
            .collect()
    }

    /// The number in the shape of a vertex of the component, or of an inner point; the inner points
    /// of the component are numbered from `first_inner`.
    pub(super) fn global(&self, vertex: u32, first_inner: u32) -> u32 {
        let own = self.vertices.len() as u32;
        if vertex < own {
            self.vertices[vertex as usize]
        } else {
            first_inner + vertex - own
        }
    }
}

/// For each vertex the first one with the same position in every shape: texture seams split
/// vertices, and a closed surface would have holes along them.
pub(crate) fn twins(shapes: &[&Mesh]) -> Vec<u32> {
    // Adding zero makes both zeros one.
    let coordinates = |v: u32| {
        shapes
            .iter()
            .flat_map(move |mesh| (mesh.positions()[v as usize] + DVec3::ZERO).to_array())
    };

    let compare = |&v: &u32, &w: &u32| {
        coordinates(v)
            .zip(coordinates(w))
            .map(|(x, y)| x.total_cmp(&y))
            .find(|order| order.is_ne())
    };

    let count = shapes.first().map_or(0, |mesh| mesh.vertex_count()) as u32;

    // Coincident vertices are adjacent in the order of coordinates.
    let mut sorted: Vec<u32> = (0..count).collect();
    sorted.sort_by(|v, w| compare(v, w).unwrap_or_else(|| v.cmp(w)));

    let mut twins: Vec<u32> = (0..count).collect();
    for pair in sorted
        .windows(2)
        .filter(|pair| compare(&pair[0], &pair[1]).is_none())
    {
        twins[pair[1] as usize] = twins[pair[0] as usize];
    }

    twins
}

/// Centre, axes and size of a component; in this frame its placement and size do not matter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComponentFrame {
    center: DVec3,
    axes: DMat3,
    size: f64,
}

impl ComponentFrame {
    /// The frame of points; `None` where they all coincide.
    pub(crate) fn of(points: &[DVec3]) -> Option<Self> {
        let center = points
            .iter()
            .map(|p| *p / points.len() as f64)
            .sum::<DVec3>();

        let size = points
            .iter()
            .map(|p| p.distance(center))
            .fold(0.0, f64::max);

        let moment = |seed: u64| {
            let weight = |i: usize| split_mix(seed << 32 | i as u64) as f64 / u64::MAX as f64 - 0.5;
            points
                .iter()
                .enumerate()
                .map(|(i, p)| (*p - center) / size * weight(i))
                .sum::<DVec3>()
        };

        (size > 0.0 && size.is_finite()).then(|| Self {
            center,
            axes: orthonormal(moment(1), moment(2)),
            size,
        })
    }

    /// Unit vectors that rotate with the points.
    pub(crate) fn axes(&self) -> DMat3 {
        self.axes
    }

    pub(super) fn local(&self, point: DVec3) -> DVec3 {
        self.axes.transpose() * ((point - self.center) / self.size)
    }

    pub(super) fn world(&self, point: DVec3) -> DVec3 {
        self.center + self.axes * point * self.size
    }
}

fn orthonormal(a: DVec3, b: DVec3) -> DMat3 {
    let x = a.normalize_or_zero();

    // Gram–Schmidt.
    let across = b.normalize_or_zero().reject_from_normalized(x);
    if x == DVec3::ZERO || across.length() < LEAST_ANGLE {
        return DMat3::IDENTITY;
    }
    let y = across.normalize();
    DMat3::from_cols(x, y, x.cross(y))
}

/// A component in its frame with its small holes closed.
pub(super) struct ClosedComponent {
    /// The surface of the component without the caps.
    pub(super) surface: Mesh,
    /// Boundary loops that were closed.
    pub(super) holes: usize,
    /// The edges along those loops.
    pub(super) hole_edges: usize,
    index: SurfaceIndex,
    winding: WindingTree,
    normals: Vec<DVec3>,
    /// Minus one where the triangles face inward.
    outward: f64,
}

impl ClosedComponent {
    /// Closes the surface; `None` for an open sheet.
    pub(super) fn close(surface: Mesh) -> Result<Option<Self>, MeshError> {
        // Large caps would close an open sheet.
        let loops = surface.topology().boundary_loops();
        let (positions, triangles) = capped(&surface, &loops);
        let caps = &triangles[surface.triangles().len()..];
        let area = |triangles: &[[u32; 3]]| {
            triangles
                .iter()
                .map(|t| triangle_area(t.map(|v| positions[v as usize])))
                .sum::<f64>()
        };

        if area(caps) > LARGEST_CAPS * area(surface.triangles()) {
            return Ok(None);
        }

        let closed = Mesh::from_triangles(positions, &triangles)?;
        Ok(Some(Self {
            holes: loops.len(),
            hole_edges: loops.iter().map(Vec::len).sum(),
            index: SurfaceIndex::new(&closed)?,
            winding: WindingTree::new(&closed)?,
            normals: (0..triangles.len())
                .map(|t| triangle_normal(closed.triangle_points(t)))
                .collect(),
            outward: if closed.signed_volume() < 0.0 {
                -1.0
            } else {
                1.0
            },
            surface,
        }))
    }

    pub(super) fn contains(&self, point: DVec3) -> bool {
        self.outward * self.winding.winding_number(point) > 0.5
    }

    /// The distance from the closed surface, on either side.
    pub(super) fn distance(&self, point: DVec3) -> f64 {
        self.index
            .closest_point(point)
            .map_or(0.0, |closest| closest.distance)
    }

    /// The distance from the surface, negative outside.
    pub(super) fn depth(&self, point: DVec3) -> f64 {
        let distance = self.distance(point);
        if self.contains(point) {
            distance
        } else {
            -distance
        }
    }

    /// Whether the segment from `start` to `end` crosses the surface at more than a grazing angle:
    /// the sine of that angle is above `steepness`. Triangles at the ends meet the segment only
    /// there, and do not count.
    pub(super) fn crosses(&self, start: DVec3, end: DVec3, steepness: f64) -> bool {
        /// Parts of the segment that are left out at its ends, and after a hit.
        const AT_ENDS: f64 = 1e-3;
        const AFTER_HIT: f64 = 1e-6;
        const MOST_HITS: usize = 16;

        // Hits at grazing angles are skipped, up to a limit.
        let segment = end - start;
        let length = segment.length();
        let mut from = AT_ENDS;

        for _ in 0..MOST_HITS {
            let Some(hit) = self.index.cast_ray(
                start + segment * from,
                segment,
                (1.0 - AT_ENDS - from) * length,
            ) else {
                return false;
            };
            if self.normals[hit.place.triangle as usize].dot(segment).abs() > steepness * length {
                return true;
            }

            from += hit.distance / length + AFTER_HIT;
            if from >= 1.0 - AT_ENDS {
                return false;
            }
        }

        true
    }
}

/// Positions and triangles with a fan over each loop: its centre connected to the edges of the
/// loop, which run against those of the surface.
fn capped(surface: &Mesh, loops: &[Vec<u32>]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut positions = surface.positions().to_vec();
    let mut triangles = surface.triangles().to_vec();
    for walk in loops {
        let center = positions.len() as u32;
        positions
            .push(walk.iter().map(|&v| positions[v as usize]).sum::<DVec3>() / walk.len() as f64);
        let next = walk.iter().cycle().skip(1);
        triangles.extend(walk.iter().zip(next).map(|(&a, &b)| [center, b, a]));
    }

    (positions, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    /// A sphere without the triangles around its first vertices.
    fn punctured(vertices: u32) -> Mesh {
        let sphere = icosphere(3);
        let kept: Vec<[u32; 3]> = sphere
            .triangles()
            .iter()
            .copied()
            .filter(|t| t.iter().all(|&v| v >= vertices))
            .collect();
        Mesh::from_triangles(sphere.positions().to_vec(), &kept).unwrap()
    }

    #[test]
    fn small_holes_are_closed_without_changing_the_inside() {
        let solid = ClosedComponent::close(punctured(2))
            .unwrap()
            .expect("two small holes");
        assert_eq!((solid.holes, solid.hole_edges), (2, 10));
        let hole = icosphere(3).positions()[0];
        assert!(solid.contains(hole * 0.9) && !solid.contains(hole * 1.05));
    }

    #[test]
    fn half_a_sphere_and_a_sheet_have_no_interior() {
        let sphere = icosphere(3);

        // The cap over the equator is half of the area.
        let upper: Vec<[u32; 3]> = sphere
            .triangles()
            .iter()
            .copied()
            .filter(|t| t.iter().all(|&v| sphere.positions()[v as usize].z > -1e-9))
            .collect();

        let half = Mesh::from_triangles(sphere.positions().to_vec(), &upper).unwrap();
        assert!(ClosedComponent::close(half).unwrap().is_none());
        assert!(
            ClosedComponent::close(bumpy_sheet(8, 0.3))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn an_inverted_surface_has_the_same_inside() {
        let sphere = icosphere(2);
        let inverted: Vec<[u32; 3]> = sphere
            .triangles()
            .iter()
            .map(|&[a, b, c]| [a, c, b])
            .collect();

        let solid = ClosedComponent::close(
            Mesh::from_triangles(sphere.positions().to_vec(), &inverted).unwrap(),
        )
        .unwrap()
        .unwrap();

        assert!(solid.contains(DVec3::ZERO) && !solid.contains(DVec3::X * 2.0));
    }

    #[test]
    fn vertices_are_twins_only_if_they_coincide_in_every_shape() {
        let mesh = |points: [f64; 4]| {
            Mesh::from_triangles(
                points.map(|x| DVec3::new(x, 0.0, 0.0)).to_vec(),
                &[[0, 1, 2]],
            )
            .unwrap()
        };

        let first = mesh([1.0, 0.0, 1.0, -0.0]);
        let second = mesh([1.0, 5.0, 2.0, 5.0]);
        assert_eq!(twins(&[&first]), [0, 1, 0, 1]);
        assert_eq!(twins(&[&first, &second]), [0, 1, 2, 1]);
    }

    #[test]
    fn a_component_in_its_frame_does_not_depend_on_its_placement() {
        let points = icosphere(2).positions().to_vec();
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 1.3);
        let moved: Vec<DVec3> = points
            .iter()
            .map(|&p| turn * p * 40.0 + DVec3::new(5.0, -7.0, 100.0))
            .collect();

        let frame = ComponentFrame::of(&points).unwrap();
        let moved_frame = ComponentFrame::of(&moved).unwrap();
        for (p, q) in points.iter().zip(&moved) {
            assert!(frame.local(*p).distance(moved_frame.local(*q)) < 1e-12);
            assert!(moved_frame.world(moved_frame.local(*q)).distance(*q) < 1e-12 * q.length());
        }

        assert!(ComponentFrame::of(&[DVec3::ONE; 4]).is_none());
    }
}
