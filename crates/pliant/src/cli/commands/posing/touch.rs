//! `pliant touch`: a soft patch of a surface under colliders and pulls.

use std::path::PathBuf;

use pliant::physics::TouchedClip;
use pliant::physics::{TouchCollider, TouchEnding, TouchError, TouchJob};
use pliant_io::{Animation, Asset, Format};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_physics::{Collider, SoftPatch, TouchOptions};
use pliant_rig::{RigError, Target};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::bake::BakeArgs;
use crate::cli::args::number::{finite, frame_rate, friction, non_negative};
use crate::cli::args::obstacle::{
    MovingObstacle, ObstacleArg, VALUE_NAME, parse_obstacle, solids_help,
};
use crate::cli::args::place::{Place, Places, parse_place};
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::slider_weights::{self, parse_weight};
use crate::cli::args::source::{self, PosedSurface};
use crate::cli::args::target_normals::TargetNormalsArgs;
use crate::cli::args::touch_material::MaterialArgs;
use crate::cli::args::touch_method::MethodArgs;
use crate::cli::args::vertex::{parse_displacement, parse_pull_by};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::interrupt::Interruptible;
use crate::cli::report::output::{self, SavedAsset};

const EXAMPLES: &str = concat!(
    "\
Examples:
  # A ball presses a cheek and leaves it; the skin settles for a second
  pliant touch specimen:head --center 2134 --radius 4 \\
      --collider sphere:6,-3.2,9.7,1.5 --toward -0.7,-0.2,-1.35 \\
      --settle 1 --out cheek.glb

  # The same in half the space: few targets whose weights move
  pliant touch specimen:head --center 2134 --radius 4 \\
      --collider sphere:6,-3.2,9.7,1.5 --toward -0.7,-0.2,-1.35 \\
      --bake shapes --out small.glb

  # A picture of the deepest dent
  pliant render cheek.glb --frame 30 --out dent.png

  # A finger pushes the chin, drags the skin along and stays
  pliant touch specimen:head --center 1083 --radius 4 --friction 0.6 \\
      --collider capsule:0,-9.4,13.2,0.5,-9.4,10,0.9 \\
      --toward 0.7,0.8,-1.35 --hold --out chin.glb

  # Two patches and two balls
  pliant touch specimen:head --center 2134 --center 9457 --radius 4 \\
      --collider sphere:6,-3.2,9.7,1.5 --toward -0.7,-0.2,-1.35 \\
      --collider sphere:-6,-3.2,9.7,1.5 --toward 0.7,-0.2,-1.35 \\
      --out cheeks.glb

  # Skin that is pulled between two fingers and released
  pliant touch specimen:head --center 2134 --radius 4 \\
      --pull 2134:0.4,-0.2,0.7 --let-go --roundness 0.3 --settle 1 \\
      --out pluck.glb

  # A chin that lags behind the jaw and oscillates
  pliant touch specimen:head#performance --animate --center 1083 \\
      --radius 4 --inertia 1 --out jiggle.glb

  # The deepest dent as a new target of the rig
  pliant touch specimen:head --weights jawOpen=0.7 --center 1083 \\
      --radius 4 --collider sphere:0,-10.9,9.5,1.5 --toward 0,0.1,-2.2 \\
      --as-target chinPress --out rig.usda

  # A body in frame 12 of its walk, as its joints pose it
  pliant touch walk.glb@12 --center 812 --radius 0.2 \\
      --collider sphere:0.4,1.1,0.3,0.1 --toward -0.1,0,-0.1 --out poke.glb

  # A closed mesh that moves as its own clip
  pliant touch body.obj --center 812 --radius 0.2 \\
      --collider fist.glb --out punch.mdd

  # A softer material that oscillates longer
  pliant touch specimen:head --center 2134 --radius 4 \\
      --collider sphere:6,-3.2,9.7,1.5 --toward -0.7,-0.2,-1.35 \\
      --frequency 2.5 --damping 0.1 --settle 2 --out jelly.glb

  # A picture of distances, to choose a radius
  pliant geodesic specimen:head --from 2134 --out d.npy
  pliant render specimen:head --scalar d.npy --isolines 1 --out d.png

Soft patch:
  A patch is the geodesic disc of the radius around a vertex. It is soft in
  the middle and stiffer towards its rim. Vertices outside do not change by a
  bit. The skin returns to the shape of the surface: the mesh, the pose of the
  rig, or with --animate the clip at its own speed.

Motion:
  In frame i of N, colliders and pulls are at 1 - |2i/(N-1) - 1| of their
  displacement: there and back. --toward belongs to the colliders in their
  order; give 0,0,0 for a collider that stays before one that moves.

Contact:
  No soft vertex ends inside a collider. Exceptions are pinned and pulled
  vertices, vertices between two colliders, and --method verlet. Parts of a
  collider inside the surface beside the patches are reported. Only vertices
  collide, so a collider should be larger than an edge.

",
    solids_help!(),
    "

Report:
  `pliant schema touch` describes the keys of --json."
);

/// Simulates soft patches that are pressed and pulled.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Surface: a mesh, a rig or a clip.
    asset: String,

    /// Vertex at the centre of a soft patch, or a landmark such as 'cheek left'. Repeat for more
    /// patches.
    #[arg(long, value_name = "V", required = true, allow_negative_numbers = true, value_parser = parse_place)]
    center: Vec<Place>,

    /// Geodesic radius of the patch, in asset units. Give one for all patches, or one for each.
    #[arg(long, value_name = "R", required = true, allow_negative_numbers = true)]
    radius: Vec<f64>,

    /// Solid that presses on the surface (see Solids below). Repeat for more colliders.
    #[arg(long, value_name = VALUE_NAME, allow_hyphen_values = true, value_parser = parse_obstacle)]
    collider: Vec<ObstacleArg>,

    /// Displacement of a collider, there and back, in asset units. Give one for each collider in
    /// order [default: 0,0,0].
    #[arg(long, value_name = "dx,dy,dz", allow_hyphen_values = true, value_parser = parse_displacement)]
    toward: Vec<DVec3>,

    /// Coulomb friction between skin and colliders: 0 slides, 1 drags the skin along.
    #[arg(long, value_name = "MU", default_value_t = 0.0, allow_hyphen_values = true, value_parser = friction)]
    friction: f64,

    /// Soft vertex and its displacement, there and back, in asset units. Repeat for more pulls.
    #[arg(long, value_name = "V:dx,dy,dz", allow_hyphen_values = true, value_parser = parse_pull_by)]
    pull: Vec<(usize, DVec3)>,

    /// Colliders and pulls stay at the end of their displacement instead of going back.
    #[arg(long)]
    hold: bool,

    /// Pulls release the skin at the end of their displacement instead of going back.
    #[arg(long, conflicts_with = "hold")]
    let_go: bool,

    /// Soft vertices that stay at their positions.
    #[arg(long, value_name = "V,V…", value_delimiter = ',')]
    pin: Vec<usize>,

    /// Acceleration of the soft vertices, in asset units per second squared: 0,-981,0 for
    /// centimetres.
    #[arg(long, value_name = "x,y,z", default_value = "0,0,0", allow_hyphen_values = true, value_parser = parse_displacement)]
    gravity: DVec3,

    /// How much soft vertices lag behind an animated surface: 0 follows it exactly, 1 has the full
    /// inertia of its mass.
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_hyphen_values = true, requires = "animate", value_parser = finite)]
    inertia: f64,

    /// Number of frames [default: 61, or the length of --animate or of a collider's clip].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    frames: Option<u32>,

    /// Seconds to simulate after these frames, while the surface comes to rest.
    #[arg(long, value_name = "SECS", default_value_t = 0.0, allow_negative_numbers = true, value_parser = non_negative)]
    settle: f64,

    /// Frames per second.
    #[arg(long, value_name = "F", default_value_t = TouchJob::DEFAULT_FPS, allow_negative_numbers = true, value_parser = frame_rate)]
    fps: f64,

    /// Play the clip of the asset: the skin returns to its shape in each frame.
    #[arg(long, conflicts_with_all = ["weights", "weights_in"])]
    animate: bool,

    /// Pose of the rig: weights of sliders and presets.
    #[arg(long, value_name = "NAME=W,…", value_delimiter = ',', value_parser = parse_weight)]
    weights: Vec<(String, f64)>,

    /// File with the pose of the rig, as `pose --weights-out` writes it.
    #[arg(long, value_name = "FILE.json", conflicts_with = "weights")]
    weights_in: Option<PathBuf>,

    /// Write the rig with one frame as a new target of this name, instead of a clip.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    as_target: Option<String>,

    /// Frame for --as-target [default: the frame with the largest displacement].
    #[arg(long, value_name = "FRAME", requires = "as_target")]
    at: Option<usize>,

    /// Keep the skin out of other components (teeth, eyes), and lips and lids out of each other.
    #[arg(long)]
    self_contact: bool,

    /// File for the clip (.glb, .usda, .mdd, .pc2, .frames.npy), or with --as-target for the rig
    /// (.glb, .usda).
    #[arg(long, value_name = "CLIP")]
    out: PathBuf,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    bake: BakeArgs,

    #[command(flatten)]
    target_normals: TargetNormalsArgs,

    // Last, because their headings hold for all options after them.
    #[command(flatten)]
    method: MethodArgs,

    #[command(flatten)]
    material: MaterialArgs,
}

/// The report of `pliant touch`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TouchReport {
    /// Number of frames.
    frames: usize,
    /// Frames per second.
    fps: f64,
    /// Vertices of the mesh.
    vertices: usize,
    /// Vertices of the soft patches.
    patch_vertices: usize,
    /// Largest penetration of a soft vertex into a collider, in asset units.
    max_penetration: f64,
    /// Largest penetration of a face with a soft corner into a collider, in asset units.
    max_face_penetration: f64,
    /// Largest relative change of the length of an edge.
    max_strain: f64,
    /// Largest displacement of a soft vertex, in asset units.
    max_displacement: f64,
    /// The frame of that displacement.
    furthest_frame: usize,
    /// Largest displacement that remains in the last frame; null without a frame.
    last_displacement: Option<f64>,
    /// Most contacts of a frame; null without a frame.
    contacts: Option<usize>,
    /// Most substeps of a frame; null without a frame.
    substeps: Option<usize>,
    /// Time to select the patches, in milliseconds.
    select_ms: f64,
    /// Mean time of a frame, in milliseconds.
    step_ms: f64,
    /// The new target; absent without `--as-target`.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetReport>,
    #[serde(flatten)]
    saved: SavedAsset,
}

/// A target made from a frame.
#[derive(Debug, Serialize, JsonSchema)]
struct TargetReport {
    name: String,
    /// The frame that became the target.
    frame: usize,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    args.require_consistent()?;
    let mut surface = source::load_posed_surface(&args.asset, &args.settings)?;
    if args.animate && surface.is_frame {
        return Err(Failure::usage(
            "--animate plays the whole clip; remove it, or the @FRAME of the asset",
        ));
    }

    let places = Places::on(&surface.rig, &args.asset);
    let centers = places.vertices(&args.center)?;
    surface.asset.warnings.extend(places.warnings(&args.center));
    let touched = args.touched(&surface)?;
    let job = args.job(&surface.asset, touched.mesh.clone(), &centers)?;
    // A format that cannot be written is reported before the simulation, not after it.
    pliant_io::plan_save(&args.empty_result(&touched, &job)?, &args.out)?;

    let bar = console.progress_bar();
    let clip = job
        .run(&Interruptible::new(&bar))
        .map_err(|error| args.about(&error))?;
    drop(bar);

    let mut warnings = [
        &surface.asset.warnings[..],
        &touched.warnings,
        &args.warnings(&surface.asset),
        &clip.warnings(&job),
    ]
    .concat();

    let result = args.result(&touched, &job, &clip)?;
    let result = args.target_normals.apply(result);
    let saved = output::save_asset(&result, &args.out, &mut warnings)?;
    let report = args.report(&job, &clip, saved);
    console.print_summary(&report, &report.summary(), &warnings)
}

/// The surface of a touch before it begins.
struct TouchedSurface<'a> {
    surface: &'a PosedSurface,
    /// The weights of its sliders.
    weights: Vec<f64>,
    /// The surface at these weights, in its pose.
    mesh: Mesh,
    warnings: Vec<String>,
}

impl Args {
    /// Refuses options that exclude each other, and a patch that nothing moves.
    fn require_consistent(&self) -> Result<(), Failure> {
        let patches = self.center.len();
        let radii = self.radius.len();
        if radii != 1 && radii != patches {
            return Err(Failure::usage(format!(
                "{radii} --radius for {patches} --center; give one for all patches, or one for each"
            )));
        }

        let colliders = self.collider.len();
        let displacements = self.toward.len();
        if displacements > colliders {
            return Err(Failure::usage(format!(
                "{displacements} --toward for {colliders} --collider; give at most one for each collider"
            )));
        }

        // Without any cause of motion every frame would be the input.
        let has_force = self.gravity != DVec3::ZERO || self.inertia != 0.0;
        if colliders == 0 && self.pull.is_empty() && !has_force {
            return Err(Failure::usage(
                "nothing touches the patch; give --collider with --toward, --pull, --gravity, or --animate with --inertia",
            ));
        }

        self.bake.require_targets(&self.out)?;
        self.method.require_consistent(&self.material.material())?;
        if self.as_target.is_some() {
            output::require_rig_format(&self.out)
        } else {
            output::require_clip_format(&self.out)
        }
    }

    /// The surface at the weights of the command line, or else of the frame.
    fn touched<'a>(&self, surface: &'a PosedSurface) -> Result<TouchedSurface<'a>, Failure> {
        let about = |error: RigError| Failure::about(&self.asset, &error);
        let PosedSurface { rig, pose, .. } = surface;
        let weights = if self.weights.is_empty() && self.weights_in.is_none() {
            pose.weights().to_vec()
        } else {
            slider_weights::choose(
                rig,
                &surface.asset.presets,
                self.weights_in.as_deref(),
                &self.weights,
                &self.asset,
            )?
        };

        let warnings = slider_weights::limit_warnings(rig, &weights);
        let mut mesh = rig.neutral().clone();
        if pose.is_moved() || weights.iter().any(|weight| *weight != 0.0) {
            let posed = pose.rig(rig).map_err(about)?;
            let positions = posed.evaluate(&weights);
            mesh = mesh
                .posed(positions)
                .map_err(|error| Failure::about(&self.asset, &error))?;
        }
        Ok(TouchedSurface {
            surface,
            weights,
            mesh,
            warnings: warnings.into_iter().collect(),
        })
    }

    fn job(&self, asset: &Asset, mesh: Mesh, centers: &[usize]) -> Result<TouchJob, Failure> {
        let animation = if self.animate {
            Some(asset.clip()?)
        } else {
            None
        };

        let ending = if self.hold {
            TouchEnding::Hold
        } else if self.let_go {
            TouchEnding::Release
        } else {
            TouchEnding::Return
        };

        Ok(TouchJob {
            animation,
            colliders: self.colliders(asset)?,
            pulls: self.pull.clone(),
            ending,
            options: self.options(),
            frames: self.frames.map(|frames| frames as usize),
            settle_secs: self.settle,
            fps: self.fps,
            ..TouchJob::new(mesh, self.patches(centers))
        })
    }

    fn patches(&self, centers: &[usize]) -> Vec<SoftPatch> {
        let mut patches = Vec::with_capacity(centers.len());
        for (k, &center) in centers.iter().enumerate() {
            // A single radius is that of all patches.
            let radius = self.radius[k.min(self.radius.len() - 1)];
            patches.push(SoftPatch {
                center: center.into(),
                radius,
            });
        }
        patches
    }

    fn colliders(&self, asset: &Asset) -> Result<Vec<TouchCollider>, Failure> {
        let mut colliders = Vec::with_capacity(self.collider.len());
        for (k, solid) in self.collider.iter().enumerate() {
            let MovingObstacle {
                obstacle,
                motion,
                secs,
            } = solid.load(asset)?;
            let collider = Collider::new(obstacle, self.friction)
                .map_err(|error| Failure::about("--friction", &error))?;
            colliders.push(TouchCollider {
                collider,
                motion,
                motion_secs: secs,
                displacement: self.toward.get(k).copied().unwrap_or_default(),
                timing: None,
                rides_on: None,
            });
        }
        Ok(colliders)
    }

    fn options(&self) -> TouchOptions {
        let options = TouchOptions::default()
            .with_material(self.material.material())
            .with_gravity(self.gravity)
            .with_inertia(self.inertia)
            .with_pins(self.pin.clone())
            .with_skin_contact(self.self_contact);
        self.method.apply(options)
    }

    /// The frame that becomes a target.
    fn target_frame(&self, clip: &TouchedClip) -> usize {
        self.at.unwrap_or_else(|| clip.furthest_frame())
    }

    /// The clip, or the rig with one more target.
    fn result(
        &self,
        touched: &TouchedSurface<'_>,
        job: &TouchJob,
        clip: &TouchedClip,
    ) -> Result<Asset, Failure> {
        let Some(name) = &self.as_target else {
            return self.clip_asset(touched, job, &clip.frames);
        };
        let frame = self.target_frame(clip);
        let target = job
            .target(clip, frame, name)
            .map_err(|error| self.about(&error))?;
        self.rig_asset(touched, job, frame, target)
    }

    /// What [`result`](Self::result) would be, before there is a clip: it tells whether the
    /// output can be written.
    fn empty_result(&self, touched: &TouchedSurface<'_>, job: &TouchJob) -> Result<Asset, Failure> {
        let Some(name) = &self.as_target else {
            return self.clip_asset(touched, job, &[job.shape(0).into_owned()]);
        };
        let targets = touched.surface.rig.targets();
        if targets.iter().any(|target| target.name == *name) {
            return Err(Failure::new(format!(
                "--as-target {name}: {} already has a target of this name; give another name",
                self.asset
            )));
        }

        let count = job.frame_count();
        if let Some(frame) = self.at.filter(|&frame| frame >= count) {
            return Err(Failure::new(format!(
                "--at {frame}: the touch has {count} frames, counted from 0"
            )));
        }

        // Any displacement will do: only the format is tested.
        let target = Target::from_dense(&**name, [Vec3::X]);
        self.rig_asset(touched, job, 0, target)
    }

    fn clip_asset(
        &self,
        touched: &TouchedSurface<'_>,
        job: &TouchJob,
        frames: &[Vec<DVec3>],
    ) -> Result<Asset, Failure> {
        // glTF plays shapes before joints, so that the character keeps its skeleton.
        let asset = &touched.surface.asset;
        let is_gltf = Format::of(&self.out).is_some_and(Format::is_gltf);
        let has_skin = asset.objects.iter().any(|object| object.skin.is_some());
        let keeps_rig = is_gltf && (asset.edits_its_file() || has_skin);
        let tolerance = self.bake.shape_tolerance(asset);
        if keeps_rig || tolerance.is_some() {
            let base = self.base_clip(touched, frames.len())?;
            let displaced: Vec<_> = (0..frames.len())
                .map(|frame| displacements(&job.shape(frame), &frames[frame]))
                .collect();
            let Some(tolerance) = tolerance else {
                return Ok(asset.with_displaced_clip(&base, &displaced)?);
            };
            let shaped = asset.with_shape_clip(&base, &displaced, tolerance)?;
            // A new file holds the clip alone, hence only the targets that it moves.
            return Ok(match keeps_rig {
                true => shaped,
                false => shaped.without_unused_targets()?,
            });
        }

        // A new file holds the clip alone; its mesh is the shape from which the touch starts.
        let mut animation = Animation::new("touch", 0);
        animation.frames_per_second = self.fps;
        let start = asset.posed(&job.shape(0))?;
        Ok(start.with_point_clip(animation, frames)?)
    }

    /// The clip that the touch displaces: that of the asset, or its pose held.
    fn base_clip(
        &self,
        touched: &TouchedSurface<'_>,
        frame_count: usize,
    ) -> Result<Animation, Failure> {
        let PosedSurface { asset, pose, .. } = touched.surface;
        let mut base = if self.animate {
            asset.only_clip()?.resampled(self.fps, frame_count)
        } else {
            pose.held_clip(asset, "touch", &touched.weights, frame_count)?
        };
        base.name = "touch".into();
        base.frames_per_second = self.fps;
        Ok(base)
    }

    /// The rig with one more target. In the target, joints have not yet moved the displacements.
    fn rig_asset(
        &self,
        touched: &TouchedSurface<'_>,
        job: &TouchJob,
        frame: usize,
        target: Target,
    ) -> Result<Asset, Failure> {
        let PosedSurface {
            asset, rig, pose, ..
        } = touched.surface;
        let target = if self.animate {
            let base = self.base_clip(touched, job.frame_count())?;
            let mut moving = asset.clone();
            moving.clips = vec![base];
            moving.pose_at(frame)?.unposed(&target)
        } else {
            pose.unposed(&target)
        };

        let mut targets = rig.targets().to_vec();
        targets.push(target);
        let extended = rig
            .with_targets(targets)
            .map_err(|error| Failure::about(&self.asset, &error))?;
        Ok(asset.with_targets(extended.targets())?)
    }

    fn report(&self, job: &TouchJob, clip: &TouchedClip, saved: SavedAsset) -> TouchReport {
        let reports = &clip.reports;

        let target = self.as_target.as_ref().map(|name| TargetReport {
            name: name.clone(),
            frame: self.target_frame(clip),
        });
        TouchReport {
            frames: clip.frames.len(),
            fps: self.fps,
            vertices: job.mesh.vertex_count(),
            patch_vertices: clip.patch_vertices,
            max_penetration: clip.max_penetration(),
            max_face_penetration: clip.max_face_penetration(),
            max_strain: clip.max_strain(),
            max_displacement: clip.max_displacement(),
            furthest_frame: clip.furthest_frame(),
            last_displacement: reports.last().map(|report| report.max_displacement),
            contacts: reports.iter().map(|report| report.contacts).max(),
            substeps: reports.iter().map(|report| report.substeps).max(),
            select_ms: clip.select_ms,
            step_ms: clip.step_ms,
            target,
            saved,
        }
    }

    /// Warnings about the asset and the options.
    fn warnings(&self, asset: &Asset) -> Vec<String> {
        let mut warnings = Vec::new();
        // The neutral of a rig is meant as a still shape; a clip without sliders rather moves.
        if !self.animate && !asset.clips.is_empty() && asset.target_names().is_empty() {
            warnings.push(
                "the clip is not played; use --animate to play it, or ASSET@N for one frame".into(),
            );
        }

        for &radius in &self.radius {
            warnings.extend(asset.length_warning("--radius", radius));
        }
        for solid in &self.collider {
            warnings.extend(solid.size_warning("the size of a --collider,", asset));
        }
        if self.friction > 0.0 && self.collider.is_empty() {
            warnings.push("--friction has no effect without a --collider".into());
        }
        warnings
    }

    fn about(&self, error: &TouchError) -> Failure {
        Failure::about(&self.asset, error)
    }
}

/// The vertices that differ between two lists of positions, with their displacements.
fn displacements(from: &[DVec3], to: &[DVec3]) -> Vec<(u32, DVec3)> {
    (0..)
        .zip(from.iter().zip(to))
        .filter(|(_, (from, to))| from != to)
        .map(|(vertex, (from, to))| (vertex, *to - *from))
        .collect()
}

impl TouchReport {
    fn summary(&self) -> String {
        let content = match &self.target {
            Some(TargetReport { name, frame }) => format!("frame {frame} as target '{name}'"),
            None => "the clip".into(),
        };
        format!(
            "{} frames; {} of {} vertices are soft\n  largest displacement {:.4} in frame {}; at most {} contact(s), penetration up to {:.1e} (faces {:.1e})\n  \
             selected in {:.1} ms, {:.2} ms per frame\nwrote {content} to {}\n",
            self.frames,
            self.patch_vertices,
            self.vertices,
            self.max_displacement,
            self.furthest_frame,
            self.contacts.unwrap_or(0),
            self.max_penetration,
            self.max_face_penetration,
            self.select_ms,
            self.step_ms,
            self.saved.out
        )
    }
}
