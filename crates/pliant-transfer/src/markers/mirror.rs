//! Mirrored markers: the markers of one side of a symmetric mesh give those of the other side.
//!
//! **Problem.** Most characters are symmetric; markers need to be set only on one side and on the
//! symmetry plane.
//!
//! **Method.** On each mesh the image of a marker is the vertex that [`VertexMirror`] pairs it with.
//! If the mesh has no mirrored vertices, the image is the vertex nearest to the mirrored position,
//! among those whose surface faces the mirrored direction.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, vertex_normals};
use pliant_rig::{MirrorPlane, VertexMirror, mirrored_name};

use super::near_vertex::NearVertex;
use crate::extent::diagonal;
use crate::{Markers, TransferError};

/// A surface is symmetric if its mirror image is on average off by less than this, relative to the
/// diagonal. Measured: below 0.01 for the horse and the camel of `horse-camel`.
const NEARLY_SYMMETRIC: f64 = 0.02;

/// An image farther from its vertex, relative to the diagonal, gives a warning.
const UNCERTAIN: f64 = 0.02;

/// A vertex within this distance of the plane, in mean edge lengths, is on the plane.
const ON_PLANE: f64 = 0.5;

/// The partner of a vertex on the plane may be this far from its own plane, relative to the
/// diagonal: clicks are inaccurate, and tails swing.
const NEAR_PLANE: f64 = 0.02;

/// Markers of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct MirroredMarkers {
    /// The given pairs, each followed by its image.
    pub markers: Markers,
    /// Number of added images.
    pub added: usize,
    /// Number of pairs on the symmetry plane, which are their own images.
    pub middle: usize,
    /// Warnings about pairs without an image and uncertain images, one sentence each.
    pub warnings: Vec<String>,
}

/// The symmetry plane of a mesh: by its vertices, or else by its surface. `None` if it is not
/// symmetric.
#[must_use]
pub fn symmetry_plane(mesh: &Mesh) -> Option<MirrorPlane> {
    if let Some(plane) = MirrorPlane::find(mesh) {
        return Some(plane);
    }
    let (plane, error) = MirrorPlane::find_on_surface(mesh)?;
    (error < NEARLY_SYMMETRIC).then_some(plane)
}

/// Adds the mirror image of each pair, given the planes of the source and of the target.
///
/// A pair on the planes of both meshes is its own image. The side in a name is exchanged (`ear_L`,
/// `ear_R`). If another pair already has the name or the source vertex of the image, that pair
/// stays.
///
/// # Errors
/// If a pair names a vertex that does not exist, or a mesh has no faces.
pub fn mirror_markers(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
    [source_plane, target_plane]: [MirrorPlane; 2],
) -> Result<MirroredMarkers, TransferError> {
    markers.require_all_in_range(source, target)?;
    let sides = [
        MirroredMesh::new(source, source_plane)?,
        MirroredMesh::new(target, target_plane)?,
    ];

    let mut mirrored = MirroredMarkers {
        markers: Markers::default(),
        added: 0,
        middle: 0,
        warnings: Vec::new(),
    };
    for (k, (&pair, name)) in markers.pairs().iter().zip(markers.names()).enumerate() {
        mirrored.markers.push(name.clone(), pair);
        let on_source = sides[0].is_on_plane(pair.0);
        let on_target = sides[1].is_on_plane(pair.1);

        // A pair on both planes is its own image; on one plane only, one of its vertices is wrong.
        if !on_source && !on_target {
            mirrored.add_image(markers, k, &sides);
        } else if sides[0].is_near_plane(pair.0) && sides[1].is_near_plane(pair.1) {
            mirrored.middle += 1;
        } else {
            let side = if on_source { "source" } else { "target" };
            mirrored.warnings.push(format!(
                "{} is on the middle line of the {side} only and gets no image; check it",
                markers.label(k)
            ));
        }
    }
    Ok(mirrored)
}

impl MirroredMarkers {
    fn add_image(&mut self, markers: &Markers, k: usize, sides: &[MirroredMesh<'_>; 2]) {
        let (a, b) = markers.pairs()[k];
        let images = [sides[0].image(a), sides[1].image(b)];
        let name = markers.names()[k]
            .as_ref()
            .map(|name| mirrored_name(name).unwrap_or_else(|| format!("{name}_mirrored")));

        // An existing pair was set by the user and is better than an image.
        let name_exists = name.is_some() && markers.names().contains(&name);
        let vertex_exists = markers
            .pairs()
            .iter()
            .any(|&(c, _)| sides[0].is_near(c, images[0].vertex));
        if name_exists || vertex_exists {
            return;
        }

        // Without mirrored vertices the nearest vertex may be far off.
        for (image, side) in images.iter().zip(["source", "target"]) {
            if image.error > UNCERTAIN {
                let label = markers.label(k);
                let percent = 100.0 * image.error;
                let vertex = image.vertex;
                self.warnings.push(format!("the image of {label} is {percent:.1} % of the diagonal from {side} vertex {vertex}; check it"));
            }
        }

        let pair = (images[0].vertex, images[1].vertex);
        self.markers.push(name, pair);
        self.added += 1;
    }
}

/// The vertex on the other side.
struct Image {
    vertex: u32,
    /// The distance of the vertex from the mirrored position, relative to the diagonal; zero for
    /// mirrored vertices.
    error: f64,
}

/// A mesh with its symmetry plane.
struct MirroredMesh<'a> {
    mesh: &'a Mesh,
    mirror: VertexMirror,
    nearest: NearVertex<'a>,
    normals: Vec<DVec3>,
    /// Vertices within this distance of the plane are on it.
    tolerance: f64,
}

impl<'a> MirroredMesh<'a> {
    fn new(mesh: &'a Mesh, plane: MirrorPlane) -> Result<Self, TransferError> {
        Ok(Self {
            mesh,
            mirror: VertexMirror::by_position(mesh, plane),
            nearest: NearVertex::new(mesh)?,
            normals: vertex_normals(mesh),
            tolerance: ON_PLANE * mesh.mean_edge_length(),
        })
    }

    fn position(&self, vertex: u32) -> DVec3 {
        self.mesh.positions()[vertex as usize]
    }

    fn partner(&self, vertex: u32) -> Option<u32> {
        self.mirror.partners()[vertex as usize]
    }

    fn distance_to_plane(&self, vertex: u32) -> f64 {
        self.mirror.plane().distance(self.position(vertex)).abs()
    }

    fn is_on_plane(&self, vertex: u32) -> bool {
        match self.partner(vertex) {
            Some(partner) => partner == vertex,
            None => self.distance_to_plane(vertex) < self.tolerance,
        }
    }

    fn is_near_plane(&self, vertex: u32) -> bool {
        self.is_on_plane(vertex)
            || self.distance_to_plane(vertex) < NEAR_PLANE * diagonal(self.mesh)
    }

    fn is_near(&self, a: u32, b: u32) -> bool {
        a == b || self.position(a).distance(self.position(b)) < self.tolerance
    }

    fn image(&self, vertex: u32) -> Image {
        if let Some(vertex) = self.partner(vertex) {
            return Image { vertex, error: 0.0 };
        }

        // The mirrored normal selects the right side of thin parts such as ears.
        let plane = self.mirror.plane();
        let goal = plane.mirror_point(self.position(vertex));
        let normal = plane.mirror_vector(self.normals[vertex as usize]);
        let image = self.nearest.of(goal, normal);
        let diagonal = diagonal(self.mesh);
        Image {
            vertex: image,
            error: if diagonal > 0.0 {
                self.position(image).distance(goal) / diagonal
            } else {
                0.0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::DecimationBudget;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    /// A body that is symmetric about x = 0 alone.
    fn body(level: usize) -> Mesh {
        let sphere = icosphere(level);
        let shape = |p: &DVec3| {
            DVec3::new(
                p.x,
                1.5 * p.y + 0.3 * p.y * p.y + 0.2 * p.z,
                0.7 * p.z * (1.0 + 0.3 * p.y),
            )
        };

        sphere
            .posed(sphere.positions().iter().map(shape).collect())
            .unwrap()
    }

    fn planes(source: &Mesh, target: &Mesh) -> [MirrorPlane; 2] {
        [source, target].map(|mesh| symmetry_plane(mesh).unwrap())
    }

    fn named(pairs: &[(&str, (u32, u32))]) -> Markers {
        let mut markers = Markers::default();
        for &(name, pair) in pairs.iter() {
            markers.push(Some(name.into()), pair);
        }
        markers
    }

    fn vertex(mesh: &Mesh, wanted: impl Fn(DVec3) -> bool) -> u32 {
        mesh.positions().iter().position(|&p| wanted(p)).unwrap() as u32
    }

    #[test]
    fn images_take_the_name_of_the_other_side_and_pairs_on_the_plane_have_none() {
        let mesh = body(3);
        let left = vertex(&mesh, |p| p.x > 0.8);
        let middle = vertex(&mesh, |p| p.x.abs() < 1e-9);

        let markers = named(&[
            ("ear_L", (left, left)),
            ("nose", (middle, middle)),
            ("mole", (left + 1, left + 1)),
        ]);
        let both = mirror_markers(&mesh, &mesh, &markers, planes(&mesh, &mesh)).unwrap();

        let names: Vec<&str> = both
            .markers
            .names()
            .iter()
            .flatten()
            .map(String::as_str)
            .collect();

        assert_eq!(names, ["ear_L", "ear_R", "nose", "mole", "mole_mirrored"]);
        assert_eq!((both.added, both.middle, both.warnings.len()), (2, 1, 0));

        let (a, b) = both.markers.pairs()[1];
        let image = mesh.positions()[left as usize] * DVec3::new(-1.0, 1.0, 1.0);
        assert!(a == b && mesh.positions()[a as usize].distance(image) < 1e-12);
    }

    #[test]
    fn mirroring_twice_adds_nothing_more() {
        let mesh = body(3);
        let markers = Markers::new((0..40).step_by(3).map(|v| (v, v)).collect());
        let once = mirror_markers(&mesh, &mesh, &markers, planes(&mesh, &mesh)).unwrap();
        let twice = mirror_markers(&mesh, &mesh, &once.markers, planes(&mesh, &mesh)).unwrap();
        assert!(once.added > 0 && twice.added == 0);
        assert_eq!(once.markers, twice.markers);
    }

    #[test]
    fn without_mirrored_vertices_the_image_is_the_nearest_vertex() {
        let (even, fine) = (body(3), body(5));
        // Edge collapse follows no symmetry.
        let uneven = fine
            .decimated(DecimationBudget::Vertices(700), &Default::default())
            .unwrap()
            .mesh()
            .clone();

        let a = vertex(&even, |p| p.x > 0.8);
        let place = even.positions()[a as usize];
        let nearest = |mesh: &Mesh, place: DVec3| {
            let points = mesh.positions();
            (0..points.len())
                .min_by(|&i, &j| {
                    points[i]
                        .distance(place)
                        .total_cmp(&points[j].distance(place))
                })
                .unwrap() as u32
        };

        let markers = Markers::new(vec![(a, nearest(&uneven, place))]);
        let both = mirror_markers(&even, &uneven, &markers, planes(&even, &uneven)).unwrap();
        let (_, b) = both.markers.pairs()[1];
        let image = uneven.positions()[markers.pairs()[0].1 as usize] * DVec3::new(-1.0, 1.0, 1.0);

        assert!(uneven.positions()[b as usize].distance(image) < uneven.mean_edge_length());
    }

    #[test]
    fn a_pair_on_one_plane_only_has_no_image_and_gives_a_warning() {
        let mesh = body(3);
        let left = vertex(&mesh, |p| p.x > 0.8);
        let middle = vertex(&mesh, |p| p.x.abs() < 1e-9);

        let both = mirror_markers(
            &mesh,
            &mesh,
            &Markers::new(vec![(middle, left)]),
            planes(&mesh, &mesh),
        )
        .unwrap();

        assert!(
            both.added == 0 && both.warnings[0].contains("middle line of the source only"),
            "{:?}",
            both.warnings
        );

        assert!(
            mirror_markers(
                &mesh,
                &mesh,
                &Markers::new(vec![(0, 99_999)]),
                planes(&mesh, &mesh)
            )
            .is_err()
        );
    }

    #[test]
    fn an_asymmetric_mesh_has_no_plane() {
        let sheet = bumpy_sheet(12, 0.3);
        let skewed = sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|p| *p + DVec3::new(0.8 * p.y, 0.0, 2.0 * p.x * p.y * p.y))
                    .collect(),
            )
            .unwrap();

        assert_eq!(symmetry_plane(&skewed), None);
    }
}
