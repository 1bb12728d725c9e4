//! The frames of a blend: report, summary and warnings.

use pliant::pieces::{JoinedPieces, PieceError};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_physics::{ContactFrame, EnergyTerms, SceneBlend, Solver, snap_frames};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blend::Args;
use crate::cli::report::output::SavedAsset;

/// The frames of a blend, or of a piece of it, without their positions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BlendPiece {
    springs: SpringReport,
    /// Springs of one shape.
    springs_in_shape: usize,
    interior_points: usize,
    cage: Option<CageReport>,
    setup_ms: f64,
    /// Warnings about the scene.
    warnings: Vec<String>,
    frames: Vec<FrameFigures>,
}

/// The figures of a frame.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FrameFigures {
    /// Its number in the whole clip.
    frame: usize,
    report: FrameReport,
    /// Vertices that were moved to the surface of an obstacle.
    moved: usize,
    /// Held vertices inside an obstacle.
    stuck: usize,
    self_contacts: usize,
    self_depth: f64,
    /// Weight of the second shape.
    alpha: f64,
}

/// The frames of a blend, with its input.
pub(super) struct SolvedBlend<'a> {
    pub(super) args: &'a Args,
    pub(super) meshes: &'a [Mesh],
    pub(super) piece: &'a BlendPiece,
    pub(super) positions: &'a [Vec<DVec3>],
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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct SpringReport {
    /// Edges.
    structure: usize,
    /// Pairs of second neighbours.
    bending: usize,
    /// Interior edges.
    internal: usize,
}

/// The cage of a blend.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct CageReport {
    vertices: usize,
}

/// One frame of a blend.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    self_contacts: Option<usize>,
    /// Largest penetration into another part of the surface; absent without `--self-contact`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    self_depth: Option<f64>,
    /// Weight of the second shape; absent with `--weights` and `--clip`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    /// Weights of the shapes, of a rig those of its neutral and of the targets in use; absent
    /// without `--weights` and `--clip`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
}

/// Measures of the linear blend.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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

impl BlendPiece {
    /// A piece without frames.
    pub(super) fn new(scene: &SceneBlend, setup_ms: f64) -> Self {
        let blend = scene.blend();
        let counts = blend.spring_counts();
        let cage = scene.cage().map(|cage| CageReport {
            vertices: cage.shapes()[0].vertex_count(),
        });
        Self {
            springs: SpringReport {
                structure: counts.structure,
                bending: counts.bending,
                internal: counts.internal,
            },
            springs_in_shape: counts.in_shape(),
            interior_points: blend.interior_points(),
            cage,
            setup_ms,
            warnings: scene.warnings().to_vec(),
            frames: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, figures: FrameFigures) {
        self.frames.push(figures);
    }

    /// All pieces as one; the time of preparation is their sum.
    pub(super) fn join(joined: &JoinedPieces, pieces: Vec<Self>) -> Result<Self, PieceError> {
        let mut whole = pieces[0].clone();
        whole.setup_ms = pieces.iter().map(|piece| piece.setup_ms).sum();
        whole.frames = joined.in_order(pieces.into_iter().map(|piece| piece.frames).collect())?;
        Ok(whole)
    }
}

impl FrameFigures {
    pub(super) fn new(frame: usize, solved: &ContactFrame, args: &Args, ms: f64) -> Self {
        Self {
            frame,
            report: FrameReport::new(solved, args, ms),
            moved: solved.moved,
            stuck: solved.stuck,
            self_contacts: solved.self_contacts,
            self_depth: solved.self_depth,
            alpha: solved.shape.weights.get(1).copied().unwrap_or(0.0),
        }
    }
}

impl FrameReport {
    fn new(frame: &ContactFrame, args: &Args, ms: f64) -> Self {
        let shape = &frame.shape;
        let is_path = args.is_path();
        let self_contact = args.self_contact;
        Self {
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
            ms,
            self_contacts: self_contact.then_some(frame.self_contacts),
            self_depth: self_contact.then_some(frame.self_depth),
            // A clip has one parameter, a single mesh one weight for each shape.
            alpha: is_path.then(|| shape.weights[1]),
            weights: (!is_path).then(|| shape.weights.clone()),
        }
    }
}

impl SolvedBlend<'_> {
    pub(super) fn report(&self, saved: SavedAsset) -> BlendReport {
        let piece = self.piece;
        BlendReport {
            springs: piece.springs.clone(),
            interior_points: piece.interior_points,
            solver: format!("{:?}", self.args.solver()).to_lowercase(),
            energy: self.args.energy().to_string(),
            setup_ms: piece.setup_ms,
            frames: piece.frames.iter().map(|f| f.report.clone()).collect(),
            vertices: self.meshes[0].vertex_count(),
            cage: piece.cage.clone(),
            saved,
        }
    }

    /// The summary for people.
    pub(super) fn summary(&self) -> String {
        let frames = &self.piece.frames;
        let mut text = format!(
            "{} frame(s), {} vertices, {} interior points, {} springs\n",
            frames.len(),
            self.meshes[0].vertex_count(),
            self.piece.interior_points,
            self.piece.springs_in_shape,
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

        let ms = frames.iter().map(|frame| frame.report.ms).sum::<f64>() / frames.len() as f64;
        text += &format!(
            "  set up in {:.0} ms, {ms:.1} ms per frame\n",
            self.piece.setup_ms
        );
        text + &format!("written to {}\n", self.args.out.display())
    }

    /// Inverted elements and contacts, as far as they were asked for.
    fn counts_text(&self) -> String {
        let inverted = self.most(|frame| frame.report.inverted);
        let mut text = format!("at most {inverted} inverted element(s)");
        if !self.args.obstacle.is_empty() {
            let contacts = self.most(|frame| frame.report.contacts);
            text += &format!(", {contacts} contact(s)");
        }
        if self.args.self_contact {
            let pairs = self.most(|frame| frame.self_contacts);
            text += &format!(", {pairs} pair(s) in self-contact");
        }
        text
    }

    /// The largest count over all frames.
    fn most(&self, count: impl Fn(&FrameFigures) -> usize) -> usize {
        self.piece.frames.iter().map(count).max().unwrap_or(0)
    }

    fn largest_residual(&self) -> f64 {
        let frames = self.piece.frames.iter();
        frames
            .map(|frame| frame.report.residual)
            .fold(0.0, f64::max)
    }

    fn volume_range(&self) -> Option<VolumeRange> {
        let [first, .., last] = &self.piece.frames[..] else {
            return None;
        };
        // The ends of the path are the reference.
        if !self.args.is_path() || first.alpha != 0.0 || last.alpha != 1.0 {
            return None;
        }
        let start = first.report.volume;
        let end = last.report.volume;
        if start <= 0.0 || end <= 0.0 || start.is_nan() || end.is_nan() {
            return None; // An open or inverted surface has no volume to compare with.
        }

        // The reference is the volume that a shape would have if it changed linearly.
        let mut range = VolumeRange {
            least: f64::INFINITY,
            most: 0.0,
            least_linear: f64::INFINITY,
        };
        for frame in &self.piece.frames {
            let shape = &frame.report;
            let interpolated = start + (end - start) * frame.alpha;
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
        let mut warnings = self.piece.warnings.clone();
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
        let frames = self.frames_where(|frame| frame.report.residual > tolerance)?;
        Some(format!(
            "the solver did not reach equilibrium in frame(s) {frames}: the residual is up to {:.1e}, above {tolerance:.0e}",
            self.largest_residual()
        ))
    }

    /// Frames in equilibrium whose contact set still changes.
    fn unsettled_warning(&self) -> Option<String> {
        let tolerance = self.tolerance();
        let frames = self.frames_where(|frame| {
            let report = &frame.report;
            !report.converged && report.residual <= tolerance
        })?;
        Some(format!(
            "contacts do not settle in frame(s) {frames}; use more --steps, or move the obstacle"
        ))
    }

    /// Frames at which the shape snaps to another equilibrium.
    fn snap_warning(&self) -> Option<String> {
        // Only the whole clip shows which steps are long; a list of frames has other steps.
        let frames = &self.piece.frames;
        let is_whole = frames.iter().enumerate().all(|(k, frame)| frame.frame == k);
        if !is_whole {
            return None;
        }
        let clip: Vec<&[DVec3]> = self.positions.iter().map(Vec::as_slice).collect();

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
        let most = self.most(|frame| frame.report.inverted);
        let mut frames = self.piece.frames.iter();
        let frame = frames.find(|frame| frame.report.inverted == most)?.frame;

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
        let depths = self.piece.frames.iter().map(|frame| frame.self_depth);
        let deepest = depths.fold(0.0, f64::max);
        Some(format!(
            "vertices are inside other parts of the surface, up to {deepest:.1e} deep, in frame(s) {frames}; use more --steps"
        ))
    }

    /// The numbers of the frames for which `condition` holds, or none.
    fn frames_where(&self, condition: impl Fn(&FrameFigures) -> bool) -> Option<String> {
        let frames = self.piece.frames.iter().filter(|frame| condition(frame));
        let numbers: Vec<String> = frames.map(|frame| frame.frame.to_string()).collect();
        (!numbers.is_empty()).then(|| numbers.join(", "))
    }
}
