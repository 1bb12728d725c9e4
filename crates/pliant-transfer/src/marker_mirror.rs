//! The other side's markers from those of one.
//!
//! **Problem.** Most characters are symmetric; markers need only be set on one side and on the
//! middle line.
//!
//! **Method.** On each mesh a marker's image is the vertex that [`VertexMirror`] pairs it with.
//! Where a mesh is not modelled symmetrically it is the vertex of the surface nearest to the image
//! of its place, among those that face as the image does.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, vertex_normals};
use pliant_rig::{MirrorPlane, VertexMirror, mirrored_name};

use crate::extent::diagonal;
use crate::near_vertex::NearVertex;
use crate::{Markers, TransferError};

/// A surface is symmetric whose mirror image is off by less than this part of the diagonal in the
/// mean. Measured: below 0.01 for the horse and the camel of `horse-camel`.
const NEARLY_SYMMETRIC: f64 = 0.02;

/// An image that is off its vertex by more than this part of the diagonal is told.
const UNCERTAIN: f64 = 0.02;

/// A vertex within this many mean edges of the plane is on the middle line.
const ON_MIDDLE: f64 = 0.5;

/// The partner of a vertex on the middle line may be this part of the diagonal off its own: hands
/// slip, and tails swing.
const NEAR_MIDDLE: f64 = 0.02;

/// Markers of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct MirroredMarkers {
    /// The pairs that were given, each followed by its image.
    pub markers: Markers,
    /// How many images were added.
    pub added: usize,
    /// How many pairs are on the middle line, and their own images.
    pub middle: usize,
    /// Pairs without an image, and images to be looked at, one sentence each.
    pub problems: Vec<String>,
}

/// The plane that a mesh is symmetric about: by its vertices, else by its surface. Nothing where it
/// is not symmetric.
#[must_use]
pub fn symmetry_plane(mesh: &Mesh) -> Option<MirrorPlane> {
    let by_surface = || {
        MirrorPlane::find_on_surface(mesh)
            .filter(|(_, off)| *off < NEARLY_SYMMETRIC)
            .map(|(plane, _)| plane)
    };
    MirrorPlane::find(mesh).or_else(by_surface)
}

/// Adds the mirror image of each pair, given the planes of the source and of the target.
///
/// A pair on the middle line of both meshes is its own image. A name's side is exchanged (`ear_L`,
/// `ear_R`); where the image's name or source vertex is taken, the pair that has it stays.
///
/// # Errors
/// If a pair names a vertex that is not there, or a mesh has no faces.
pub fn mirror_markers(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
    [source_plane, target_plane]: [MirrorPlane; 2],
) -> Result<MirroredMarkers, TransferError> {
    (0..markers.pairs().len()).try_for_each(|k| markers.require_in_range(k, source, target))?;
    let sides = [
        Symmetric::new(source, source_plane)?,
        Symmetric::new(target, target_plane)?,
    ];
    let mut mirrored = MirroredMarkers {
        markers: Markers::default(),
        added: 0,
        middle: 0,
        problems: Vec::new(),
    };
    for (k, (&pair, name)) in markers.pairs().iter().zip(markers.names()).enumerate() {
        mirrored.markers.push(name.clone(), pair);
        match (sides[0].on_middle(pair.0), sides[1].on_middle(pair.1)) {
            (false, false) => mirrored.add_image(markers, k, &sides),
            _ if sides[0].is_near_middle(pair.0) && sides[1].is_near_middle(pair.1) => {
                mirrored.middle += 1
            }
            (on_source, _) => {
                let side = if on_source { "source" } else { "target" };
                mirrored.problems.push(format!(
                    "{} is on the middle line of the {side} only and gets no image; check it",
                    markers.label(k)
                ));
            }
        }
    }
    Ok(mirrored)
}

impl MirroredMarkers {
    fn add_image(&mut self, markers: &Markers, k: usize, sides: &[Symmetric<'_>; 2]) {
        let (a, b) = markers.pairs()[k];
        let images = [sides[0].image(a), sides[1].image(b)];
        let name = markers.names()[k]
            .as_ref()
            .map(|name| mirrored_name(name).unwrap_or_else(|| format!("{name}_mirrored")));
        let taken = |(c, _): &(u32, u32)| sides[0].is_near(*c, images[0].vertex);
        if name.is_some() && markers.names().contains(&name) || markers.pairs().iter().any(taken) {
            return;
        }
        for (image, side) in images
            .iter()
            .zip(["source", "target"])
            .filter(|(image, _)| image.off > UNCERTAIN)
        {
            let (vertex, percent) = (image.vertex, 100.0 * image.off);
            let label = markers.label(k);
            self.problems.push(format!("the image of {label} is {percent:.1} % of the diagonal from {side} vertex {vertex}; check it"));
        }
        self.markers
            .push(name, (images[0].vertex, images[1].vertex));
        self.added += 1;
    }
}

/// The vertex on the other side.
struct Image {
    vertex: u32,
    /// How far that is from the image of the place, as a part of the diagonal; zero where the
    /// meshing says that it is the one.
    off: f64,
}

/// A mesh with its plane.
struct Symmetric<'a> {
    mesh: &'a Mesh,
    mirror: VertexMirror,
    near: NearVertex<'a>,
    normals: Vec<DVec3>,
    middle: f64,
}

impl<'a> Symmetric<'a> {
    fn new(mesh: &'a Mesh, plane: MirrorPlane) -> Result<Self, TransferError> {
        Ok(Self {
            mesh,
            mirror: VertexMirror::by_position(mesh, plane),
            near: NearVertex::new(mesh)?,
            normals: vertex_normals(mesh),
            middle: ON_MIDDLE * mesh.mean_edge_length(),
        })
    }

    fn place(&self, vertex: u32) -> DVec3 {
        self.mesh.positions()[vertex as usize]
    }

    fn partner(&self, vertex: u32) -> Option<u32> {
        self.mirror.partners()[vertex as usize]
    }

    fn on_middle(&self, vertex: u32) -> bool {
        match self.partner(vertex) {
            Some(partner) => partner == vertex,
            None => self.mirror.plane().distance(self.place(vertex)).abs() < self.middle,
        }
    }

    fn is_near_middle(&self, vertex: u32) -> bool {
        self.on_middle(vertex)
            || self.mirror.plane().distance(self.place(vertex)).abs()
                < NEAR_MIDDLE * diagonal(self.mesh)
    }

    fn is_near(&self, a: u32, b: u32) -> bool {
        a == b || self.place(a).distance(self.place(b)) < self.middle
    }

    fn image(&self, vertex: u32) -> Image {
        if let Some(vertex) = self.partner(vertex) {
            return Image { vertex, off: 0.0 };
        }
        let plane = self.mirror.plane();
        let place = plane.mirror_point(self.place(vertex));
        let image = self
            .near
            .of(place, plane.mirror_vector(self.normals[vertex as usize]));
        let diagonal = diagonal(self.mesh);
        Image {
            vertex: image,
            off: if diagonal > 0.0 {
                self.place(image).distance(place) / diagonal
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
        pairs
            .iter()
            .for_each(|&(name, pair)| markers.push(Some(name.into()), pair));
        markers
    }

    fn vertex(mesh: &Mesh, wanted: impl Fn(DVec3) -> bool) -> u32 {
        mesh.positions().iter().position(|&p| wanted(p)).unwrap() as u32
    }

    #[test]
    fn images_take_the_name_of_the_other_side_and_the_middle_is_kept_once() {
        let mesh = body(3);
        let (left, middle) = (
            vertex(&mesh, |p| p.x > 0.8),
            vertex(&mesh, |p| p.x.abs() < 1e-9),
        );
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
        assert_eq!((both.added, both.middle, both.problems.len()), (2, 1, 0));
        let (a, b) = both.markers.pairs()[1];
        let image = mesh.positions()[left as usize] * DVec3::new(-1.0, 1.0, 1.0);
        assert!(a == b && mesh.positions()[a as usize].distance(image) < 1e-12);
    }

    #[test]
    fn mirroring_again_adds_nothing() {
        let mesh = body(3);
        let markers = Markers::new((0..40).step_by(3).map(|v| (v, v)).collect());
        let once = mirror_markers(&mesh, &mesh, &markers, planes(&mesh, &mesh)).unwrap();
        let twice = mirror_markers(&mesh, &mesh, &once.markers, planes(&mesh, &mesh)).unwrap();
        assert!(once.added > 0 && twice.added == 0);
        assert_eq!(once.markers, twice.markers);
    }

    #[test]
    fn a_mesh_without_mirrored_vertices_gives_the_nearest_of_its_surface() {
        let (even, fine) = (body(3), body(5));
        // Edge collapse follows no symmetry.
        let odd = fine
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
        let markers = Markers::new(vec![(a, nearest(&odd, place))]);
        let both = mirror_markers(&even, &odd, &markers, planes(&even, &odd)).unwrap();
        let (_, b) = both.markers.pairs()[1];
        let image = odd.positions()[markers.pairs()[0].1 as usize] * DVec3::new(-1.0, 1.0, 1.0);
        assert!(odd.positions()[b as usize].distance(image) < odd.mean_edge_length());
    }

    #[test]
    fn a_pair_half_on_the_middle_line_gets_no_image_and_is_told() {
        let mesh = body(3);
        let (left, middle) = (
            vertex(&mesh, |p| p.x > 0.8),
            vertex(&mesh, |p| p.x.abs() < 1e-9),
        );
        let both = mirror_markers(
            &mesh,
            &mesh,
            &Markers::new(vec![(middle, left)]),
            planes(&mesh, &mesh),
        )
        .unwrap();
        assert!(
            both.added == 0 && both.problems[0].contains("middle line of the source only"),
            "{:?}",
            both.problems
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
    fn what_is_not_symmetric_has_no_plane() {
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
