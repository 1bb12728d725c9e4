//! Soft region: the union of geodesic discs, with a softness for each vertex.
//!
//! **Problem.** The geodesic disc around a chosen vertex is soft; at its rim the softness falls to
//! the rigid surroundings without a crease.
//!
//! **Equation.** With the exact geodesic distance `d` from the centre, the radius `R` and `t =
//! (d/R̂ − p) / (1 − p)`,
//!
//! ```text
//! s = 1 for t ≤ 0,        s = (1 − t)² (1 + 2t) beyond
//! ```
//!
//! which has no kink at either end. `R̂` is a little more than `R`, so that a vertex on the rim is
//! not rigid.
//!
//! A painted region has the softness of each vertex; where it is painted with 0 and 1 alone, it falls
//! off likewise, with the distance `δ` over edges from the rigid vertices and its largest value `R`
//! in the connected set: `d/R̂ = 1 − δ/R`.
//!
//! **Source.** Çetinaslan 2016, section 5.4, with the distances of the heat method and without a
//! fall-off.
//!
//! **Departures.** Exact distances: near a vertex the heat method has an error of a large part of
//! an edge. Several patches form one region; where they overlap, a vertex belongs to the patch in
//! which it is softer.

use std::collections::BTreeMap;

use pliant_linalg::DisjointSets;
use pliant_mesh::{
    Bounds, ExactGeodesics, HeatGeodesics, Mesh, MeshError, SurfacePoint, VertexId,
    lower_edge_distances,
};

use crate::PhysicsError;

/// The share of the radius within which a patch is fully soft. Chosen.
const PLATEAU: f64 = 0.5;

/// The distance beyond the radius where the softness vanishes, in mean edges of the mesh. Chosen so
/// that the outermost vertices are stiff but not rigid.
const BEYOND: f64 = 0.5;

/// The least softness of a painted vertex above zero. Chosen: beyond, the foundation is rigid.
const LEAST_SOFTNESS: f64 = 1e-3;

/// A geodesic disc on a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftPatch {
    /// The vertex at its centre.
    pub center: VertexId,
    /// Its geodesic radius, in the unit of the mesh.
    pub radius: f64,
}

/// All vertices within some discs.
#[derive(Debug, Clone)]
pub struct SoftRegion {
    vertices: Vec<u32>,
    softness: Vec<f64>,
    patch_of: Vec<usize>,
    distances: Vec<f64>,
    whole: Vec<usize>,
    patches: Vec<SoftPatch>,
    reaches: Vec<f64>,
    /// Number of vertices of the mesh.
    vertex_count: usize,
}

/// A vertex in a patch.
struct PatchMember {
    vertex: u32,
    patch: usize,
    softness: f64,
    distance: f64,
}

impl SoftRegion {
    /// The vertices of `mesh` in any of `patches`.
    ///
    /// # Errors
    /// No patch, a radius that is not positive, or a centre that does not exist or belongs to no
    /// face.
    pub fn select(mesh: &Mesh, patches: &[SoftPatch]) -> Result<Self, PhysicsError> {
        let mut geodesics = ExactGeodesics::new(mesh)?;
        Self::select_on(mesh, &mut geodesics, patches)
    }

    /// As [`select`](Self::select), with prepared geodesics of `mesh`; the time depends on the
    /// patches alone.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub fn select_on(
        mesh: &Mesh,
        geodesics: &mut ExactGeodesics,
        patches: &[SoftPatch],
    ) -> Result<Self, PhysicsError> {
        Self::gather(mesh, patches, |patch| {
            let disc = geodesics.disc(&[SurfacePoint::Vertex(patch.center.get())], patch.radius)?;
            Ok(disc.vertices.into_iter().zip(disc.distances).collect())
        })
    }

    /// As [`select`](Self::select), by the heat method as in Çetinaslan 2016, with prepared
    /// factors: faster than exact distances where a patch has thousands of vertices, with an error
    /// of a part of an edge at the rim.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub fn select_by_heat(
        mesh: &Mesh,
        heat: &HeatGeodesics,
        patches: &[SoftPatch],
    ) -> Result<Self, PhysicsError> {
        Self::gather(mesh, patches, |patch| {
            let distances = heat.distances(&[SurfacePoint::Vertex(patch.center.get())])?;
            Ok((0..)
                .zip(distances)
                .filter(|&(_, distance)| distance <= patch.radius)
                .collect())
        })
    }

    /// The vertices with a softness above 0, from 0 (rigid) to 1, by vertex of the mesh. Each connected
    /// set of them is a patch.
    ///
    /// # Errors
    /// A list of another length, numbers below 0 or above 1, and a list of zeros.
    pub fn painted(mesh: &Mesh, softness: &[f64]) -> Result<Self, PhysicsError> {
        let expected = mesh.vertex_count();
        if softness.len() != expected {
            return Err(PhysicsError::PerVertex {
                what: "the softness",
                found: softness.len(),
                expected,
            });
        }
        if let Some(vertex) = softness.iter().position(|s| !(0.0..=1.0).contains(s)) {
            let value = softness[vertex];
            return Err(PhysicsError::Softness { vertex, value });
        }

        let triangles = mesh.topology().vertex_triangles();
        let is_soft = |v: u32| softness[v as usize] > 0.0 && !triangles.row(v as usize).is_empty();
        let vertices: Vec<u32> = (0..expected as u32).filter(|&v| is_soft(v)).collect();
        if vertices.is_empty() {
            return Err(PhysicsError::NoSoftVertex);
        }

        let depths = depths_of_soft_vertices(mesh, &is_soft);
        let sets = connected_sets(mesh, &vertices, &is_soft);
        let is_mask = vertices.iter().all(|&v| softness[v as usize] == 1.0);
        let mut members = Vec::with_capacity(vertices.len());
        let mut patches = Vec::new();
        let mut reaches = Vec::new();
        let mut whole = Vec::new();
        for (k, set) in sets.iter().enumerate() {
            let depth = |v: u32| depths[v as usize];
            let center = set
                .iter()
                .copied()
                .max_by(|&a, &b| depth(a).total_cmp(&depth(b)));
            let center = center.unwrap_or_default();
            let mut reach = depth(center);
            if reach.is_infinite() {
                // Nothing around it is rigid.
                let places = set.iter().map(|&v| mesh.positions()[v as usize]);
                let bounds = Bounds::of(&places.collect::<Vec<_>>());
                reach = 0.5 * bounds.map_or(0.0, |bounds| bounds.diagonal());
                whole.push(k);
            }
            patches.push(SoftPatch {
                center: (center as usize).into(),
                radius: reach,
            });
            reaches.push(reach);

            members.extend(set.iter().map(|&vertex| {
                let distance = (reach - depth(vertex)).max(0.0);
                let softness = match is_mask {
                    true => softness_at(distance / reach),
                    false => softness[vertex as usize],
                };
                PatchMember {
                    vertex,
                    patch: k,
                    softness: softness.max(LEAST_SOFTNESS),
                    distance,
                }
            }));
        }
        members.sort_by_key(|member| member.vertex);
        Ok(Self::of_members(
            &members, whole, reaches, &patches, expected,
        ))
    }

    /// The union of patches; `disc` gives the vertices of a patch and their distances.
    fn gather(
        mesh: &Mesh,
        patches: &[SoftPatch],
        mut disc: impl FnMut(&SoftPatch) -> Result<Vec<(u32, f64)>, MeshError>,
    ) -> Result<Self, PhysicsError> {
        if patches.is_empty() {
            return Err(PhysicsError::NoPatch);
        }

        // Softness vanishes a little beyond the radius.
        let beyond = BEYOND * mesh.mean_edge_length();
        let mut members = Vec::new();
        let mut whole = Vec::new();
        let mut reaches = Vec::new();
        for (k, patch) in patches.iter().enumerate() {
            patch.require(mesh)?;
            let disc = disc(patch)?;
            if patch.is_whole(mesh, disc.len()) {
                whole.push(k);
            }

            // Where the surface ends before the radius does, so does the patch.
            reaches.push(
                disc.iter()
                    .map(|member| member.1)
                    .fold(0.0, f64::max)
                    .max(beyond)
                    .min(patch.radius),
            );

            let softness = |distance: f64| softness_at(distance / (patch.radius + beyond));
            members.extend(disc.into_iter().map(|(vertex, distance)| PatchMember {
                vertex,
                patch: k,
                softness: softness(distance),
                distance,
            }));
        }

        // Of a vertex in several patches the softest membership is kept.
        members.sort_by(|a, b| {
            a.vertex
                .cmp(&b.vertex)
                .then(b.softness.total_cmp(&a.softness))
                .then(a.patch.cmp(&b.patch))
        });

        members.dedup_by_key(|member| member.vertex);
        Ok(Self::of_members(
            &members,
            whole,
            reaches,
            patches,
            mesh.vertex_count(),
        ))
    }

    /// The region of members in ascending order.
    fn of_members(
        members: &[PatchMember],
        whole: Vec<usize>,
        reaches: Vec<f64>,
        patches: &[SoftPatch],
        vertex_count: usize,
    ) -> Self {
        Self {
            vertices: members.iter().map(|m| m.vertex).collect(),
            patch_of: members.iter().map(|m| m.patch).collect(),
            softness: members.iter().map(|m| m.softness).collect(),
            distances: members.iter().map(|m| m.distance).collect(),
            whole,
            reaches,
            patches: patches.to_vec(),
            vertex_count,
        }
    }

    /// The soft vertices, ascending.
    #[must_use]
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// The index of a vertex among the soft ones.
    #[must_use]
    pub fn node_of(&self, vertex: impl Into<VertexId>) -> Option<usize> {
        self.vertices.binary_search(&vertex.into().get()).ok()
    }

    /// The patches of the region.
    #[must_use]
    pub fn patches(&self) -> &[SoftPatch] {
        &self.patches
    }

    /// The reach of each patch: its radius, or the distance to the end of the surface where that is
    /// smaller.
    #[must_use]
    pub fn reaches(&self) -> &[f64] {
        &self.reaches
    }

    /// The reach of the patch of a soft vertex, by its index among them.
    pub(crate) fn reach(&self, node: usize) -> f64 {
        self.reaches[self.patch_of[node]]
    }

    pub(crate) fn require_mesh(&self, mesh: &Mesh) -> Result<(), PhysicsError> {
        let found = self.vertex_count;
        let expected = mesh.vertex_count();
        if found == expected {
            Ok(())
        } else {
            Err(PhysicsError::RegionMismatch { found, expected })
        }
    }

    /// The softness of each soft vertex: one in the middle of a patch, positive everywhere.
    #[must_use]
    pub fn softness(&self) -> &[f64] {
        &self.softness
    }

    /// The patch of each soft vertex.
    #[must_use]
    pub fn patch_of(&self) -> &[usize] {
        &self.patch_of
    }

    /// The distance of each soft vertex from the centre of its patch.
    #[must_use]
    pub fn distances(&self) -> &[f64] {
        &self.distances
    }

    /// The patches that cover the whole connected component of their centre: nothing around them is
    /// rigid.
    #[must_use]
    pub fn covered_components(&self) -> &[usize] {
        &self.whole
    }
}

impl SoftPatch {
    fn require(&self, mesh: &Mesh) -> Result<(), PhysicsError> {
        mesh.require_vertex(self.center)?;
        if !(self.radius > 0.0 && self.radius.is_finite()) {
            return Err(PhysicsError::PatchRadius {
                radius: self.radius,
            });
        }

        if mesh
            .topology()
            .vertex_triangles()
            .row(self.center.index())
            .is_empty()
        {
            return Err(PhysicsError::PatchWithoutFace {
                vertex: self.center.index(),
            });
        }

        Ok(())
    }

    /// Whether `count` vertices are the whole component of the centre.
    fn is_whole(&self, mesh: &Mesh, count: usize) -> bool {
        let component_of = mesh.topology().component_of_vertex();
        let part = component_of[self.center.index()];
        count == component_of.iter().filter(|&&p| p == part).count()
    }
}

/// Distances over edges from the nearest rigid vertex, by vertex; infinite where there is none.
fn depths_of_soft_vertices(mesh: &Mesh, is_soft: &impl Fn(u32) -> bool) -> Vec<f64> {
    let neighbors = mesh.topology().vertex_neighbors();
    let positions = mesh.positions();
    let mut depths = vec![f64::INFINITY; positions.len()];
    let around = |v: u32| {
        let soft = neighbors.row(v as usize).iter().copied();
        soft.filter(move |&n| is_soft(n))
            .map(move |n| (n, positions[v as usize].distance(positions[n as usize])))
    };
    for v in 0..positions.len() as u32 {
        if !is_soft(v) && around(v).next().is_some() {
            lower_edge_distances(v, f64::INFINITY, &mut depths, around, |_| {});
        }
    }
    depths
}

/// The connected sets of soft vertices, in the order of their first vertices.
fn connected_sets(mesh: &Mesh, vertices: &[u32], is_soft: &impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
    let mut joined = DisjointSets::new(mesh.vertex_count());
    for &[a, b] in mesh.topology().edges() {
        if is_soft(a) && is_soft(b) {
            joined.merge(a, b);
        }
    }
    let mut sets: Vec<Vec<u32>> = Vec::new();
    let mut set_of: BTreeMap<u32, usize> = BTreeMap::new();
    for &v in vertices {
        let set = *set_of.entry(joined.find(v)).or_insert_with(|| {
            sets.push(Vec::new());
            sets.len() - 1
        });
        sets[set].push(v);
    }
    sets
}

/// Softness at a distance relative to the radius.
fn softness_at(share: f64) -> f64 {
    // One minus smoothstep beyond the plateau.
    let t = ((share - PLATEAU) / (1.0 - PLATEAU)).clamp(0.0, 1.0);
    (1.0 - t) * (1.0 - t) * (1.0 + 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_patch_is_every_vertex_within_the_radius_and_softer_towards_its_middle() {
        let ball = icosphere(4);
        let region = SoftRegion::select(
            &ball,
            &[SoftPatch {
                center: 7.into(),
                radius: 0.6,
            }],
        )
        .unwrap();

        let distances = ExactGeodesics::new(&ball)
            .unwrap()
            .distances(&[SurfacePoint::Vertex(7)])
            .unwrap();
        let expected: Vec<u32> = (0..ball.vertex_count() as u32)
            .filter(|&v| distances[v as usize] <= 0.6)
            .collect();

        assert_eq!(region.vertices(), expected);
        assert!(region.softness().iter().all(|s| *s > 0.0 && *s <= 1.0));

        // Softness decreases with the distance.
        let mut by_distance: Vec<(f64, f64)> = region
            .distances()
            .iter()
            .copied()
            .zip(region.softness().iter().copied())
            .collect();

        by_distance.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(by_distance.windows(2).all(|pair| pair[0].1 >= pair[1].1));
        assert_eq!(by_distance[0], (0.0, 1.0));
        assert!(region.covered_components().is_empty());
    }

    #[test]
    fn the_heat_method_selects_the_same_disc_except_at_its_rim() {
        let ball = icosphere(4);
        let patch = [SoftPatch {
            center: 7.into(),
            radius: 0.6,
        }];
        let heat = HeatGeodesics::factor(&ball, &pliant_mesh::HeatOptions::default()).unwrap();

        let exact = SoftRegion::select(&ball, &patch).unwrap();
        let heated = SoftRegion::select_by_heat(&ball, &heat, &patch).unwrap();

        let distances = ExactGeodesics::new(&ball)
            .unwrap()
            .distances(&[SurfacePoint::Vertex(7)])
            .unwrap();
        // Only vertices near the rim may differ.
        let differing = (0..ball.vertex_count() as u32).filter(|v| {
            exact.vertices().binary_search(v).is_ok() != heated.vertices().binary_search(v).is_ok()
        });

        assert!(
            differing
                .map(|v| (distances[v as usize] - 0.6).abs())
                .all(|off| off < 0.5 * ball.mean_edge_length())
        );
    }

    #[test]
    fn a_painted_disc_is_the_disc_and_painted_values_are_kept() {
        let ball = icosphere(4);
        let patch = SoftPatch {
            center: 7.into(),
            radius: 0.6,
        };
        let disc = SoftRegion::select(&ball, &[patch]).unwrap();
        let mut mask = vec![0.0; ball.vertex_count()];
        for &v in disc.vertices() {
            mask[v as usize] = 1.0;
        }
        let painted = SoftRegion::painted(&ball, &mask).unwrap();
        assert_eq!(painted.vertices(), disc.vertices());
        // Distances over edges are up to a fifth longer than those over the surface.
        assert!(
            (painted.reaches()[0] / 0.6 - 1.0).abs() < 0.25,
            "{:?}",
            painted.reaches()
        );
        assert_eq!(painted.patches().len(), 1);
        let softest = painted.softness().iter().copied().fold(0.0, f64::max);
        assert_eq!(softest, 1.0);
        for (a, b) in painted.softness().iter().zip(disc.softness()) {
            assert!((a - b).abs() < 0.35, "{a} {b}");
        }

        let graded: Vec<f64> = mask.iter().map(|s| s * 0.4).collect();
        let graded = SoftRegion::painted(&ball, &graded).unwrap();
        assert!(graded.softness().iter().all(|s| *s == 0.4));
    }

    #[test]
    fn two_painted_spots_are_two_patches_and_invalid_paint_is_rejected() {
        let ball = icosphere(3);
        let x = |v: usize| ball.positions()[v].x;
        let spots: Vec<f64> = (0..ball.vertex_count())
            .map(|v| f64::from(u8::from(x(v).abs() > 0.8)))
            .collect();
        let region = SoftRegion::painted(&ball, &spots).unwrap();
        assert_eq!(region.patches().len(), 2);
        for (&v, &patch) in region.vertices().iter().zip(region.patch_of()) {
            let center = region.patches()[patch].center.index();
            assert!(x(v as usize) * x(center) > 0.0);
        }

        let all = vec![1.0; ball.vertex_count()];
        assert_eq!(
            SoftRegion::painted(&ball, &all)
                .unwrap()
                .covered_components(),
            &[0]
        );
        let none = vec![0.0; ball.vertex_count()];
        assert!(matches!(
            SoftRegion::painted(&ball, &none),
            Err(PhysicsError::NoSoftVertex)
        ));
        for wrong in [-0.1, 1.5, f64::NAN] {
            let mut paint = spots.clone();
            paint[5] = wrong;
            assert!(matches!(
                SoftRegion::painted(&ball, &paint),
                Err(PhysicsError::Softness { vertex: 5, .. })
            ));
        }
        assert!(matches!(
            SoftRegion::painted(&ball, &[1.0]),
            Err(PhysicsError::PerVertex { found: 1, .. })
        ));
    }

    #[test]
    fn softness_has_no_kink() {
        let slope = |t: f64| (softness_at(t + 1e-6) - softness_at(t - 1e-6)) / 2e-6;
        let mut last = slope(0.0);
        for k in 1..=1000 {
            let next = slope(f64::from(k) * 1.2e-3);
            assert!((next - last).abs() < 0.06, "at {k}");
            last = next;
        }
        assert_eq!((softness_at(0.3), softness_at(1.0)), (1.0, 0.0));
    }

    #[test]
    fn overlapping_patches_share_their_vertices_by_softness() {
        let ball = icosphere(4);
        let patches = [
            SoftPatch {
                center: 0.into(),
                radius: 0.8,
            },
            SoftPatch {
                center: 1.into(),
                radius: 1.1,
            },
        ];

        let both = SoftRegion::select(&ball, &patches).unwrap();
        let alone = patches.map(|patch| SoftRegion::select(&ball, &[patch]).unwrap());
        let of = |region: &SoftRegion, v: u32| {
            region
                .vertices()
                .binary_search(&v)
                .map_or(0.0, |k| region.softness()[k])
        };

        for (k, &v) in both.vertices().iter().enumerate() {
            let softness = [of(&alone[0], v), of(&alone[1], v)];
            assert_eq!(both.softness()[k], softness[0].max(softness[1]));
            assert_eq!(both.softness()[k], softness[both.patch_of()[k]]);
        }

        assert!(both.vertices().len() < alone[0].vertices().len() + alone[1].vertices().len());
    }

    #[test]
    fn a_radius_beyond_the_component_covers_it_and_is_reported() {
        let ball = icosphere(2);
        let region = SoftRegion::select(
            &ball,
            &[SoftPatch {
                center: 3.into(),
                radius: 50.0,
            }],
        )
        .unwrap();

        assert_eq!(
            (region.vertices().len(), region.covered_components()),
            (ball.vertex_count(), &[0][..])
        );
    }

    #[test]
    fn invalid_patches_are_rejected() {
        let ball = icosphere(1);
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                SoftRegion::select(
                    &ball,
                    &[SoftPatch {
                        center: 0.into(),
                        radius
                    }]
                ),
                Err(PhysicsError::PatchRadius { .. })
            ));
        }

        assert!(matches!(
            SoftRegion::select(
                &ball,
                &[SoftPatch {
                    center: 999.into(),
                    radius: 1.0
                }]
            ),
            Err(PhysicsError::Mesh(_))
        ));

        assert!(matches!(
            SoftRegion::select(&ball, &[]),
            Err(PhysicsError::NoPatch)
        ));
    }
}
