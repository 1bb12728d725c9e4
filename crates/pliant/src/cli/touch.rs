//! `pliant touch`.

use std::path::PathBuf;

use pliant::touch_job::{Stroke, TouchCollider, TouchError, TouchJob};
use pliant::touched_clip::TouchedClip;
use pliant_io::{Animation, Asset};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_physics::{Collider, SoftPatch, TouchOptions, TouchReport};
use pliant_rig::{Rig, Target};
use serde_json::{Map, Value, json};

use super::blend::parse_friction;
use super::console::Console;
use super::failure::Failure;
use super::obstacle::{ObstacleArg, parse_obstacle};
use super::pose::vertex_and_triple;
use super::render::parse_weight;
use super::resumable::Interruptible;
use super::solver::from_zero;
use super::touch_material::MaterialArgs;
use super::touch_method::MethodArgs;
use super::{edited, output, slider_weights, source};

const EXAMPLES: &str = "\
Examples:
  pliant touch specimen:head --center 2134 --radius 4 --collider sphere:6,-3.2,9.7,1.5 \\
      --toward -0.7,-0.2,-1.35 --settle 1 --out cheek.glb
                                      a ball presses a cheek and leaves it; a second later it has settled
  pliant render cheek.glb --frame 30 --out dent.png
                                      look at the turn
  pliant touch specimen:head --center 1083 --radius 4 --friction 0.6 --hold \\
      --collider capsule:0,-9.4,13.2,0.5,-9.4,10,0.9 --toward 0.7,0.8,-1.35 --out chin.glb
                                      a finger pushes the chin, drags the skin along and stays
  pliant touch specimen:head --center 2134 --center 9457 --radius 4 \\
      --collider sphere:6,-3.2,9.7,1.5 --toward -0.7,-0.2,-1.35 \\
      --collider sphere:-6,-3.2,9.7,1.5 --toward 0.7,-0.2,-1.35 --out cheeks.glb
                                      two patches, two balls
  pliant touch specimen:head --center 2134 --radius 4 --pull 2134:0.4,-0.2,0.7 --let-go --roundness 0.3 \\
      --settle 1 --out pluck.glb      skin between two fingers, pulled and let go; more roundness, a blunter tip
  pliant touch specimen:head#performance --animate --center 1083 --radius 4 --inertia 1 --out jiggle.glb
                                      a chin that lags behind the jaw and swings
  pliant touch specimen:head --weights jawOpen=0.7 --center 1083 --radius 4 --collider sphere:0,-10.9,9.5,1.5 \\
      --toward 0,0.1,-2.2 --as-target chinPress --out rig.usda
                                      the deepest dent as one more slider of the rig
  pliant touch body.obj --center 812 --radius 0.2 --collider fist.glb --out punch.mdd
                                      a closed mesh that moves by its own clip
  pliant touch specimen:head --center 2134 --radius 4 --collider sphere:6,-3.2,9.7,1.5 --toward -0.7,-0.2,-1.35 \\
      --frequency 2.5 --damping 0.1 --settle 2 --out jelly.glb
                                      softer, and it swings for longer
  pliant geodesic specimen:head --from 2134 --out d.npy && \\
  pliant render specimen:head --scalar d.npy --isolines 1 --out d.png
                                      how far a radius reaches around a vertex

A patch is every vertex within the radius along the surface: soft in the middle, firmer towards its rim.
Nothing outside moves by a bit. Skin comes back to the surface's own shape: the mesh, the rig's pose, or
with --animate the clip's shape in each frame, played at its own speed.

In frame i of N, colliders and pulls have gone 1 - |2i/(N-1) - 1| of their way: there and back. --toward
belongs to colliders in their order; one that should stay before one that moves gets 0,0,0. A collider is
sphere:x,y,z,r, capsule:x,y,z,x,y,z,r or cylinder:x,y,z,x,y,z,r with both ends of the axis,
box:x,y,z,a,b,c with its middle and its sides, or the file of a closed mesh. No soft vertex ends inside one,
however fast it is, save pinned and pulled ones, those between two colliders that leave them no room, and
with --method verlet; what a collider covers beyond the patches is told. Faces follow their vertices: a
collider should be larger than an edge.

--json holds frames, fps, vertices, patch_vertices, max_penetration (how deep a soft vertex ends inside a
collider), max_displacement and its furthest_frame, last_displacement (what is left of it in the last
frame), contacts and substeps (the most of any frame), select_ms (finding the patches), step_ms (a frame,
on average), and with --as-target the target's name and frame.";

/// A soft patch of a surface, pressed and pulled; the rest stays, to the bit.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The surface: a mesh, a rig or a clip.
    asset: String,

    /// The vertex in the middle of the soft patch; as often as there are patches.
    #[arg(long, value_name = "V", required = true, allow_negative_numbers = true)]
    center: Vec<usize>,

    /// How far the patch reaches along the surface, in the asset's units; one for all patches, or
    /// one for each in order.
    #[arg(long, value_name = "R", required = true, allow_negative_numbers = true)]
    radius: Vec<f64>,

    /// What presses: sphere:x,y,z,r, a capsule, cylinder or box, or a closed mesh, which follows
    /// its own clip; as often as there are some.
    #[arg(long, value_name = "FILE|sphere:…|capsule:…|cylinder:…|box:…", allow_hyphen_values = true, value_parser = parse_obstacle)]
    collider: Vec<ObstacleArg>,

    /// Where a collider goes from there, and back; one for each collider in order [default: it
    /// stays].
    #[arg(long, value_name = "dx,dy,dz", allow_hyphen_values = true, value_parser = parse_way)]
    toward: Vec<DVec3>,

    /// Coulomb's friction between skin and colliders: 0 slides, 1 drags skin along.
    #[arg(long, value_name = "MU", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_friction)]
    friction: f64,

    /// A soft vertex and how far it is pulled, and back; as often as there are pulls.
    #[arg(long, value_name = "V:dx,dy,dz", allow_hyphen_values = true, value_parser = parse_pull)]
    pull: Vec<(usize, DVec3)>,

    /// Colliders and pulls stay where they got to, instead of going back.
    #[arg(long)]
    hold: bool,

    /// Pulls let go at their farthest, instead of going back: the skin snaps.
    #[arg(long, conflicts_with = "hold")]
    let_go: bool,

    /// Soft vertices that stay.
    #[arg(long, value_name = "V,V…", value_delimiter = ',')]
    pin: Vec<usize>,

    /// Acceleration of the soft vertices, in the asset's units per second squared: 0,-981,0 for
    /// centimetres.
    #[arg(long, value_name = "x,y,z", default_value = "0,0,0", allow_hyphen_values = true, value_parser = parse_way)]
    gravity: DVec3,

    /// How much soft vertices lag behind an animated surface: 0 follows it exactly, 1 has all the
    /// inertia of its mass.
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_hyphen_values = true, requires = "animate", value_parser = parse_number)]
    inertia: f64,

    /// Frames of the touch [default: 61, or as many as --animate or a collider's clip has].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    frames: Option<u32>,

    /// Watch the surface for so many seconds more: it swings and comes to rest.
    #[arg(long, value_name = "SECS", default_value_t = 0.0, allow_negative_numbers = true, value_parser = from_zero)]
    settle: f64,

    /// Frames per second.
    #[arg(long, value_name = "F", default_value_t = TouchJob::DEFAULT_FPS, allow_negative_numbers = true, value_parser = parse_rate)]
    fps: f64,

    /// Play the asset's clip under the touch: its shape in each frame is the one that skin comes
    /// back to.
    #[arg(long, conflicts_with_all = ["weights", "weights_in"])]
    animate: bool,

    /// Touch a rig in this pose.
    #[arg(long, value_name = "NAME=W,…", value_delimiter = ',', value_parser = parse_weight)]
    weights: Vec<(String, f64)>,

    /// The same from a file, as `pose --weights-out` writes it.
    #[arg(long, value_name = "FILE.json", conflicts_with = "weights")]
    weights_in: Option<PathBuf>,

    /// Write the rig with one frame of the touch as a new target of this name, instead of a clip.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    as_target: Option<String>,

    /// Which frame that is [default: the one in which skin is farthest from its place].
    #[arg(long, value_name = "FRAME", requires = "as_target")]
    at: Option<usize>,

    /// Skin keeps out of other parts of the mesh (teeth, eyes), and lips and lids out of each
    /// other.
    #[arg(long)]
    self_contact: bool,

    #[command(flatten)]
    method: MethodArgs,

    #[command(flatten)]
    material: MaterialArgs,

    /// Where to write the clip (.glb, .usda, .mdd, .pc2, .frames.npy), or with --as-target the rig
    /// (.glb, .usda).
    #[arg(long, value_name = "CLIP")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    args.require_sense()?;
    let (asset, mesh) = source::load_surface(&args.asset)?;
    asset.require_finite()?;
    let rig = asset.rig()?;
    let weights =
        slider_weights::choose(&rig, args.weights_in.as_deref(), &args.weights, &args.asset)?;
    let mesh = if weights.iter().all(|w| *w == 0.0) {
        mesh
    } else {
        mesh.posed(rig.evaluate(&weights))
            .map_err(|e| Failure::about(&args.asset, &e))?
    };
    let job = args.job(&asset, mesh)?;
    // An ending that cannot be written is told now rather than after the work.
    pliant_io::plan_save(&args.result(&asset, &rig, &job, None)?, &args.out)?;
    let bar = console.progress();
    let clip = job
        .run(&Interruptible::new(&bar))
        .map_err(|error| args.failed(&error))?;
    drop(bar);
    let mut problems = [
        &asset.problems[..],
        &args.problems(&asset),
        &clip.problems(&job),
    ]
    .concat();
    let mut object = args.describe(&job, &clip);
    edited::save(
        &args.result(&asset, &rig, &job, Some(&clip))?,
        &args.out,
        &mut object,
        &mut problems,
    )?;
    console.done(object, &args.told(&job, &clip), &problems)
}

impl Args {
    /// Declines options that cannot go together, and a touch without any.
    fn require_sense(&self) -> Result<(), Failure> {
        let (patches, radii, colliders, ways) = (
            self.center.len(),
            self.radius.len(),
            self.collider.len(),
            self.toward.len(),
        );
        if radii != 1 && radii != patches {
            return Err(Failure::usage(format!(
                "{radii} --radius for {patches} --center; give one for all, or one for each"
            )));
        }
        if ways > colliders {
            return Err(Failure::usage(format!(
                "{ways} --toward for {colliders} --collider; each way belongs to the collider at its place"
            )));
        }
        if colliders == 0
            && self.pull.is_empty()
            && self.gravity == DVec3::ZERO
            && self.inertia == 0.0
        {
            let message = "nothing touches the patch; give a --collider and where it goes --toward, a --pull, --gravity, or --inertia \
                           with --animate";
            return Err(Failure::usage(message));
        }
        self.method.require_sense(&self.material.material())?;
        if self.as_target.is_some() {
            output::require_rig_format(&self.out)
        } else {
            output::require_clip_format(&self.out)
        }
    }

    fn job(&self, asset: &Asset, mesh: Mesh) -> Result<TouchJob, Failure> {
        let radius = |k: usize| self.radius[k.min(self.radius.len() - 1)];
        let patches = self
            .center
            .iter()
            .enumerate()
            .map(|(k, &center)| SoftPatch {
                center,
                radius: radius(k),
            })
            .collect();
        let collider = |(k, solid): (usize, &ObstacleArg)| {
            let (obstacle, motion, motion_secs) = solid.load_timed()?;
            let collider = Collider::new(obstacle, self.friction)
                .map_err(|error| Failure::about("--friction", &error))?;
            Ok(TouchCollider {
                collider,
                motion,
                motion_secs,
                toward: self.toward.get(k).copied().unwrap_or_default(),
            })
        };
        Ok(TouchJob {
            animation: if self.animate {
                Some(asset.clip()?)
            } else {
                None
            },
            colliders: self
                .collider
                .iter()
                .enumerate()
                .map(collider)
                .collect::<Result<_, Failure>>()?,
            pulls: self.pull.clone(),
            stroke: match (self.hold, self.let_go) {
                (true, _) => Stroke::Hold,
                (_, true) => Stroke::LetGo,
                _ => Stroke::ToAndFro,
            },
            options: self.options(),
            frames: self.frames.map(|frames| frames as usize),
            settle_secs: self.settle,
            fps: self.fps,
            ..TouchJob::new(mesh, patches)
        })
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

    /// What is written: a clip, or the rig with a target more; before the work, one that says
    /// whether that can be.
    fn result(
        &self,
        asset: &Asset,
        rig: &Rig,
        job: &TouchJob,
        clip: Option<&TouchedClip>,
    ) -> Result<Asset, Failure> {
        let Some(name) = &self.as_target else {
            let mut animation = Animation::new("touch", 0);
            animation.frames_per_second = self.fps;
            let first = [job.shape(0).into_owned()];
            let still = asset.posed(&first[0])?;
            return Ok(
                still.with_point_clip(animation, clip.map_or(&first[..], |clip| &clip.frames))?
            );
        };
        if rig.targets().iter().any(|target| target.name == *name) {
            return Err(Failure::could_not(format!(
                "--as-target {name}: {} has a target of that name already; give another",
                self.asset
            )));
        }
        let count = job.frame_count();
        if let Some(frame) = self.at.filter(|&frame| frame >= count) {
            return Err(Failure::could_not(format!(
                "--at {frame}: the touch has {count} frames, counted from 0"
            )));
        }
        let target = match clip {
            Some(clip) => job
                .target(clip, self.target_frame(clip), name)
                .map_err(|error| self.failed(&error))?,
            None => Target::from_dense(&**name, [Vec3::X]),
        };
        let targets = rig.targets().iter().cloned().chain([target]).collect();
        let more = rig
            .with_targets(targets)
            .map_err(|error| Failure::about(&self.asset, &error))?;
        Ok(asset.with_targets(more.targets())?)
    }

    fn describe(&self, job: &TouchJob, clip: &TouchedClip) -> Map<String, Value> {
        let most = |number: fn(&TouchReport) -> usize| clip.reports.iter().map(number).max();
        let mut object = Map::new();
        object.insert("frames".into(), json!(clip.frames.len()));
        object.insert("fps".into(), json!(self.fps));
        object.insert("vertices".into(), json!(job.mesh.vertex_count()));
        object.insert("patch_vertices".into(), json!(clip.patch_vertices));
        object.insert("max_penetration".into(), json!(clip.max_penetration()));
        object.insert("max_displacement".into(), json!(clip.max_displacement()));
        object.insert("furthest_frame".into(), json!(clip.furthest_frame()));
        object.insert(
            "last_displacement".into(),
            json!(clip.reports.last().map(|report| report.max_displacement)),
        );
        object.insert("contacts".into(), json!(most(|report| report.contacts)));
        object.insert("substeps".into(), json!(most(|report| report.substeps)));
        object.insert("select_ms".into(), json!(clip.select_ms));
        object.insert("step_ms".into(), json!(clip.step_ms));
        if let Some(name) = &self.as_target {
            object.insert(
                "target".into(),
                json!({"name": name, "frame": self.target_frame(clip)}),
            );
        }
        object
    }

    /// For a person.
    fn told(&self, job: &TouchJob, clip: &TouchedClip) -> String {
        let contacts = clip
            .reports
            .iter()
            .map(|report| report.contacts)
            .max()
            .unwrap_or(0);
        let written = match &self.as_target {
            Some(name) => format!("frame {} as target '{name}'", self.target_frame(clip)),
            None => "the clip".into(),
        };
        format!(
            "{} frames, {} soft vertices of {}; found in {:.1} ms, {:.2} ms a frame; skin moves by up to {:.4} (frame {}), at most {contacts} \
             contact(s), {:.1e} deep inside; {written} written to {}\n",
            clip.frames.len(),
            clip.patch_vertices,
            job.mesh.vertex_count(),
            clip.select_ms,
            clip.step_ms,
            clip.max_displacement(),
            clip.furthest_frame(),
            clip.max_penetration(),
            self.out.display()
        )
    }

    /// What a user should know of the asset and the options.
    fn problems(&self, asset: &Asset) -> Vec<String> {
        // A rig's neutral is what one means by it; a clip without sliders is rather meant to move.
        let still = !self.animate && !asset.clips.is_empty() && asset.target_names().is_empty();
        let still = still.then(|| "the asset's clip is not played; --animate plays it under the touch, ASSET@N is one frame of it".into());
        let skinned = self.animate
            && self.as_target.is_some()
            && asset.objects.iter().any(|object| object.skin.is_some());
        let skinned = skinned.then(|| "the target is what the touch adds to the skinned shape; joints would turn it once more".into());
        let idle = (self.friction > 0.0 && self.collider.is_empty())
            .then(|| "--friction is felt at colliders only, and there is none".into());
        [still, skinned, idle].into_iter().flatten().collect()
    }

    fn failed(&self, error: &TouchError) -> Failure {
        Failure::about(&self.asset, error)
    }
}

fn parse_way(text: &str) -> Result<DVec3, String> {
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|n: &f64| n.is_finite()))
        .collect();
    match numbers.as_deref() {
        Some(&[x, y, z]) => Ok(DVec3::new(x, y, z)),
        _ => Err(format!(
            "'{text}' is no direction; give three numbers, as in 0,0,-1.5"
        )),
    }
}

fn parse_pull(text: &str) -> Result<(usize, DVec3), String> {
    vertex_and_triple(text)
        .map_err(|what| format!("'{text}' pulls nothing: {what}; write V:dx,dy,dz, a vertex and how far it goes, as in 1204:0,0,1.5"))
}

fn parse_number(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|n: &f64| n.is_finite())
        .ok_or_else(|| format!("'{text}' is not a finite number"))
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let good = from_zero(text).ok().filter(|rate| *rate > 0.0);
    good.ok_or_else(|| format!("'{text}' is no rate; give frames per second above 0, as in 60"))
}
