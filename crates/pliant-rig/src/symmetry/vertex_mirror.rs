//! Which vertex is the mirror image of which.
//!
//! **Problem.** Left and right of a face are one design, but a mesh does not say which vertices
//! belong together, and sculpting has moved some of them. Eyes and teeth are parts of their own.
//!
//! **Method.** First by place: two vertices that are each the nearest to the other's image, within
//! [`REACH`] of the mean edge, and whose edges mirror too. Then by neighbourhood: where an edge `a
//! → b` of a face is known to be mirrored, the face on it and the face on `b′ → a′` correspond
//! corner by corner, one walked forward and one backward; this carries the correspondence over
//! everything connected, however asymmetric its places are.
//!
//! **Ours.** The walk is believed where it agrees with what places say; quads that were cut into
//! triangles along different diagonals left and right fail this, and then only places count.
//! Vertices on top of each other are not told apart by place, so the walk comes first, and only
//! what it leaves open goes by index.

use std::collections::{HashMap, VecDeque};

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};

use super::mirror_plane::unit;
use super::point_grid::{Nearest, PointGrid};
use crate::{MirrorPlane, RigError, Target, mirrored_name};

/// How far from its partner's image a vertex may be, in mean edges.
const REACH: f64 = 0.25;

/// A plane and the partner of each vertex on its other side.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexMirror {
    plane: MirrorPlane,
    partners: Vec<Option<u32>>,
}

impl VertexMirror {
    /// Finds partners by place, and from there over the faces.
    #[must_use]
    pub fn by_position(mesh: &Mesh, plane: MirrorPlane) -> Self {
        let mut search = Search::new(mesh, plane);
        search.match_places(Certainty::Clear);
        let walked = search.walk_agrees();
        for _ in 0..3 {
            if walked {
                search.walk((0..mesh.face_count() as u32).collect());
            }
            search.match_places(Certainty::Any);
        }
        Self {
            plane,
            partners: search.partners,
        }
    }

    /// Finds partners over the faces alone, from pairs that are known: two ends of an edge, or
    /// more, of each part.
    ///
    /// On the middle line a vertex is its own partner: `[(a, a), (b, b)]` for an edge there.
    pub fn by_topology(
        mesh: &Mesh,
        plane: MirrorPlane,
        seeds: &[(u32, u32)],
    ) -> Result<Self, RigError> {
        let mut search = Search::new(mesh, plane);
        for &(a, b) in seeds {
            mesh.require_vertex(a as usize)?;
            mesh.require_vertex(b as usize)?;
            search.pair(a, b);
        }
        search.walk((0..mesh.face_count() as u32).collect());
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

    /// The partner of each vertex; its own index on the middle line, nothing where none was found.
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

    /// The target's mirror image, with the name of the other side; what moves vertices without a
    /// partner is lost.
    #[must_use]
    pub fn mirror_target(&self, target: &Target) -> Target {
        let name = mirrored_name(&target.name).unwrap_or_else(|| target.name.clone());
        target.map_shapes(name, |_, vertices, deltas| {
            self.mirror_deltas(vertices, deltas)
        })
    }

    /// The mirror image of displacements.
    pub(crate) fn mirror_deltas(&self, vertices: &[u32], deltas: &[Vec3]) -> Vec<(u32, Vec3)> {
        let image = |delta: &Vec3| self.plane.mirror_vector(delta.as_dvec3()).as_vec3();
        vertices
            .iter()
            .zip(deltas)
            .filter_map(|(&v, delta)| Some((self.partners[v as usize]?, image(delta))))
            .collect()
    }

    /// The mirror image of a pose: how each vertex has moved from `neutral` is mirrored, so that an
    /// asymmetric neutral keeps its own places. Vertices without a partner stay as they are.
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

/// Whether a second vertex may be about as near.
#[derive(Clone, Copy, PartialEq)]
enum Certainty {
    Clear,
    Any,
}

/// Partners while they are found.
struct Search<'a> {
    mesh: &'a Mesh,
    plane: MirrorPlane,
    reach: f64,
    partners: Vec<Option<u32>>,
    /// Directed edge → the face that runs along it and the corner where the edge begins; nothing
    /// where several do.
    sides: HashMap<(u32, u32), Option<(u32, u32)>>,
    faces_at: Vec<Vec<u32>>,
}

impl<'a> Search<'a> {
    fn new(mesh: &'a Mesh, plane: MirrorPlane) -> Self {
        let mut sides = HashMap::new();
        let mut faces_at = vec![Vec::new(); mesh.vertex_count()];
        for (f, face) in mesh.faces().enumerate() {
            for (corner, &vertex) in face.iter().enumerate() {
                let next = face[(corner + 1) % face.len()];
                sides
                    .entry((vertex, next))
                    .and_modify(|side| *side = None)
                    .or_insert(Some((f as u32, corner as u32)));
                faces_at[vertex as usize].push(f as u32);
            }
        }
        Self {
            mesh,
            plane,
            reach: REACH * unit(mesh),
            partners: vec![None; mesh.vertex_count()],
            sides,
            faces_at,
        }
    }

    fn pair(&mut self, a: u32, b: u32) {
        self.partners[a as usize] = Some(b);
        self.partners[b as usize] = Some(a);
    }

    fn is_open(&self, vertex: u32) -> bool {
        self.partners[vertex as usize].is_none()
    }

    /// Pairs the open vertices that are nearest to each other's image, then parts those whose edges
    /// do not mirror.
    fn match_places(&mut self, certainty: Certainty) {
        let points = self.mesh.positions();
        let grid = PointGrid::new(points, self.reach);
        let nearest = pliant_linalg::parallel::map(points.len(), 1024, |v| {
            let image = self.plane.mirror_point(points[v]);
            let found = if self.is_open(v as u32) {
                grid.nearest(image, self.reach, |k| self.is_open(k))
            } else {
                None
            };
            found
                .filter(|nearest| certainty == Certainty::Any || self.is_clear(nearest))
                .map(|nearest| nearest.index)
        });
        let mutual = |v: u32| {
            nearest[v as usize]
                .filter(|&partner| v <= partner && nearest[partner as usize] == Some(v))
        };
        let pairs: Vec<(u32, u32)> = (0..points.len() as u32)
            .filter_map(|v| Some((v, mutual(v)?)))
            .collect();
        pairs.iter().for_each(|&(a, b)| self.pair(a, b));
        let wrong: Vec<(u32, u32)> = pairs
            .into_iter()
            .filter(|&(a, b)| !(self.edges_mirror(a) && self.edges_mirror(b)))
            .collect();
        wrong.iter().for_each(|&(a, b)| {
            (self.partners[a as usize], self.partners[b as usize]) = (None, None)
        });
    }

    fn is_clear(&self, nearest: &Nearest) -> bool {
        // The second term tells vertices on top of each other from rounding.
        nearest.second > 2.0 * nearest.distance && nearest.second > 1e-5 * self.reach
    }

    /// Whether at least a third of the vertex' edges are edges on the other side: not all, as
    /// diagonals of quads need not mirror. A vertex without edges has nothing to say against
    /// its place.
    fn edges_mirror(&self, vertex: u32) -> bool {
        let Some(image) = self.partners[vertex as usize] else {
            return false;
        };
        let topology = self.mesh.topology();
        let around = topology.vertex_neighbors().row(vertex as usize);
        let mirrored = around
            .iter()
            .filter_map(|&n| topology.edge_between(image, self.partners[n as usize]?));
        3 * mirrored.count() >= around.len()
    }

    /// The corners of two corresponding faces, if the face runs along a mirrored edge that has one
    /// on the other side.
    fn corresponding(&self, face: u32) -> Option<Vec<(u32, u32)>> {
        let corners = self.mesh.face(face as usize);
        let n = corners.len();
        for i in 0..n {
            let (a, b) = (corners[i], corners[(i + 1) % n]);
            let (Some(a_image), Some(b_image)) =
                (self.partners[a as usize], self.partners[b as usize])
            else {
                continue;
            };
            let Some(&Some((other, j))) = self.sides.get(&(b_image, a_image)) else {
                continue;
            };
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

    /// Whether nearly all faces whose corners are known by place correspond as the walk would have
    /// them.
    fn walk_agrees(&self) -> bool {
        let known = |&f: &u32| self.mesh.face(f as usize).iter().all(|&v| !self.is_open(v));
        let faces: Vec<u32> = (0..self.mesh.face_count() as u32).filter(known).collect();
        let agrees = |&&f: &&u32| {
            self.corresponding(f).is_some_and(|pairs| {
                pairs
                    .iter()
                    .all(|&(v, w)| self.partners[v as usize] == Some(w))
            })
        };
        let agreeing = faces.iter().filter(agrees).count();
        20 * agreeing >= 19 * faces.len()
    }

    /// Carries the correspondence from face to face.
    fn walk(&mut self, faces: Vec<u32>) {
        let mut queue: VecDeque<u32> = faces.into();
        while let Some(face) = queue.pop_front() {
            if !self
                .mesh
                .face(face as usize)
                .iter()
                .any(|&v| self.is_open(v))
            {
                continue;
            }
            for (v, image) in self.corresponding(face).unwrap_or_default() {
                if self.is_open(v) && self.is_open(image) {
                    self.pair(v, image);
                    queue.extend(
                        self.faces_at[v as usize]
                            .iter()
                            .chain(&self.faces_at[image as usize]),
                    );
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

    /// The same mesh with its vertices moved by waves of some edges' length.
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
    fn a_symmetric_mesh_is_matched_whole_and_each_is_its_partners_partner() {
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
    fn an_edge_of_the_middle_line_is_enough_however_the_mesh_is_bent() {
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
    fn what_was_sculpted_on_one_side_only_is_matched_over_the_faces() {
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
    fn separate_parts_find_each_other_and_a_part_on_one_side_has_no_partner() {
        let ball = icosphere(1);
        let n = ball.vertex_count() as u32;
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        // Two eyes and a lone pearl.
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
    fn shells_on_top_of_each_other_are_not_mixed_up() {
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
    fn triangles_cut_along_unmirrored_diagonals_still_match_by_place() {
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
