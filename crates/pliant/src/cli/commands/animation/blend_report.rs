//! The frames of a blend: report, summary and warnings.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{ContactFrame, EnergyTerms, SceneBlend, Solver, snap_frames};
use schemars::JsonSchema;
use serde::Serialize;

use super::blend::Args;
use crate::cli::report::output::SavedAsset;

/// A frame, and the time of its solve.
pub(super) struct TimedFrame {
    pub(super) frame: ContactFrame,
    pub(super) ms: f64,
}

/// The frames of a blend, with its input.
pub(super) struct SolvedBlend<'a> {
    pub(super) args: &'a Args,
    pub(super) scene: &'a SceneBlend,
    pub(super) meshes: &'a [Mesh],
    pub(super) frames: &'a [TimedFrame],
    pub(super) setup_ms: f64,
}

/// The report of `pliant blend`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BlendReport {
    /// Springs on the triangulation; each pair of points counts once.
    springs: SpringReport,
    /// Points inside the shape.
    interior_points: usize,
    /// Solver: fast, tight or newton.
    solver: String,
    /// Energy terms.
    energy: String,
    /// Time of the preparation, in milliseconds.
    setup_ms: f64,
    /// The frames in order.
    frames: Vec<FrameReport>,
    /// Vertices of the mesh.
    vertices: usize,
    /// The cage; null where all vertices are solved.
    cage: Option<CageReport>,
    #[serde(flatten)]
    saved: SavedAsset,
}

/// Numbers of springs.
#[derive(Debug, Serialize, JsonSchema)]
struct SpringReport {
    /// Edges.
    structure: usize,
    /// Pairs of second neighbours.
    bending: usize,
    /// Interior edges.
    internal: usize,
}

/// The cage of a blend.
#[derive(Debug, Serialize, JsonSchema)]
struct CageReport {
    vertices: usize,
}

/// One frame of a blend.
#[derive(Debug, Serialize, JsonSchema)]
struct FrameReport {
    /// Iterations of the solver.
    iterations: usize,
    /// Largest nodal force, in units of strain.
    residual: f64,
    /// Whether the residual is within the tolerance and the contacts have settled.
    converged: bool,
    /// Area of the surface, in squared asset units.
    area: f64,
    /// Volume inside the surface, in cubed asset units.
    volume: f64,
    /// Mean strain of the edges.
    strain: f64,
    /// The linear blend of the same weights.
    linear: LinearReport,
    /// Interior tetrahedra whose signed volume changed its sign.
    inverted: usize,
    /// Pairs of a vertex and an obstacle in contact.
    contacts: usize,
    /// Faces in contact with a thin obstacle.
    faces: usize,
    /// Parts into which the step from the previous frame was divided.
    substeps: usize,
    /// Time of the solve, in milliseconds.
    ms: f64,
    /// Pairs in self-contact; absent without `--self-contact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_contacts: Option<usize>,
    /// Largest penetration into another part of the surface; absent without `--self-contact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_depth: Option<f64>,
    /// Weight of the second shape; absent with `--weights` and `--clip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    /// Weights of the shapes, of a rig those of its neutral and of the targets in use; absent
    /// without `--weights` and `--clip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
}

/// Measures of the linear blend.
#[derive(Debug, Serialize, JsonSchema)]
struct LinearReport {
    area: f64,
    volume: f64,
    strain: f64,
}

/// Volumes over a clip, in percent of the volume interpolated between its ends.
struct VolumeRange {
    least: f64,
    most: f64,
    /// Least volume of the linear blend.
    least_linear: f64,
}

impl SolvedBlend<'_> {
    pub(super) fn positions(&self) -> Vec<Vec<DVec3>> {
        self.frames
            .iter()
            .map(|timed| timed.frame.shape.positions.clone())
            .collect()
    }

    pub(super) fn report(&self, saved: SavedAsset) -> BlendReport {
        let blend = self.scene.blend();
        let counts = blend.spring_counts();
        let cage = self.scene.cage().map(|cage| CageReport {
            vertices: cage.shapes()[0].vertex_count(),
        });

        BlendReport {
            springs: SpringReport {
                structure: counts.structure,
                bending: counts.bending,
                internal: counts.internal,
            },
            interior_points: blend.interior_points(),
            solver: format!("{:?}", self.args.solver()).to_lowercase(),
            energy: self.args.energy().to_string(),
            setup_ms: self.setup_ms,
            frames: self
                .frames
                .iter()
                .map(|timed| self.frame_report(timed))
                .collect(),
            vertices: self.meshes[0].vertex_count(),
            cage,
            saved,
        }
    }

    fn frame_report(&self, TimedFrame { frame, ms }: &TimedFrame) -> FrameReport {
        let shape = &frame.shape;
        let is_path = self.is_path();
        let self_contact = self.args.self_contact;

        FrameReport {
            iterations: shape.report.iterations,
            residual: shape.report.residual,
            converged: shape.report.converged,
            area: shape.area,
            volume: shape.volume,
            strain: shape.strain,
            linear: LinearReport {
                area: shape.linear.area,
                volume: shape.linear.volume,
                strain: shape.linear.strain,
            },
            inverted: shape.inverted,
            contacts: frame.contacts,
            faces: frame.faces,
            substeps: frame.substeps,
            ms: *ms,
            self_contacts: self_contact.then_some(frame.self_contacts),
            self_depth: self_contact.then_some(frame.self_depth),
            // A clip has one parameter, a single mesh one weight for each shape.
            alpha: is_path.then(|| shape.weights[1]),
            weights: (!is_path).then(|| shape.weights.clone()),
        }
    }

    /// Whether the frames lead from one shape to another.
    fn is_path(&self) -> bool {
        self.args.is_clip() && !self.args.is_rig()
    }

    /// The summary for people.
    pub(super) fn summary(&self) -> String {
        let blend = self.scene.blend();
        let mut text = format!(
            "{} frame(s), {} vertices, {} interior points, {} springs\n",
            self.frames.len(),
            self.meshes[0].vertex_count(),
            blend.interior_points(),
            blend.spring_counts().in_shape(),
        );
        text += &format!(
            "  residual up to {:.1e}, {}\n",
            self.largest_residual(),
            self.counts_text()
        );

        // The least volume of the linear blend is there for comparison.
        if let Some(volume) = self.volume_range() {
            text += &format!(
                "  volume {:.0} to {:.0} % of the interpolated volume (linear blend {:.0} %)\n",
                volume.least, volume.most, volume.least_linear
            );
        }

        let ms = self.frames.iter().map(|timed| timed.ms).sum::<f64>() / self.frames.len() as f64;
        text += &format!(
            "  set up in {:.0} ms, {ms:.1} ms per frame\n",
            self.setup_ms
        );
        text + &format!("written to {}\n", self.args.out.display())
    }

    /// Inverted elements and contacts, as far as they were asked for.
    fn counts_text(&self) -> String {
        let inverted = self.most(|frame| frame.shape.inverted);
        let mut text = format!("at most {inverted} inverted element(s)");
        if !self.args.obstacle.is_empty() {
            let contacts = self.most(|frame| frame.contacts);
            text += &format!(", {contacts} contact(s)");
        }
        if self.args.self_contact {
            let pairs = self.most(|frame| frame.self_contacts);
            text += &format!(", {pairs} pair(s) in self-contact");
        }
        text
    }

    /// The largest count over all frames.
    fn most(&self, count: impl Fn(&ContactFrame) -> usize) -> usize {
        let counts = self.frames.iter().map(|timed| count(&timed.frame));
        counts.max().unwrap_or(0)
    }

    fn largest_residual(&self) -> f64 {
        self.frames
            .iter()
            .map(|timed| timed.frame.shape.report.residual)
            .fold(0.0, f64::max)
    }

    fn volume_range(&self) -> Option<VolumeRange> {
        let [first, .., last] = self.frames else {
            return None;
        };
        if !self.is_path() {
            return None;
        }
        let start = first.frame.shape.volume;
        let end = last.frame.shape.volume;
        if start <= 0.0 || end <= 0.0 || start.is_nan() || end.is_nan() {
            return None; // An open or inverted surface has no volume to compare with.
        }

        // The reference is the volume that a shape would have if it changed linearly.
        let mut range = VolumeRange {
            least: f64::INFINITY,
            most: 0.0,
            least_linear: f64::INFINITY,
        };
        for timed in self.frames {
            let shape = &timed.frame.shape;
            let interpolated = start + (end - start) * shape.weights[1];
            let volume = 100.0 * shape.volume / interpolated;
            range.least = range.least.min(volume);
            range.most = range.most.max(volume);
            range.least_linear = range
                .least_linear
                .min(100.0 * shape.linear.volume / interpolated);
        }
        Some(range)
    }

    /// Warnings about the scene and its frames.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.scene.warnings().to_vec();
        warnings.extend(self.residual_warning());
        warnings.extend(self.unsettled_warning());
        warnings.extend(self.snap_warning());
        warnings.extend(self.inversion_warning());
        warnings.extend(self.moved_warning());
        warnings.extend(self.stuck_warning());
        warnings.extend(self.self_depth_warning());

        if self.args.friction > 0.0 && self.args.obstacle.is_empty() {
            warnings.push("--friction has no effect without an --obstacle".into());
        }

        // A clip without a frame number is easily given twice by mistake.
        let rest = self.meshes[0].positions();
        if self.meshes.len() > 1 && self.meshes.iter().all(|mesh| mesh.positions() == rest) {
            warnings.push(
                "all shapes are equal; a clip without a frame is its reference pose, so name a frame, as in walk.glb@12"
                    .into(),
            );
        }
        warnings
    }

    fn tolerance(&self) -> f64 {
        Solver::from(self.args.solver()).tolerance()
    }

    /// Frames that are no equilibrium.
    fn residual_warning(&self) -> Option<String> {
        let tolerance = self.tolerance();
        let frames = self.frames_where(|frame| frame.shape.report.residual > tolerance)?;
        Some(format!(
            "the solver did not reach equilibrium in frame(s) {frames}: the residual is up to {:.1e}, above {tolerance:.0e}",
            self.largest_residual()
        ))
    }

    /// Frames in equilibrium whose contact set still changes.
    fn unsettled_warning(&self) -> Option<String> {
        let tolerance = self.tolerance();
        let frames = self.frames_where(|frame| {
            let report = &frame.shape.report;
            !report.converged && report.residual <= tolerance
        })?;
        Some(format!(
            "contacts do not settle in frame(s) {frames}; use more --steps, or move the obstacle"
        ))
    }

    /// Frames at which the shape snaps to another equilibrium.
    fn snap_warning(&self) -> Option<String> {
        let clip: Vec<&[DVec3]> = self
            .frames
            .iter()
            .map(|timed| &timed.frame.shape.positions[..])
            .collect();

        // A snap is a step that is much longer than the mean step of a vertex.
        let found: Vec<String> = snap_frames(&clip).iter().map(usize::to_string).collect();
        (!found.is_empty()).then(|| {
            format!(
                "the shape snaps at frame(s) {}; check these frames{}",
                found.join(", "),
                self.snap_advice()
            )
        })
    }

    /// What to do about snaps: only what is not in use yet.
    fn snap_advice(&self) -> &'static str {
        if self.args.energy() == EnergyTerms::path() {
            "; a shape in between may avoid it"
        } else {
            "; --energy path avoids it"
        }
    }

    /// The first frame with the most inverted elements.
    fn inversion_warning(&self) -> Option<String> {
        let most = self.most(|frame| frame.shape.inverted);
        let frame = self
            .frames
            .iter()
            .position(|timed| timed.frame.shape.inverted == most)?;

        // A volume term prevents inversion, so there is no advice where it is in use.
        let advice = if self.args.energy().volume().is_none() {
            "; --energy springs,volume prevents it"
        } else {
            ""
        };
        (most > 0).then(|| {
            format!("{most} interior element(s) are inverted in frame {frame}, the largest count{advice}")
        })
    }

    /// Frames with vertices that were projected to the surface of an obstacle.
    fn moved_warning(&self) -> Option<String> {
        let frames = self.frames_where(|frame| frame.moved > 0)?;
        Some(format!(
            "vertices that were still inside an obstacle were moved to its surface in frame(s) {frames}"
        ))
    }

    /// Frames with held vertices inside an obstacle.
    fn stuck_warning(&self) -> Option<String> {
        let frames = self.frames_where(|frame| frame.stuck > 0)?;
        Some(format!(
            "fixed or pulled vertices stay inside an obstacle in frame(s) {frames}"
        ))
    }

    /// Frames with vertices inside other parts of the surface.
    fn self_depth_warning(&self) -> Option<String> {
        let frames = self.frames_where(|frame| frame.self_depth > 0.0)?;
        let depths = self.frames.iter().map(|timed| timed.frame.self_depth);
        let deepest = depths.fold(0.0, f64::max);
        Some(format!(
            "vertices are inside other parts of the surface, up to {deepest:.1e} deep, in frame(s) {frames}; use more --steps"
        ))
    }

    /// The indices of the frames for which `condition` holds, or none.
    fn frames_where(&self, condition: impl Fn(&ContactFrame) -> bool) -> Option<String> {
        let mut indices = Vec::new();
        for (k, timed) in self.frames.iter().enumerate() {
            if condition(&timed.frame) {
                indices.push(k.to_string());
            }
        }
        (!indices.is_empty()).then(|| indices.join(", "))
    }
}
