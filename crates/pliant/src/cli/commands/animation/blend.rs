//! `pliant blend`: shapes between shapes, as equilibria of springs.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use pliant::pieces::JoinedPieces;
use pliant_io::{Animation, Asset};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress as _};
use pliant_physics::{
    BlendOptions, CageSize, ContactFrame, ContactMethod, ContactOptions, EnergyTerms,
    InteriorOptions, InteriorPoints, PhysicsError, RigBlend, SceneBlend, SceneOptions, Solver,
    WeightPath,
};

use super::blend_report::{BlendPiece, BlendReport, FrameFigures, SolvedBlend};
use crate::cli::args::cage::parse_cage;
use crate::cli::args::number::{finite, friction};
use crate::cli::args::obstacle::{ObstacleArg, VALUE_NAME, parse_obstacle, solids_help};
use crate::cli::args::slider_weights;
use crate::cli::args::source;
use crate::cli::args::stiffness::{StiffnessArg, parse_stiffness};
use crate::cli::args::target_normals::TargetNormalsArgs;
use crate::cli::args::vertex::parse_pull_to;
use crate::cli::commands::program::join::JoinedReport;
use crate::cli::pieces::{
    Invocation, JoinedResult, Made, PieceArgs, PieceContent, content, exact_positions,
    refuse_frames, run_piece,
};
use crate::cli::report::console::{Bar, Console};
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output;

const EXAMPLES: &str = concat!(
    "\
Examples:
  # 36 steps from one shape to another, without shrinking
  pliant blend straight.obj bent.obj --out bend.glb

  # Two frames of a clip
  pliant blend 'specimen:hand@0' 'specimen:hand@3' --out fist.glb

  # One shape from three
  pliant blend neutral.obj smile.obj frown.obj \\
      --weights 0.2,0.5,0.3 --out mix.obj

  # Sliders of a rig, and the clip of a rig
  pliant blend specimen:head --weights jawOpen=0.7,mouthFunnel=0.4 \\
      --out oh.obj
  pliant blend face.glb --clip --out talking.glb

  # Four fixed vertices, and a ball as an obstacle
  pliant blend a.obj b.obj --fix 0,1,2,3 \\
      --obstacle sphere:0,1,0,0.4 --out around.glb

  # Fingers that do not pass through each other or the palm
  pliant blend 'specimen:hand@0' 'specimen:hand@3' --cage 1500 \\
      --self-contact --out fist.glb

  # Half way, with one vertex held at another position
  pliant blend a.obj b.obj --weights 0.5,0.5 \\
      --pull 1204:0,1.5,0 --out pulled.obj

  # The method of Ma et al. 2012, without interior points
  pliant blend a.obj b.obj --solver newton --interior none \\
      --out ma2012.glb

  # A large mesh: 4000 vertices are solved, the others follow
  pliant blend scan-a.obj scan-b.obj --cage 4000 --out scan.glb

  # Vertex colours as stiffness: white is stiff, black is soft
  pliant blend painted.glb b.glb --stiffness color --out firm.glb

  # Springs with a volume term, so that no interior element inverts
  pliant blend 'specimen:hand@0' 'specimen:hand@3' \\
      --energy springs,volume --out fist.glb

  # A thin sheet: edges, angles and volume of the surface only
  pliant blend flat.obj rolled.obj --energy shell --out roll.glb

Method:
  Shapes are poses of one mesh: the same vertices and faces in the same order.
  The rotations of all vertices are continued over the mesh and blended, and
  one linear solve finds the shape that fits them and the blended lengths: an
  even path from shape to shape (Gao et al. 2016). Edges, pairs of second
  neighbours and interior edges are springs that are at rest in that shape.
  Obstacles, pulls and fixed vertices move it to an equilibrium of their
  forces. Parts that share no edge, such as eyes and teeth, follow the nearest
  vertices of the others.
  With one SHAPE, a rig, the shapes are its neutral and its targets, and the
  weights are those of its sliders.

Energy terms (--energy), separated by commas:
  path      springs at rest on the even path (default); takes no other term
  springs   springs with blended rest lengths (Ma et al. 2012): less strain
            than path, but a shape may snap from one equilibrium to another
            between frames, and thin elements may invert
  edges     lengths of edges only
  angles    dihedral angles; often ten times slower
  volume    volume of interior elements, or of closed surfaces without any;
            one to four times slower
  shell     edges, angles and volume with the weights of Froehlich and
            Botsch 2011, for cloth, skin and open sheets
  A factor may follow angles and volume: volume:10 is ten times as stiff.

",
    solids_help!(),
    "

Obstacles (--obstacle):
  Vertices do not enter an obstacle; they slide along it and leave it again.
  Only vertices collide, except with obstacles that are thinner than two
  edges: there, faces collide too. An obstacle with a clip moves rigidly
  through its frames during the blend. With --weights it stays at its first
  frame.

Self-contact (--self-contact):
  No vertex enters another part of the surface. A closed surface is best,
  because the winding number decides what is inside. Intersections of the
  given shapes may stay, and are counted. Frames depend on earlier frames, as
  with obstacles: more --steps make the path safer.

Cage (--cage):
  A cage here is a coarse mesh of some of the vertices, not a mesh around the
  model. A mesh of more than 50 000 vertices is blended on a cage: its
  vertices are solved, and all others follow with their detail. Both ends stay
  exact. Springs, residual and inverted elements are then those of the cage;
  area, volume and strain are those of the mesh. Fewer cage vertices are
  faster, more follow thin parts better.

Report (--json), for each frame; see `pliant schema blend`:
  residual   largest nodal force, in units of strain; converged means at most
             1e-3 (fast) or 1e-6 (tight, newton). On the path a frame without
             obstacles, pulls and fixed vertices is at rest: the residual is 0,
             and `strain` tells how far edges are from their blended lengths
  area, volume, strain, inverted, contacts, and the linear blend beside them"
);

/// Blends poses of one mesh without shrinking.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Poses of one mesh: two for a clip between them, any number with --weights. Or one rig, with
    /// --weights of its sliders or with --clip.
    #[arg(value_name = "SHAPE", required = true, num_args = 1..)]
    shapes: Vec<String>,

    /// Steps from the first shape to the second. The clip has N + 1 frames.
    #[arg(long, value_name = "N", default_value_t = 36, conflicts_with = "weights", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    steps: u32,

    /// Write one mesh instead of a clip: a weight for each shape, with a sum of 1, or NAME=W for
    /// sliders of a rig.
    #[arg(long, value_name = "W,W…", allow_hyphen_values = true, value_delimiter = ',', value_parser = parse_weight)]
    pub(super) weights: Vec<WeightArg>,

    /// Play the clip of a rig: its slider weights in each frame.
    #[arg(long, conflicts_with_all = ["weights", "steps"])]
    clip: bool,

    /// Solver of the equilibrium [default: fast]. Without --energy, a named solver selects the
    /// springs of Ma et al. 2012.
    #[arg(long, value_enum)]
    solver: Option<SolverArg>,

    /// Energy terms (see below) [default: path, or springs with --solver].
    #[arg(long, value_name = "TERM,TERM…")]
    energy: Option<EnergyTerms>,

    /// Whether closed shapes get interior points.
    #[arg(long, value_enum, default_value_t = InteriorArg::Auto)]
    interior: InteriorArg,

    /// Rigid support that removes the rigid motion: the middle of the shape, or the surroundings
    /// of these vertices.
    #[arg(long, value_name = "auto|V,V…", default_value = "auto", value_parser = parse_anchor)]
    anchor: Anchor,

    /// Vertices that move linearly between the shapes; they replace the anchor. Parts that rotate
    /// shrink there.
    #[arg(
        long,
        value_name = "V,V…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    fix: Vec<usize>,

    /// Vertex and the position at which it is held, in asset units. Repeat for more pulls.
    #[arg(long, value_name = "V:x,y,z", allow_hyphen_values = true, value_parser = parse_pull_to)]
    pull: Vec<(usize, DVec3)>,

    /// Solid that the shape does not enter (see Solids below). Repeat for more obstacles.
    #[arg(long, value_name = VALUE_NAME, allow_hyphen_values = true, value_parser = parse_obstacle)]
    pub(super) obstacle: Vec<ObstacleArg>,

    /// Coulomb friction at obstacles.
    #[arg(long, value_name = "MU", default_value_t = 0.0, allow_hyphen_values = true, value_parser = friction)]
    pub(super) friction: f64,

    /// Contact method at obstacles.
    #[arg(long, value_enum, default_value_t = ContactArg::Active)]
    contact: ContactArg,

    /// Keep parts of the surface out of each other.
    #[arg(long)]
    pub(super) self_contact: bool,

    /// Stiffness of the surface: a file with a positive number for each vertex (only ratios
    /// matter), or `color` for the vertex colours of the first shape. White is ten times stiffer
    /// than mid-grey, black ten times softer.
    #[arg(long, value_name = "FILE.npy|color", value_parser = parse_stiffness)]
    stiffness: Option<StiffnessArg>,

    /// Number of vertices to solve while the others follow. `auto` takes 3000 for meshes of more
    /// than 50 000 vertices, `none` solves all vertices.
    #[arg(long, value_name = "auto|none|N", default_value = "auto", value_parser = parse_cage)]
    cage: CageSize,

    #[command(flatten)]
    target_normals: TargetNormalsArgs,

    /// File for the clip (.glb, .usda, .mdd, .pc2, .frames.npy), or with --weights for the mesh
    /// (.obj, .ply, .glb …).
    #[arg(long, value_name = "CLIP")]
    pub(super) out: PathBuf,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    piece: PieceArgs,
}

/// A weight of a shape, or of a slider by its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WeightArg {
    Shape(f64),
    Slider(String, f64),
}

/// What is blended: shapes, or the shapes of a rig.
enum Source {
    Shapes(Box<SceneBlend>),
    Rig(Box<RigBlend>),
}

impl Source {
    fn scene(&self) -> &SceneBlend {
        match self {
            Self::Shapes(scene) => scene,
            Self::Rig(rig) => rig.scene(),
        }
    }

    /// The frame at weights of shapes, or of sliders.
    fn step(&mut self, weights: &[f64], time: f64) -> Result<ContactFrame, PhysicsError> {
        match self {
            Self::Shapes(scene) => scene.step(weights, time),
            Self::Rig(rig) => rig.step(weights, time),
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum SolverArg {
    /// Predictor and local refinement, to a residual of 1e-3.
    Fast,
    /// The same, to 1e-6.
    Tight,
    /// Newton-Raphson (Ma et al. 2012), to 1e-6.
    Newton,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum InteriorArg {
    /// Interior points, and springs between them.
    Auto,
    /// No points: interior springs join vertices of the surface (Ma et al. 2012).
    None,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ContactArg {
    /// Active set: vertices cannot enter, and slide and leave freely.
    Active,
    /// Vertices that entered are fixed on the surface of the obstacle, without friction
    /// (Ma et al. 2012).
    #[value(name = "paper")]
    Ma2012,
}

/// The vertices around which a shape is supported; none for its middle.
#[derive(Debug, Clone, Default)]
struct Anchor(Vec<usize>);

/// The shapes of a blend.
struct Shapes {
    assets: Vec<Asset>,
    meshes: Vec<Mesh>,
}

pub(crate) fn run(args: &Args, invocation: &Invocation, console: &Console) -> Result<(), Failure> {
    args.require_consistent()?;
    run_piece(&args.piece, invocation, &args.out, console, || {
        args.make(console)
    })
}

/// Number of frames of the whole result; none for a single mesh.
pub(crate) fn frame_count(args: &Args) -> Result<Option<usize>, Failure> {
    args.require_consistent()?;
    let shapes = args.open()?;
    let weights = args.frame_weights(&shapes.assets[0])?;
    Ok(args.is_clip().then_some(weights.len()))
}

/// The blend whose pieces these are.
pub(crate) fn join(args: &Args, pieces: &JoinedPieces) -> Result<JoinedResult, Failure> {
    let shapes = args.open()?;
    let positions = pieces.positions()?;
    let piece = BlendPiece::join(pieces, pieces.contents()?)?;
    let (report, summary, warnings) = args.finish(&shapes, &piece, &positions)?;
    Ok(JoinedResult {
        report: JoinedReport::Blend(Box::new(report)),
        summary,
        warnings,
    })
}

impl Args {
    fn open(&self) -> Result<Shapes, Failure> {
        let mut assets: Vec<Asset> = Vec::with_capacity(self.shapes.len());
        for shape in &self.shapes {
            // Shapes of other files may be in another unit than the first one.
            let asset = pliant_io::load(shape, &source::options(None))?;
            let asset = match assets.first() {
                Some(first) => asset.in_space_of(first).into_owned(),
                None => asset,
            };
            assets.push(asset);
        }
        let meshes = assets
            .iter()
            .map(Asset::mesh)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Shapes { assets, meshes })
    }

    /// The selected frames, with their output written.
    fn make(&self, console: &Console) -> Result<Made<BlendReport>, Failure> {
        let shapes = self.open()?;
        let Shapes { assets, meshes } = &shapes;
        // All shapes have the layout of the first one, which also gives names and materials.
        self.require_writable(&assets[0], &meshes[0])?;

        let options = self.options(&assets[0], &meshes[0])?;
        let weights = self.frame_weights(&assets[0])?;
        let frames = self.piece.frames_of(weights.len())?;
        let bar = console.progress_bar();
        let start = Instant::now();
        let mut source = self.prepare(&assets[0], meshes, &options, &weights, &bar)?;
        let mut piece = BlendPiece::new(source.scene(), milliseconds_since(start));
        let positions = self.solve(&mut source, &weights, &frames, &mut piece, &bar)?;
        drop(bar);

        let (report, summary, warnings) = self.finish(&shapes, &piece, &positions)?;
        let exact = self.piece.writes_manifest();
        Ok(Made {
            report,
            summary,
            warnings,
            piece: PieceContent {
                frames,
                whole: weights.len(),
                content: content(&piece),
                exact: exact.then(|| exact_positions(&positions)),
            },
        })
    }

    /// Writes the frames; returns report, summary and warnings.
    fn finish(
        &self,
        shapes: &Shapes,
        piece: &BlendPiece,
        positions: &[Vec<DVec3>],
    ) -> Result<(BlendReport, String, Vec<String>), Failure> {
        let assets = &shapes.assets;
        let blend = SolvedBlend {
            args: self,
            meshes: &shapes.meshes,
            piece,
            positions,
        };
        let mut warnings: Vec<String> = assets
            .iter()
            .flat_map(|asset| asset.warnings.clone())
            .collect();
        warnings.extend(blend.warnings());
        for obstacle in &self.obstacle {
            warnings.extend(obstacle.size_warning("the size of an --obstacle,", &assets[0]));
        }

        let result = self.result(&assets[0], positions)?;
        let result = self.target_normals.apply(result);
        let saved = output::save_asset(&result, &self.out, &mut warnings)?;
        Ok((blend.report(saved), blend.summary(), warnings))
    }

    /// Whether the frames lead from one shape to another.
    pub(super) fn is_path(&self) -> bool {
        self.is_clip() && !self.is_rig()
    }

    /// Whether the result is a clip, not a single mesh.
    pub(super) fn is_clip(&self) -> bool {
        self.weights.is_empty()
    }

    /// Whether the shapes are those of a rig.
    pub(super) fn is_rig(&self) -> bool {
        self.shapes.len() == 1
    }

    /// The solver of the equilibrium.
    pub(super) fn solver(&self) -> SolverArg {
        self.solver.unwrap_or(SolverArg::Fast)
    }

    /// The energy terms. A solver that is named without them is that of blended rest lengths.
    pub(super) fn energy(&self) -> EnergyTerms {
        self.energy.unwrap_or_else(|| match self.solver {
            Some(_) => EnergyTerms::springs(),
            None => EnergyTerms::path(),
        })
    }

    /// Refuses options that exclude each other.
    fn require_consistent(&self) -> Result<(), Failure> {
        if !self.is_clip() {
            refuse_frames(&self.piece, "--weights gives one mesh")?;
        }
        if self.is_rig() && self.weights.is_empty() && !self.clip {
            return Err(Failure::usage(
                "a clip needs two shapes, and there is one; give a second one, or for a rig --weights NAME=W or --clip",
            ));
        }
        if self.clip && !self.is_rig() {
            return Err(Failure::usage(format!(
                "--clip plays the clip of one rig, and there are {} shapes; give one",
                self.shapes.len()
            )));
        }
        let names_sliders = |weight: &WeightArg| matches!(weight, WeightArg::Slider(..));
        if let Some(weight) = self
            .weights
            .iter()
            .find(|weight| names_sliders(weight) != self.is_rig())
        {
            return Err(Failure::usage(match weight {
                WeightArg::Slider(name, _) => format!(
                    "--weights {name}=… names a slider of a rig, and there are {} shapes; give one rig, or a number for each shape",
                    self.shapes.len()
                ),
                WeightArg::Shape(value) => format!(
                    "--weights {value} is for several shapes, and there is one; for a rig give NAME=W"
                ),
            }));
        }
        if self.is_clip() && !self.is_rig() && self.shapes.len() != 2 {
            return Err(Failure::usage(format!(
                "a clip needs two shapes, and there are {}; give --weights, one for each shape",
                self.shapes.len()
            )));
        }
        if self.self_contact && matches!(self.contact, ContactArg::Ma2012) {
            return Err(Failure::usage(
                "--contact paper does not support --self-contact; leave out one of them",
            ));
        }

        // Two positions for one vertex contradict each other.
        for (k, (vertex, _)) in self.pull.iter().enumerate() {
            if self.pull[..k].iter().any(|(earlier, _)| earlier == vertex) {
                return Err(Failure::usage(format!(
                    "vertex {vertex} is pulled to two positions; give it one --pull"
                )));
            }
        }
        Ok(())
    }

    /// Reports a format that cannot be written before the solve, not after it.
    fn require_writable(&self, first: &Asset, mesh: &Mesh) -> Result<(), Failure> {
        if self.is_clip() {
            output::require_clip_format(&self.out)?;
        }

        // A clip of one frame has everything that the format must store.
        let result = self.result(first, &[mesh.positions().to_vec()])?;
        pliant_io::plan_save(&result, &self.out)?;
        Ok(())
    }

    fn options(&self, asset: &Asset, first: &Mesh) -> Result<SceneOptions, Failure> {
        let contact = ContactOptions::default()
            .with_method(self.contact.into())
            .with_friction(self.friction)
            .with_self_contact(self.self_contact);
        let mut options = SceneOptions::default()
            .with_blend(self.blend_options(first)?)
            .with_cage(self.cage)
            .with_contact(contact);

        for obstacle in &self.obstacle {
            let moving = obstacle.load(asset)?;
            // The clip of an obstacle lasts from the first frame of the blend to the last.
            options = options.with_obstacle(moving.obstacle, moving.motion.with_duration(1.0));
        }
        Ok(options)
    }

    fn blend_options(&self, first: &Mesh) -> Result<BlendOptions, Failure> {
        let options = BlendOptions::default()
            .with_solver(self.solver().into())
            .with_energy(self.energy())
            .with_interior(self.interior.into())
            .with_anchor(self.anchor.0.clone())
            .with_fixed(self.fix.clone())
            .with_pulls(self.pull.clone());
        match &self.stiffness {
            None => Ok(options),
            Some(stiffness) => Ok(options.with_stiffness(stiffness.load(first, &self.shapes[0])?)),
        }
    }

    fn prepare(
        &self,
        asset: &Asset,
        meshes: &[Mesh],
        options: &SceneOptions,
        weights: &[Vec<f64>],
        bar: &Bar,
    ) -> Result<Source, Failure> {
        let _ = bar.report("filling the interior", 0.0);
        if self.is_rig() {
            let rig = RigBlend::for_poses(asset.rig()?, weights, options)
                .map_err(|error| self.about(&error))?;
            return Ok(Source::Rig(Box::new(rig)));
        }
        let mut scene = SceneBlend::new(meshes, options).map_err(|error| self.about(&error))?;

        // The predictor interpolates between samples along the whole path.
        let _ = bar.report("sampling the path", 0.0);
        scene
            .prepare_frames(weights.len())
            .map_err(|error| self.about(&error))?;
        Ok(Source::Shapes(Box::new(scene)))
    }

    /// The weights of every frame: of shapes, or of the sliders of a rig.
    fn frame_weights(&self, asset: &Asset) -> Result<Vec<Vec<f64>>, Failure> {
        if self.is_rig() {
            return self.slider_weights(asset);
        }
        if !self.is_clip() {
            let weight = |weight: &WeightArg| match weight {
                WeightArg::Shape(weight) | WeightArg::Slider(_, weight) => *weight,
            };
            return Ok(vec![self.weights.iter().map(weight).collect()]);
        }

        let path = WeightPath::OneWay {
            shapes: 2,
            steps: self.steps,
        };
        Ok(path.frames().collect())
    }

    /// The weights of the sliders of a rig, from the command line or from its clip.
    fn slider_weights(&self, asset: &Asset) -> Result<Vec<Vec<f64>>, Failure> {
        let rig = asset.rig()?;
        if rig.targets().is_empty() {
            return Err(Failure::new(format!(
                "{}: it has no sliders to blend; give a rig with targets, or two shapes",
                self.shapes[0]
            )));
        }
        if !self.clip {
            let mut named = Vec::new();
            for weight in &self.weights {
                if let WeightArg::Slider(name, value) = weight {
                    named.push((name.clone(), *value));
                }
            }
            let weights =
                slider_weights::choose(&rig, &asset.presets, None, &named, &self.shapes[0])?;
            return Ok(vec![weights]);
        }

        let performance = asset.performance()?;
        let mut frames = vec![vec![0.0; rig.targets().len()]; performance.frame_count()];
        for channel in performance.channels() {
            let slider = rig
                .slider_named(&channel.name)
                .map_err(|error| Failure::about(&self.shapes[0], &error))?;
            for (frame, value) in frames.iter_mut().zip(&channel.values) {
                frame[slider.index()] = *value;
            }
        }
        Ok(frames)
    }

    /// The positions of the selected frames; their figures are added to `piece`.
    fn solve(
        &self,
        source: &mut Source,
        all: &[Vec<f64>],
        selected: &[usize],
        piece: &mut BlendPiece,
        bar: &Bar,
    ) -> Result<Vec<Vec<DVec3>>, Failure> {
        // Obstacles move from time 0 at the first frame to time 1 at the last.
        let last = (all.len().max(2) - 1) as f64;
        let steps = source.scene().steps_for(selected);
        let mut positions = Vec::with_capacity(selected.len());
        for (done, &k) in steps.iter().enumerate() {
            let _ = bar.report("solving", done as f64 / steps.len() as f64);
            let start = Instant::now();
            let frame = source
                .step(&all[k], k as f64 / last)
                .map_err(|error| self.about(&error))?;
            if selected.binary_search(&k).is_ok() {
                piece.add(FrameFigures::new(
                    k,
                    &frame,
                    self,
                    milliseconds_since(start),
                ));
                positions.push(frame.shape.positions);
            }
        }
        Ok(positions)
    }

    /// The asset of the first shape with the frames as its clip, or posed as the only frame.
    fn result(&self, first: &Asset, frames: &[Vec<DVec3>]) -> Result<Asset, Failure> {
        if !self.is_clip() {
            return Ok(first.posed(&frames[0])?);
        }

        // Clips of the input do not belong to the blend; the first shape is its rest pose.
        let still = first.posed(first.mesh()?.positions())?;
        let mut animation = Animation::new("blend", frames.len());
        if let Some(played) = first.clips.first().filter(|_| self.clip) {
            animation.frames_per_second = played.frames_per_second;
        }
        Ok(still.with_point_clip(animation, frames)?)
    }

    /// An error after the file or shape that it is about; the first shape where it is about all.
    fn about(&self, error: &PhysicsError) -> Failure {
        // A wrong stiffness is the fault of its file, not of a shape.
        let is_stiffness = matches!(
            error,
            PhysicsError::Stiffness { .. } | PhysicsError::PerVertex { .. }
        );
        match &self.stiffness {
            Some(StiffnessArg::File(path)) if is_stiffness => Failure::about(path.display(), error),
            _ => {
                let shape = error.shape().and_then(|shape| self.shapes.get(shape));
                Failure::about(shape.unwrap_or(&self.shapes[0]), error)
            }
        }
    }
}

fn parse_weight(text: &str) -> Result<WeightArg, String> {
    if text.contains('=') {
        let (name, weight) = slider_weights::parse_weight(text)?;
        return Ok(WeightArg::Slider(name, weight));
    }
    finite(text).map(WeightArg::Shape).map_err(|_| {
        format!("'{text}' is not a weight; give one number for each shape, as in 0.5,0.5, or smile=0.5 for a rig")
    })
}

fn parse_anchor(text: &str) -> Result<Anchor, String> {
    if text == "auto" {
        return Ok(Anchor::default());
    }

    let vertices: Option<Vec<usize>> = text
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect();
    vertices
        .map(Anchor)
        .ok_or_else(|| format!("'{text}' is neither auto nor a list of vertices such as 4,17,32"))
}

impl From<SolverArg> for Solver {
    fn from(solver: SolverArg) -> Self {
        match solver {
            SolverArg::Fast => Self::Fast,
            SolverArg::Tight => Self::Tight,
            SolverArg::Newton => Self::Newton,
        }
    }
}

impl From<InteriorArg> for InteriorOptions {
    fn from(interior: InteriorArg) -> Self {
        match interior {
            InteriorArg::Auto => Self::default(),
            InteriorArg::None => Self::default().with_points(InteriorPoints::None),
        }
    }
}

impl From<ContactArg> for ContactMethod {
    fn from(contact: ContactArg) -> Self {
        match contact {
            ContactArg::Active => ContactMethod::ActiveSet,
            ContactArg::Ma2012 => ContactMethod::Ma2012,
        }
    }
}
