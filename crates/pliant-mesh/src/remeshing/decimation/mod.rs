//! Mesh decimation by quadric error metrics, with a map back to the original vertices.
//!
//! **Problem.** Bring a mesh down to a budget of vertices or triangles, close to the original and
//! of the same topology, and know for each original vertex where it lies on the coarse surface.
//!
//! **Equation.** Each vertex carries the quadric of the planes of its triangles; the cost of
//! an edge is the least value of the sum of its ends' quadrics, at the best place for the merged
//! vertex; the cheapest edge collapses first:
//!
//! ```text
//! Q(p) = Σ w (n·p − d)²        cost(a, b) = minₚ (Q_a + Q_b)(p)
//! ```
//!
//! **Source.** Garland and Heckbert, "Surface Simplification Using Quadric Error Metrics", SIGGRAPH
//! 1997; the link condition after Dey, Edelsbrunner, Guha and Nekhayev, "Topology Preserving Edge
//! Contraction", 1999.
//!
//! **Departures.** Planes are weighted by area. The squared length of an edge is added with a
//! weight of a millionth, or more by option, which decides among the edges of flat parts. Several
//! poses are decimated as one by the sum of their costs. A boundary vertex is not pulled off the
//! boundary by the inside; a non-manifold vertex stays. Equal costs go by vertex index. The map to
//! the coarse surface is local: it searches around the vertex that an original vertex collapsed
//! into, so two close surfaces are not confused.

mod collapse;
mod quadric;

use glam::DVec3;
use pliant_linalg::parallel;

use crate::queries::surface_index::{closest_on_triangle, require_moderate};
use crate::{
    Bounds, FaceLabels, Mesh, MeshBuilder, MeshError, Progress, SurfaceIndex, TrianglePoint,
};
use collapse::Collapser;

/// Vertices in one parallel task of the map to the coarse surface.
const VERTICES_PER_TASK: usize = 512;

/// The size limit of the coarse mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimationBudget {
    /// At most so many vertices.
    Vertices(usize),
    /// At most so many triangles.
    Triangles(usize),
}

/// Where coarse vertices may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VertexPlacement {
    /// Wherever the quadric is least.
    #[default]
    Optimal,
    /// At original vertices only, so that every pose of the original has its coarse pose at once.
    Subset,
}

/// How to decimate.
#[derive(Debug, Clone, PartialEq)]
pub struct DecimationOptions {
    placement: VertexPlacement,
    poses: Vec<Vec<DVec3>>,
    kept: Vec<u32>,
    evenness: f64,
}

impl Default for DecimationOptions {
    fn default() -> Self {
        Self {
            placement: VertexPlacement::default(),
            poses: Vec::new(),
            kept: Vec::new(),
            evenness: Self::DEFAULT_EVENNESS,
        }
    }
}

impl DecimationOptions {
    /// Chosen: far below the error of any visible bend, yet it decides where surfaces are flat.
    pub const DEFAULT_EVENNESS: f64 = 1e-6;

    /// Where coarse vertices may lie. Default: wherever the quadric is least.
    #[must_use]
    pub fn with_placement(self, placement: VertexPlacement) -> Self {
        Self { placement, ..self }
    }

    /// Other poses of the mesh, which count as much as its own: an edge costs the sum over all, and
    /// no triangle is inverted in any. Coarse vertices then lie at original ones, so that the
    /// coarse mesh has all these poses too. Default: none.
    #[must_use]
    pub fn with_poses(self, poses: Vec<Vec<DVec3>>) -> Self {
        Self { poses, ..self }
    }

    /// Vertices that stay, where they are. Default: none.
    #[must_use]
    pub fn with_kept(self, vertices: Vec<u32>) -> Self {
        Self {
            kept: vertices,
            ..self
        }
    }

    /// Weight of the squared length of an edge beside its quadric: more gives triangles of one
    /// size, less follows the form closer. Default:
    /// [`DEFAULT_EVENNESS`](Self::DEFAULT_EVENNESS).
    #[must_use]
    pub fn with_evenness(self, evenness: f64) -> Self {
        Self { evenness, ..self }
    }

    fn check(&self, mesh: &Mesh) -> Result<(), MeshError> {
        for &vertex in &self.kept {
            mesh.require_vertex(vertex as usize)?;
        }
        for pose in &self.poses {
            require_moderate(&mesh.posed(pose.clone())?)?;
        }

        let is_good = self.evenness >= 0.0 && self.evenness.is_finite();
        if is_good {
            Ok(())
        } else {
            Err(MeshError::BadNumber {
                what: "the evenness",
                value: self.evenness,
                needed: "finite and not negative",
            })
        }
    }
}

/// A coarse mesh and its relation to the original.
#[derive(Debug, Clone)]
pub struct Decimation {
    mesh: Mesh,
    sources: Vec<u32>,
    places: Vec<TrianglePoint>,
    budget_met: bool,
    deviation: f64,
}

impl Decimation {
    /// The coarse mesh of triangles, in the order of the original's vertices and triangles. Groups
    /// and materials are inherited; UVs, colours and authored normals, unused vertices and
    /// triangles that repeat a vertex are left out.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// For each coarse vertex the original one it came from: itself where it did not move.
    /// Ascending.
    #[must_use]
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// For each original vertex its place on the coarse mesh.
    #[must_use]
    pub fn places(&self) -> &[TrianglePoint] {
        &self.places
    }

    /// Whether the budget is met. If not, no edge is left whose collapse would keep topology and
    /// orientation: closed parts need four triangles, non-manifold edges stay.
    #[must_use]
    pub fn budget_met(&self) -> bool {
        self.budget_met
    }

    /// The largest distance of an original vertex from its place on the coarse mesh.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// Original vertices on the coarse surface of any coarse pose.
    ///
    /// # Panics
    /// If `coarse` has another length than the coarse mesh has vertices.
    #[must_use]
    pub fn prolong(&self, coarse: &[DVec3]) -> Vec<DVec3> {
        assert_eq!(
            coarse.len(),
            self.mesh.vertex_count(),
            "one position per coarse vertex"
        );
        self.places
            .iter()
            .map(|place| place.position(self.mesh.triangles(), coarse))
            .collect()
    }
}

impl Mesh {
    /// Collapses edges until `budget` is met, or until no edge is left that may collapse.
    ///
    /// Declines a mesh or a pose with NaN positions, a mesh without a proper triangle, kept
    /// vertices beyond the last. Components, holes, handles and non-manifold edges stay what
    /// they are.
    pub fn decimated(
        &self,
        budget: DecimationBudget,
        options: &DecimationOptions,
    ) -> Result<Decimation, MeshError> {
        self.decimated_with_progress(budget, options, &())
    }

    /// As [`decimated`](Self::decimated), with progress.
    ///
    /// # Errors
    /// As [`decimated`](Self::decimated), and [`MeshError::Stopped`] if `progress` asks for it.
    pub fn decimated_with_progress(
        &self,
        budget: DecimationBudget,
        options: &DecimationOptions,
        progress: &dyn Progress,
    ) -> Result<Decimation, MeshError> {
        require_moderate(self)?;
        if self.topology().edges().is_empty() {
            return Err(MeshError::NoFaces);
        }
        options.check(self)?;

        // Work in unit coordinates, so that the constants below do not depend on scale.
        let frame = Frame::of(self.positions());
        let points = frame.all_inward(self.positions());

        // Every pose has a unit of its own, so that a larger one does not count for more.
        let others = options
            .poses
            .iter()
            .map(|pose| Frame::of(pose).all_inward(pose))
            .collect();

        let mut collapser = Collapser::new(self, points, others, options);
        let budget_met = collapser.run(budget, progress)?;

        // The coarse mesh, and the place of every original vertex on it.
        let sources: Vec<u32> = (0..self.vertex_count())
            .filter(|&v| collapser.lives(v))
            .map(|v| v as u32)
            .collect();
        let mesh = coarse_mesh(self, &collapser, &sources, &frame)?;
        let places = places_on(&mesh, self, &collapser, &sources)?;

        let far = |v: usize| {
            places[v]
                .position(mesh.triangles(), mesh.positions())
                .distance(self.positions()[v])
        };
        let deviation = (0..self.vertex_count())
            .filter(|&v| is_used(self, v))
            .map(far)
            .fold(0.0, f64::max);

        Ok(Decimation {
            mesh,
            sources,
            places,
            budget_met,
            deviation,
        })
    }
}

/// A unit of length and an origin in which squares neither overflow nor cancel.
struct Frame {
    origin: DVec3,
    unit: f64,
}

impl Frame {
    fn of(positions: &[DVec3]) -> Self {
        let bounds = Bounds::of(positions);
        let unit = bounds.map_or(1.0, |b| b.size().max_element());
        Self {
            origin: bounds.map_or(DVec3::ZERO, |b| b.center()),
            unit: if unit > 0.0 { unit } else { 1.0 },
        }
    }

    fn inward(&self, p: DVec3) -> DVec3 {
        (p - self.origin) / self.unit
    }

    fn all_inward(&self, positions: &[DVec3]) -> Vec<DVec3> {
        positions.iter().map(|&p| self.inward(p)).collect()
    }

    fn outward(&self, p: DVec3) -> DVec3 {
        self.origin + p * self.unit
    }
}

fn is_used(mesh: &Mesh, vertex: usize) -> bool {
    !mesh.topology().vertex_triangles().row(vertex).is_empty()
}

fn coarse_mesh(
    original: &Mesh,
    collapser: &Collapser,
    sources: &[u32],
    frame: &Frame,
) -> Result<Mesh, MeshError> {
    // Coarse vertices are numbered in the order of the original ones that they replace.
    let mut coarse_of = vec![u32::MAX; original.vertex_count()];
    for (k, &v) in sources.iter().enumerate() {
        coarse_of[v as usize] = k as u32;
    }

    // A vertex that did not move keeps its exact coordinates, without the rounding of the frame.
    let position = |&v: &u32| {
        let v = v as usize;
        if collapser.moved[v] {
            frame.outward(collapser.points[v])
        } else {
            original.positions()[v]
        }
    };

    // Faces are the triangles that were not collapsed; they inherit groups and materials.
    let staying: Vec<usize> = (0..collapser.triangles.len())
        .filter(|&t| collapser.triangles[t][0] != u32::MAX)
        .collect();
    let inherit = |labels: &FaceLabels| FaceLabels {
        names: labels.names.clone(),
        of_face: match labels.of_face.is_empty() {
            true => Vec::new(),
            false => staying
                .iter()
                .map(|&t| labels.of_face[original.triangle_faces()[t] as usize])
                .collect(),
        },
    };

    let mut builder = MeshBuilder {
        name: original.name().to_owned(),
        positions: sources.iter().map(position).collect(),
        groups: inherit(original.groups()),
        materials: inherit(original.materials()),
        material_library: original.material_library().to_vec(),
        ..Default::default()
    };

    for &t in staying.iter() {
        builder.push_face(&collapser.triangles[t].map(|v| coarse_of[v as usize]));
    }

    builder.build()
}

/// The place of each original vertex on the coarse mesh.
fn places_on(
    coarse: &Mesh,
    original: &Mesh,
    collapser: &Collapser,
    sources: &[u32],
) -> Result<Vec<TrianglePoint>, MeshError> {
    // Each search starts at the triangles around the vertex that the original one collapsed into.
    let heirs = heirs(&collapser.into, sources);
    let mut places = parallel::map(heirs.len(), VERTICES_PER_TASK, |v| {
        let start = heirs[v].map_or(&[][..], |heir| {
            coarse.topology().vertex_triangles().row(heir as usize)
        });
        descend(coarse, start, original.positions()[v])
    });

    // Vertices that no triangle used have no heir: the whole surface is searched.
    if places.iter().any(Option::is_none) {
        let index = SurfaceIndex::new(coarse)?;
        for (place, &p) in places
            .iter_mut()
            .zip(original.positions())
            .filter(|(place, _)| place.is_none())
        {
            *place = index.closest_point(p).map(|closest| closest.place);
        }
    }

    let each = places.into_iter().enumerate();
    each.map(|(query, place)| place.ok_or(MeshError::QueryNotFinite { query }))
        .collect()
}

/// For each original vertex the coarse vertex that it collapsed into.
fn heirs(into: &[u32], sources: &[u32]) -> Vec<Option<u32>> {
    let mut heirs: Vec<Option<u32>> = vec![None; into.len()];
    for (k, &v) in sources.iter().enumerate() {
        heirs[v as usize] = Some(k as u32);
    }

    // Follows the collapses to the vertex that is left.
    let root = |mut v: u32| {
        while into[v as usize] != v {
            v = into[v as usize];
        }
        v
    };

    (0..into.len() as u32)
        .map(|v| heirs[root(v) as usize])
        .collect()
}

/// Walks over the coarse mesh from the triangles `start` for as long as `p` comes closer. A foot
/// point inside its triangle ends the walk; one on its border sends it to the triangles around.
fn descend(coarse: &Mesh, start: &[u32], p: DVec3) -> Option<TrianglePoint> {
    let at = |t: u32| {
        let (barycentric, point) = closest_on_triangle(coarse.triangle_points(t as usize), p);
        (
            point.distance_squared(p),
            TrianglePoint {
                triangle: t,
                barycentric,
            },
        )
    };

    // Equal distances go by the order of the triangles.
    let closest = |candidates: &[u32]| {
        candidates
            .iter()
            .map(|&t| at(t))
            .min_by(|a, b| a.0.total_cmp(&b.0))
    };

    let mut best = closest(start)?;
    loop {
        let TrianglePoint {
            triangle,
            barycentric,
        } = best.1;
        if best.0 == 0.0 || barycentric.iter().all(|&weight| weight > 0.0) {
            return Some(best.1);
        }

        // The closest point lies on a corner or side: the triangles around it may be closer.
        let corners = coarse.triangles()[triangle as usize]
            .into_iter()
            .zip(barycentric);
        let touched = corners
            .filter(|&(_, weight)| weight > 0.0)
            .map(|(v, _)| coarse.topology().vertex_triangles().row(v as usize));

        let around = touched
            .filter(|&triangles| triangles != start)
            .filter_map(closest);

        match around.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some(next) if next.0 < best.0 => best = next,
            _ => return Some(best.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;
    use crate::test_progress::StopAt;
    use crate::test_shapes::{grid, irregular_torus, random_points};
    use crate::{MeshReport, Stopped};

    const BOTH: [VertexPlacement; 2] = [VertexPlacement::Optimal, VertexPlacement::Subset];

    fn decimate(mesh: &Mesh, vertices: usize, placement: VertexPlacement) -> Decimation {
        mesh.decimated(
            DecimationBudget::Vertices(vertices),
            &DecimationOptions::default().with_placement(placement),
        )
        .unwrap()
    }

    #[test]
    fn progress_does_not_change_the_result_and_can_stop_the_work() {
        let ball = icosphere(5);
        let options = DecimationOptions::default();
        let budget = DecimationBudget::Triangles(500);
        let expected = ball.decimated(budget, &options).unwrap();

        let to_the_end = StopAt::share(2.0);
        let watched = ball.decimated_with_progress(budget, &options, &to_the_end);
        assert_eq!(watched.unwrap().places(), expected.places());

        let halfway = StopAt::share(0.5);
        let stopped = ball.decimated_with_progress(budget, &options, &halfway);
        assert_eq!(stopped.unwrap_err(), MeshError::Stopped(Stopped));
        assert!(1 < halfway.calls() && halfway.calls() < to_the_end.calls());
    }

    fn euler(mesh: &Mesh) -> i64 {
        (mesh.vertex_count() - mesh.topology().unused_vertex_count()) as i64
            - mesh.topology().edges().len() as i64
            + mesh.triangles().len() as i64
    }

    fn two_tori_and_a_sheet() -> Mesh {
        let mut builder = irregular_torus(24, 12).to_builder();
        for (k, part) in [irregular_torus(24, 12), grid(12, 9)].iter().enumerate() {
            let first = builder.positions.len() as u32;
            builder.positions.extend(
                part.positions()
                    .iter()
                    .map(|p| *p + DVec3::Z * 4.0 * (k + 1) as f64),
            );

            for face in part.faces() {
                builder.push_face(&face.iter().map(|v| v + first).collect::<Vec<_>>())
            }
        }

        builder.build().unwrap()
    }

    #[test]
    fn the_budget_is_met_and_the_topology_kept() {
        let mesh = two_tori_and_a_sheet();
        for placement in BOTH {
            for budget in [400, 120, 60] {
                let coarse = decimate(&mesh, budget, placement);
                assert!(coarse.budget_met() && coarse.mesh().vertex_count() == budget);

                let before = MeshReport::of(&mesh);
                let after = MeshReport::of(coarse.mesh());
                assert_eq!(euler(&mesh), euler(coarse.mesh()));
                assert_eq!(
                    (before.components, before.boundary_loops),
                    (after.components, after.boundary_loops)
                );

                assert!(after.problems().is_empty(), "{:?}", after.problems());
                assert_eq!(after.unused_vertices, 0);
            }
        }

        let halved = mesh
            .decimated(
                DecimationBudget::Triangles(500),
                &DecimationOptions::default(),
            )
            .unwrap();

        assert!(halved.budget_met() && (499..=500).contains(&halved.mesh().triangles().len()));
    }

    #[test]
    fn edges_that_cannot_collapse_stay_and_a_missed_budget_is_reported() {
        let mesh = two_tori_and_a_sheet();
        let coarse = decimate(&mesh, 3, VertexPlacement::Optimal);
        assert!(!coarse.budget_met());
        assert_eq!(euler(&mesh), euler(coarse.mesh()));

        // A torus needs seven vertices; a sheet needs a triangle.
        assert!(
            coarse.mesh().vertex_count() >= 17 && coarse.mesh().vertex_count() < 60,
            "{}",
            coarse.mesh().vertex_count()
        );

        let sphere = decimate(&icosphere(2), 1, VertexPlacement::Subset);
        assert_eq!((sphere.mesh().vertex_count(), euler(sphere.mesh())), (4, 2));
    }

    #[test]
    fn a_plane_stays_a_plane_with_its_outline() {
        let rotation = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 2.3);
        let flat = grid(16, 12);
        let mesh = flat
            .posed(
                flat.positions()
                    .iter()
                    .map(|&p| rotation * p + DVec3::new(1.0, 2.0, 3.0))
                    .collect(),
            )
            .unwrap();

        for placement in BOTH {
            let coarse = decimate(&mesh, 40, placement);
            assert!((coarse.mesh().area() - 192.0).abs() < 1e-9);

            let back = |p: &DVec3| rotation.inverse() * (*p - DVec3::new(1.0, 2.0, 3.0));
            assert!(
                coarse
                    .mesh()
                    .positions()
                    .iter()
                    .all(|p| back(p).z.abs() < 1e-12)
            );

            // Within the plane, corners are reached to the square of the ridge of the placement.
            assert!(coarse.deviation() < 1e-10);

            let prolonged = coarse.prolong(coarse.mesh().positions());
            assert!(
                prolonged
                    .iter()
                    .zip(mesh.positions())
                    .all(|(a, b)| a.distance(*b) < 1e-10)
            );
        }
    }

    #[test]
    fn the_error_on_a_sphere_falls_with_the_budget() {
        let sphere = icosphere(4);
        for placement in BOTH {
            let deviations: Vec<f64> = [40, 160, 640]
                .iter()
                .map(|&n| decimate(&sphere, n, placement).deviation())
                .collect();

            assert!(deviations[0] < 0.3, "{deviations:?}");
            // Second order: four times the vertices, a quarter of the distance; half is claimed.
            assert!(
                deviations.windows(2).all(|pair| pair[1] < 0.5 * pair[0]),
                "{deviations:?}"
            );
        }
    }

    #[test]
    fn places_on_the_coarse_mesh_are_almost_always_the_closest_points() {
        let mesh = irregular_torus(40, 20);
        for placement in BOTH {
            let coarse = decimate(&mesh, 150, placement);
            let closest = SurfaceIndex::new(coarse.mesh())
                .unwrap()
                .closest_points(mesh.positions())
                .unwrap();
            let prolonged = coarse.prolong(coarse.mesh().positions());
            let longer = (0..mesh.vertex_count())
                .map(|v| prolonged[v].distance(mesh.positions()[v]) - closest[v].distance);

            assert!(
                longer
                    .clone()
                    .all(|by| by > -1e-12 && by <= coarse.deviation())
            );

            let seldom = longer.filter(|&by| by > 1e-12).count();
            assert!(
                seldom * 50 < mesh.vertex_count(),
                "{seldom} of {}",
                mesh.vertex_count()
            );
        }
    }

    #[test]
    fn vertices_of_close_surfaces_map_to_their_own_surface() {
        let sheet = grid(20, 20);
        let wave = |p: &DVec3| *p + DVec3::Z * (p.x * 0.9).sin() * (p.y * 0.7).cos();
        let mut builder = sheet.to_builder();
        builder.positions = sheet.positions().iter().map(wave).collect();
        builder
            .positions
            .extend(sheet.positions().iter().map(|p| wave(p) + DVec3::Z * 1e-3));

        for face in sheet.faces() {
            builder.push_face(&face.iter().map(|v| v + 441).collect::<Vec<_>>());
        }

        let mesh = builder.build().unwrap();
        let coarse = decimate(&mesh, 120, VertexPlacement::Optimal);
        for (v, place) in coarse.places().iter().enumerate() {
            let corner = coarse.mesh().triangles()[place.triangle as usize][0];
            assert_eq!(coarse.sources()[corner as usize] < 441, v < 441);
        }
    }

    #[test]
    fn subset_vertices_are_original_vertices_and_map_to_themselves() {
        let mesh = irregular_torus(30, 14);
        let coarse = decimate(&mesh, 90, VertexPlacement::Subset);
        let prolonged = coarse.prolong(coarse.mesh().positions());

        for (k, &source) in coarse.sources().iter().enumerate() {
            assert_eq!(
                coarse.mesh().positions()[k],
                mesh.positions()[source as usize]
            );
            assert_eq!(
                prolonged[source as usize],
                mesh.positions()[source as usize]
            );
        }
    }

    #[test]
    fn almost_no_triangle_of_a_bumpy_sheet_is_inverted() {
        let flat = grid(30, 30);
        let bumpy: Vec<DVec3> = flat
            .positions()
            .iter()
            .zip(random_points(3, flat.vertex_count()))
            .map(|(p, noise)| *p + 0.25 * noise)
            .collect();

        let mesh = flat.posed(bumpy).unwrap();
        for placement in BOTH {
            let coarse = decimate(&mesh, 100, placement);
            let coarse = coarse.mesh();
            let upright = (0..coarse.triangles().len())
                .filter(|&t| crate::triangle_normal(coarse.triangle_points(t)).z > 0.0)
                .count();

            assert!(
                upright as f64 > 0.98 * coarse.triangles().len() as f64,
                "{upright} of {}",
                coarse.triangles().len()
            );
        }
    }

    #[test]
    fn a_material_seam_stays_straight() {
        let mut builder = grid(12, 12).to_builder();
        builder.materials =
            FaceLabels::from_names((0..144).map(|f| if f % 12 < 6 { "left" } else { "right" }));

        let mesh = builder.build().unwrap();
        let coarse = decimate(&mesh, 30, VertexPlacement::Optimal);
        let coarse = coarse.mesh();
        let area = |name: &str| {
            let own =
                (0..coarse.triangles().len()).filter(|&t| coarse.materials().of(t) == Some(name));
            own.map(|t| crate::triangle_area(coarse.triangle_points(t)))
                .sum::<f64>()
        };

        assert!((area("left") - 72.0).abs() < 1e-9 && (area("right") - 72.0).abs() < 1e-9);
    }

    #[test]
    fn non_manifold_and_degenerate_meshes_are_decimated() {
        // Three sheets on one common edge, a sheet that touches in a point, flat and repeating
        // triangles, unused vertices.
        let mut builder = grid(8, 8).to_builder();
        for angle_rad in [1.0, 2.0] {
            let first = builder.positions.len() as u32;
            let rotation = glam::DQuat::from_rotation_y(angle_rad);
            let page = grid(8, 8);
            let on_spine = |v: u32| if v.is_multiple_of(9) { v } else { first + v };

            builder
                .positions
                .extend(page.positions().iter().map(|&p| rotation * p));
            for face in page.faces() {
                builder.push_face(&face.iter().map(|&v| on_spine(v)).collect::<Vec<_>>())
            }
        }

        builder.push_face(&[0, 0, 5]);
        builder.push_face(&[40, 41, 42]);
        let mesh = builder.build().unwrap();

        for placement in BOTH {
            let coarse = decimate(&mesh, 30, placement);
            let after = MeshReport::of(coarse.mesh());
            assert_eq!(
                after.non_manifold_edges,
                mesh.topology().non_manifold_edges().count()
            );

            assert_eq!(
                euler(coarse.mesh()),
                euler(&mesh) - 1,
                "the repeating triangle counts no more"
            );

            assert!(
                coarse
                    .places()
                    .iter()
                    .all(|place| place.barycentric.iter().all(|w| (0.0..=1.0).contains(w)))
            );

            assert_eq!(coarse.places().len(), mesh.vertex_count());
        }

        let flat = Mesh::from_triangles(vec![DVec3::ZERO; 4], &[[0, 1, 2], [0, 2, 3]]).unwrap();
        assert!(decimate(&flat, 3, VertexPlacement::Optimal).deviation() == 0.0);

        let nothing = Mesh::from_triangles(vec![DVec3::ZERO; 2], &[[0, 1, 1]]).unwrap();
        assert_eq!(
            nothing
                .decimated(DecimationBudget::Vertices(1), &DecimationOptions::default())
                .err(),
            Some(MeshError::NoFaces)
        );
    }

    #[test]
    fn random_triangles_on_few_vertices_keep_their_euler_characteristic() {
        for seed in 0..40 {
            let mut random = crate::test_shapes::Random(seed);
            let mut corner = || (random.unit() * 14.0) as u32;
            let triangles: Vec<[u32; 3]> =
                (0..20).map(|_| [corner(), corner(), corner()]).collect();
            let proper: Vec<[u32; 3]> = triangles
                .into_iter()
                .filter(|&t| crate::surface::measure::distinct_corners(t))
                .collect();

            let mesh = Mesh::from_triangles(random_points(seed + 50, 14), &proper).unwrap();
            for placement in BOTH {
                let coarse = decimate(&mesh, 4, placement);
                assert_eq!(euler(coarse.mesh()), euler(&mesh), "seed {seed}");
                assert_eq!(
                    coarse.mesh().topology().component_count(),
                    mesh.topology().component_count()
                );
            }
        }
    }

    #[test]
    fn kept_vertices_stay_and_a_fold_of_another_pose_is_preserved() {
        let flat = grid(24, 24);
        // A ridge that the flat mesh does not show.
        let folded: Vec<DVec3> = flat
            .positions()
            .iter()
            .map(|p| DVec3::new(p.x, p.y, (p.x - 12.0).abs()))
            .collect();

        let kept = vec![30, 31, 77];
        let options = DecimationOptions::default()
            .with_poses(vec![folded.clone()])
            .with_kept(kept.clone());
        let coarse = flat
            .decimated(DecimationBudget::Vertices(40), &options)
            .unwrap();

        assert!(kept.iter().all(|v| coarse.sources().contains(v)));
        assert!(
            coarse
                .sources()
                .iter()
                .zip(coarse.mesh().positions())
                .all(|(&v, p)| *p == flat.positions()[v as usize])
        );

        let pose: Vec<DVec3> = coarse
            .sources()
            .iter()
            .map(|&v| folded[v as usize])
            .collect();
        let area = coarse.mesh().posed(pose).unwrap().area();

        assert!(
            (area / flat.posed(folded).unwrap().area() - 1.0).abs() < 1e-9,
            "the ridge is still one: {area}"
        );

        let nan = vec![DVec3::NAN; flat.vertex_count()];
        for wrong in [
            DecimationOptions::default().with_poses(vec![nan]),
            DecimationOptions::default().with_poses(vec![Vec::new()]),
            DecimationOptions::default().with_kept(vec![u32::MAX]),
            DecimationOptions::default().with_evenness(f64::NAN),
        ] {
            assert!(
                flat.decimated(DecimationBudget::Vertices(40), &wrong)
                    .is_err()
            );
        }
    }

    #[test]
    fn more_evenness_gives_more_equal_edge_lengths() {
        let torus = irregular_torus(40, 20);
        let spread = |evenness: f64| {
            let options = DecimationOptions::default()
                .with_placement(VertexPlacement::Subset)
                .with_evenness(evenness);
            let coarse = torus
                .decimated(DecimationBudget::Vertices(120), &options)
                .unwrap()
                .mesh()
                .clone();

            let lengths = coarse.topology().edges().iter().map(|e| {
                coarse.positions()[e[0] as usize].distance(coarse.positions()[e[1] as usize])
            });

            lengths
                .map(|length| (length / coarse.mean_edge_length() - 1.0).powi(2))
                .sum::<f64>()
                / coarse.topology().edges().len() as f64
        };

        assert!(
            spread(1.0) < spread(1e-6),
            "{} {}",
            spread(1.0),
            spread(1e-6)
        );
    }
}
