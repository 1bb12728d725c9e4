//! Mirror map of vertices, by position and by topology.
//!
//! **Problem.** Left and right of a face are one design, but a mesh does not say which vertices
//! correspond, and sculpting has moved some of them. Eyes and teeth are separate components.
//!
//! **Method.** First by position: two vertices of which each is the nearest to the image of the
//! other, within [`REACH`] of the mean edge length, and whose edges mirror too. Then by topology:
//! if an edge `a → b` of a face has a known image, the face on it and the face on `b′ → a′`
//! correspond corner by corner, one traversed forward and one backward. This carries the
//! correspondence over a whole component, however asymmetric its positions are.
//!
//! **Departures.** The traversal is used only if it agrees with the matches by position; quads that
//! were split into triangles along different diagonals left and right fail this test, and then only
//! positions count. Positions cannot distinguish coincident vertices, so the traversal comes first,
//! and the rest is matched by index.

use std::collections::{HashMap, VecDeque};

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};

use super::mirror_plane::length_unit;
use crate::point_grid::{Nearest, PointGrid};
use crate::{MirrorPlane, RigError, Target, mirrored_name};

/// The largest distance of a vertex from the image of its partner, relative to the mean edge
/// length.
const REACH: f64 = 0.25;
/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1024;

/// A plane and the partner of each vertex on its other side.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexMirror {
    plane: MirrorPlane,
    partners: Vec<Option<u32>>,
}

impl VertexMirror {
    /// Finds partners by position, and from there by topology.
    #[must_use]
    pub fn by_position(mesh: &Mesh, plane: MirrorPlane) -> Self {
        let mut search = Search::new(mesh, plane);
        search.match_positions(Certainty::Unambiguous);
        let traversal_agrees = search.traversal_agrees();

        for _ in 0..3 {
            if traversal_agrees {
                search.traverse((0..mesh.face_count() as u32).collect());
            }
            search.match_positions(Certainty::Any);
        }

        Self {
            plane,
            partners: search.partners,
        }
    }

    /// Finds partners by topology alone, from known pairs: at least the two ends of an edge of each
    /// component.
    ///
    /// On the middle line a vertex is its own partner: `[(a, a), (b, b)]` for an edge there.
    pub fn by_topology(
        mesh: &Mesh,
        plane: MirrorPlane,
        seeds: &[(u32, u32)],
    ) -> Result<Self, RigError> {
        // The seeds are trusted.
        let mut search = Search::new(mesh, plane);
        for &(a, b) in seeds {
            mesh.require_vertex(a as usize)?;
            mesh.require_vertex(b as usize)?;
            search.pair(a, b);
        }

        search.traverse((0..mesh.face_count() as u32).collect());
        Ok(Self {
            plane,
            partners: search.partners,
        })
    }

    /// The plane.
    #[must_use]
    pub fn plane(&self) -> MirrorPlane {
        self.plane
    }

    /// The partner of each vertex: its own index on the middle line, `None` if it has none.
    #[must_use]
    pub fn partners(&self) -> &[Option<u32>] {
        &self.partners
    }

    /// Vertices without a partner, ascending.
    #[must_use]
    pub fn unmatched(&self) -> Vec<u32> {
        (0..self.partners.len() as u32)
            .filter(|&v| self.partners[v as usize].is_none())
            .collect()
    }

    /// The mirror image of a target, with the name of the other side, without the displacements of
    /// vertices that have no partner.
    #[must_use]
    pub fn mirror_target(&self, target: &Target) -> Target {
        let name = mirrored_name(&target.name).unwrap_or_else(|| target.name.clone());
        target.map_shapes(name, |_, vertices, deltas| {
            self.mirror_deltas(vertices, deltas)
        })
    }

    /// The mirror image of displacements.
    pub(crate) fn mirror_deltas(&self, vertices: &[u32], deltas: &[Vec3]) -> Vec<(u32, Vec3)> {
        let mut mirrored = Vec::with_capacity(vertices.len());
        for (&v, delta) in vertices.iter().zip(deltas) {
            if let Some(partner) = self.partners[v as usize] {
                let image = self.plane.mirror_vector(delta.as_dvec3()).as_vec3();
                mirrored.push((partner, image));
            }
        }

        mirrored
    }

    /// The mirror image of a pose: the displacements from `neutral` are mirrored, so that an
    /// asymmetric neutral keeps its asymmetry. Vertices without a partner keep their positions.
    ///
    /// # Panics
    /// If the lists are not as long as the mesh.
    #[must_use]
    pub fn mirror_pose(&self, neutral: &[DVec3], positions: &[DVec3]) -> Vec<DVec3> {
        assert!(
            neutral.len() == self.partners.len() && positions.len() == self.partners.len(),
            "one position for each vertex"
        );

        let mut mirrored = positions.to_vec();
        for (v, partner) in self.partners.iter().enumerate() {
            if let Some(partner) = *partner {
                mirrored[partner as usize] =
                    neutral[partner as usize] + self.plane.mirror_vector(positions[v] - neutral[v]);
            }
        }

        mirrored
    }
}

/// Which matches by position are accepted.
#[derive(Clone, Copy, PartialEq)]
enum Certainty {
    /// Those without a second vertex that is about as near.
    Unambiguous,
    Any,
}

/// The partners found so far.
struct Search<'a> {
    mesh: &'a Mesh,
    plane: MirrorPlane,
    reach: f64,
    partners: Vec<Option<u32>>,
    /// Directed edge → its face and the corner where the edge begins; `None` if several faces have
    /// it.
    half_edges: HashMap<(u32, u32), Option<(u32, u32)>>,
    faces_at: Vec<Vec<u32>>,
}

impl<'a> Search<'a> {
    fn new(mesh: &'a Mesh, plane: MirrorPlane) -> Self {
        let mut half_edges = HashMap::new();
        let mut faces_at = vec![Vec::new(); mesh.vertex_count()];
        for (f, face) in mesh.faces().enumerate() {
            for (corner, &vertex) in face.iter().enumerate() {
                // An edge with several faces is not used in the traversal.
                let next = face[(corner + 1) % face.len()];
                half_edges
                    .entry((vertex, next))
                    .and_modify(|face| *face = None)
                    .or_insert(Some((f as u32, corner as u32)));
                faces_at[vertex as usize].push(f as u32);
            }
        }

        Self {
            mesh,
            plane,
            reach: REACH * length_unit(mesh),
            partners: vec![None; mesh.vertex_count()],
            half_edges,
            faces_at,
        }
    }

    fn pair(&mut self, a: u32, b: u32) {
        self.partners[a as usize] = Some(b);
        self.partners[b as usize] = Some(a);
    }

    fn is_unmatched(&self, vertex: u32) -> bool {
        self.partners[vertex as usize].is_none()
    }

    /// Pairs the unmatched vertices that are nearest to the images of each other, then separates
    /// the pairs whose edges do not mirror.
    fn match_positions(&mut self, certainty: Certainty) {
        let points = self.mesh.positions();
        let grid = PointGrid::new(points, self.reach);
        let nearest = parallel::map(points.len(), VERTICES_PER_TASK, |v| {
            if !self.is_unmatched(v as u32) {
                return None;
            }
            let image = self.plane.mirror_point(points[v]);
            let nearest = grid.nearest(image, self.reach, |k| self.is_unmatched(k))?;
            let accepted = certainty == Certainty::Any || self.is_unambiguous(&nearest);
            accepted.then_some(nearest.index)
        });

        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (v, partner) in (0..).zip(&nearest) {
            if let Some(partner) = *partner
                && v <= partner
                && nearest[partner as usize] == Some(v)
            {
                self.pair(v, partner);
                pairs.push((v, partner));
            }
        }

        // All pairs are tested before the first is separated.
        pairs.retain(|&(a, b)| !(self.edges_mirror(a) && self.edges_mirror(b)));
        for (a, b) in pairs {
            self.partners[a as usize] = None;
            self.partners[b as usize] = None;
        }
    }

    fn is_unambiguous(&self, nearest: &Nearest) -> bool {
        // The second term excludes coincident vertices, whose distances differ by rounding.
        nearest.second > 2.0 * nearest.distance && nearest.second > 1e-5 * self.reach
    }

    /// Whether at least a third of the edges of a vertex are edges on the other side: not all, as
    /// diagonals of quads need not mirror. True for a vertex without edges.
    fn edges_mirror(&self, vertex: u32) -> bool {
        let Some(image) = self.partners[vertex as usize] else {
            return false;
        };
        let topology = self.mesh.topology();
        let neighbors = topology.vertex_neighbors().row(vertex as usize);
        let mirrored = neighbors
            .iter()
            .filter_map(|&n| topology.edge_between(image, self.partners[n as usize]?));
        3 * mirrored.count() >= neighbors.len()
    }

    /// The corresponding corners of a face and its image, if an edge of the face has a known image
    /// with a face of equal size.
    fn corresponding_corners(&self, face: u32) -> Option<Vec<(u32, u32)>> {
        let corners = self.mesh.face(face as usize);
        let n = corners.len();
        for i in 0..n {
            let a_image = self.partners[corners[i] as usize];
            let b_image = self.partners[corners[(i + 1) % n] as usize];
            let (Some(a_image), Some(b_image)) = (a_image, b_image) else {
                continue;
            };
            let Some(&Some((other, j))) = self.half_edges.get(&(b_image, a_image)) else {
                continue;
            };

            // Forward in one face is backward in the other.
            let images = self.mesh.face(other as usize);
            if images.len() == n {
                return Some(
                    (0..n)
                        .map(|k| (corners[(i + n - k) % n], images[(j as usize + 1 + k) % n]))
                        .collect(),
                );
            }
        }

        None
    }

    /// Whether the traversal reproduces the matches by position for at least 95 % of the faces
    /// whose corners are all matched.
    fn traversal_agrees(&self) -> bool {
        let mut matched = 0;
        let mut agreeing = 0;
        for face in 0..self.mesh.face_count() as u32 {
            let corners = self.mesh.face(face as usize);
            if corners.iter().any(|&v| self.is_unmatched(v)) {
                continue;
            }

            matched += 1;
            if let Some(pairs) = self.corresponding_corners(face) {
                let agrees = |&(v, w): &(u32, u32)| self.partners[v as usize] == Some(w);
                agreeing += usize::from(pairs.iter().all(agrees));
            }
        }

        20 * agreeing >= 19 * matched
    }

    /// Carries the correspondence from face to face.
    fn traverse(&mut self, faces: Vec<u32>) {
        let mut queue: VecDeque<u32> = faces.into();
        while let Some(face) = queue.pop_front() {
            let corners = self.mesh.face(face as usize);
            if !corners.iter().any(|&v| self.is_unmatched(v)) {
                continue;
            }
            for (v, image) in self.corresponding_corners(face).unwrap_or_default() {
                if self.is_unmatched(v) && self.is_unmatched(image) {
                    self.pair(v, image);
                    queue.extend(&self.faces_at[v as usize]);
                    queue.extend(&self.faces_at[image as usize]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::{flat_sheet, icosphere};

    use super::*;

    /// A flat grid about `x = 0` whose vertex `(i, j)` mirrors to `(n − i, j)`, and that map.
    fn sheet(n: usize) -> (Mesh, Vec<Option<u32>>) {
        let flat = flat_sheet(n, 0.0);
        let centred = flat
            .positions()
            .iter()
            .map(|p| *p - DVec3::X * 0.5)
            .collect();

        let partners = (0..=n)
            .flat_map(|i| (0..=n).map(move |j| Some(((n - i) * (n + 1) + j) as u32)))
            .collect();

        (flat.posed(centred).unwrap(), partners)
    }

    /// The same mesh with its vertices displaced by waves.
    fn distorted(mesh: &Mesh, size: f64) -> Mesh {
        let wave = |p: DVec3| {
            DVec3::new(
                (5.0 * p.x + 2.0 * p.y).sin(),
                (3.0 * p.x - p.y).cos(),
                (4.0 * p.x).sin(),
            ) * size
        };
        mesh.posed(mesh.positions().iter().map(|p| *p + wave(*p)).collect())
            .unwrap()
    }

    const PLANE: fn() -> MirrorPlane = || MirrorPlane::across(0, 0.0);

    #[test]
    fn a_symmetric_mesh_is_matched_completely_and_partners_are_mutual() {
        let (mesh, expected) = sheet(10);
        let found = VertexMirror::by_position(&mesh, PLANE());
        assert_eq!(found.partners(), expected);

        let sphere = icosphere(3);
        let mirror = VertexMirror::by_position(&sphere, PLANE());
        for (v, partner) in mirror.partners().iter().enumerate() {
            let partner = partner.expect("a sphere is symmetric") as usize;
            assert_eq!(mirror.partners()[partner], Some(v as u32));
            assert!(
                sphere.positions()[partner].distance(PLANE().mirror_point(sphere.positions()[v]))
                    < 1e-12
            );
        }
    }

    #[test]
    fn one_edge_of_the_middle_line_determines_the_map_of_a_deformed_mesh() {
        let (mesh, expected) = sheet(10);
        let bent = distorted(&mesh, 0.4);
        let middle = [(5 * 11 + 3, 5 * 11 + 3), (5 * 11 + 4, 5 * 11 + 4)];

        assert_eq!(
            VertexMirror::by_topology(&bent, PLANE(), &middle)
                .unwrap()
                .partners(),
            expected
        );
        assert!(VertexMirror::by_topology(&bent, PLANE(), &[(0, 1000)]).is_err());
    }

    #[test]
    fn vertices_sculpted_on_one_side_are_matched_by_topology() {
        let (mesh, expected) = sheet(12);

        // A bump of three edges on the left alone.
        let bump = |p: DVec3| {
            DVec3::new(0.1, 0.05, 0.25)
                * (-60.0 * p.distance_squared(DVec3::new(-0.25, 0.5, 0.0))).exp()
        };

        let sculpted = mesh
            .posed(mesh.positions().iter().map(|p| *p + bump(*p)).collect())
            .unwrap();

        assert_eq!(
            VertexMirror::by_position(&sculpted, PLANE()).partners(),
            expected
        );
    }

    #[test]
    fn mirrored_components_are_matched_and_a_single_one_has_no_partner() {
        let ball = icosphere(1);
        let n = ball.vertex_count() as u32;
        let mut positions = Vec::new();
        let mut triangles = Vec::new();

        // Two eyes and a single third ball.
        for (k, x) in [-3.0, 3.0, 9.0].into_iter().enumerate() {
            positions.extend(ball.positions().iter().map(|p| *p + DVec3::X * x));
            triangles.extend(ball.triangles().iter().map(|t| t.map(|v| v + n * k as u32)));
        }

        let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
        let mirror = VertexMirror::by_position(&mesh, PLANE());
        assert_eq!(mirror.unmatched(), (2 * n..3 * n).collect::<Vec<_>>());
        assert!(
            (0..n).all(|v| mirror.partners()[v as usize].is_some_and(|w| (n..2 * n).contains(&w)))
        );
    }

    #[test]
    fn coincident_components_are_not_mixed_up() {
        let (mesh, expected) = sheet(6);
        let n = mesh.vertex_count() as u32;
        let positions = [mesh.positions(), mesh.positions()].concat();
        let second = mesh
            .faces()
            .map(|face| face.iter().map(|v| v + n).collect::<Vec<u32>>());

        let faces: Vec<Vec<u32>> = mesh.faces().map(<[u32]>::to_vec).chain(second).collect();
        let double = Mesh::from_polygons(positions, &faces).unwrap();
        let mirror = VertexMirror::by_position(&double, PLANE());
        let again = expected.iter().map(|p| p.map(|v| v + n));

        assert_eq!(
            mirror.partners(),
            expected.iter().copied().chain(again).collect::<Vec<_>>()
        );
    }

    #[test]
    fn triangles_split_along_unmirrored_diagonals_match_by_position() {
        let (quads, expected) = sheet(8);
        let cut = Mesh::from_triangles(quads.positions().to_vec(), quads.triangles()).unwrap();
        assert_eq!(
            VertexMirror::by_position(&cut, PLANE()).partners(),
            expected
        );
    }

    #[test]
    fn a_pose_mirrored_twice_is_the_pose() {
        let (mesh, _) = sheet(8);
        let pose = distorted(&mesh, 0.2);
        let mirror = VertexMirror::by_position(&mesh, PLANE());
        let once = mirror.mirror_pose(mesh.positions(), pose.positions());
        let twice = mirror.mirror_pose(mesh.positions(), &once);
        let worst = twice
            .iter()
            .zip(pose.positions())
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);

        assert!(worst < 1e-15 * 16.0);
        assert!(
            once.iter()
                .zip(pose.positions())
                .any(|(a, b)| a.distance(*b) > 0.1)
        );
    }
}
