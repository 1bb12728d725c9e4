//! `pliant blend`.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use pliant_io::{Animation, Asset};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress as _};
use pliant_physics::{
    BlendOptions, CageSize, ContactMethod, ContactOptions, EnergyTerms, InteriorOptions,
    InteriorPoints, PhysicsError, SceneBlend, SceneOptions, Solver, WeightWay,
};

use super::blend_report::{BlendReport, Timed};
use super::cage::parse_cage;
use super::console::{Bar, Console};
use super::failure::Failure;
use super::obstacle::{ObstacleArg, parse_obstacle};
use super::pose::vertex_and_triple;
use super::stiffness::{StiffnessArg, parse_stiffness};
use super::transfer::milliseconds;
use super::{edited, output, source};

const EXAMPLES: &str = "\
Examples:
  pliant blend straight.obj bent.obj --out bend.glb
                                      36 steps from one shape to the other; nothing shrinks
  pliant blend 'specimen:hand@0' 'specimen:hand@3' --cage 1500 --out fist.glb
                                      two frames of a clip; coarse springs, so that no finger snaps
  pliant blend neutral.obj smile.obj frown.obj --weights 0.2,0.5,0.3 --out mix.obj
                                      one shape out of three
  pliant blend a.obj b.obj --fix 0,1,2,3 --obstacle sphere:0,1,0,0.4 --out around.glb
                                      held at four vertices, around a ball that is in the way
  pliant blend 'specimen:hand@0' 'specimen:hand@3' --cage 1500 --self-contact --out fist.glb
                                      fingers that do not pass through each other or the palm
  pliant blend a.obj b.obj --weights 0.5,0.5 --pull 1204:0,1.5,0 --out pulled.obj
                                      half way, with a vertex held elsewhere
  pliant blend a.obj b.obj --solver newton --interior none --out paper.glb
                                      the way of Ma et al. 2012, without points inside
  pliant blend scan-a.obj scan-b.obj --cage 4000 --out scan.glb
                                      a big mesh: 4000 vertices are balanced, the others follow
  pliant blend painted.glb b.glb --stiffness color --out firm.glb
                                      painted white where it is firm, black where it is soft
  pliant blend 'specimen:hand@0' 'specimen:hand@3' --energy springs,volume --out fist.glb
                                      volumes count too: nothing inside turns over
  pliant blend flat.obj rolled.obj --energy shell --out roll.glb
                                      a thin sheet: edges, angles and volume of the surface alone

Edges, pairs of second neighbours and edges inside the shape are springs whose rest lengths are
blended; a frame is where their forces balance. Shapes are poses of one mesh: the same vertices
and faces in the same order. The report lists for every frame the force that is left (residual, in
units of strain; converged means at most 1e-3, tight and newton 1e-6), area, volume, mean
strain of the edges, the same of the linear blend (linear), elements inside that turned over, and
vertices that touch an obstacle (contacts).

--energy lists what is in balance. springs (alone by default) keep lengths, also across second
neighbours and through the inside; lengths fit a solid and its mirror image, so thin elements may
turn over. volume makes that dear: elements inside keep their share of volume, and closed surfaces
without any the volume they enclose. angles keep the bend of the surface over its edges. shell is
edges,angles,volume, with the weights of Froehlich and Botsch 2011: the surface alone, for cloth,
skins and open sheets. A weight may follow angles and volume: volume:10 is ten times as stiff as
volume. With volume a frame takes one to four times as long, with angles, which need factorisations,
often ten times.

An obstacle is a closed mesh or a solid: sphere:x,y,z,r, capsule:x,y,z,x,y,z,r or
cylinder:x,y,z,x,y,z,r with both ends of the axis, or box:x,y,z,a,b,c with its middle and its sides
along x, y and z. Vertices do not enter it, but slide along it and leave it again; what is thinner
than two edges of the surface is kept from passing between vertices, too (faces counts where). An
obstacle with a clip moves through its frames, as a whole, while the shape goes from the first to
the second; with --weights it stands where it begins.

With --self-contact no vertex enters another part of the same surface: parts that meet push each
other away until they touch. The surface is best closed, since inside is told by how often it winds
around a vertex. What the shapes themselves have inside may stay, and is counted. The report lists
the pairs that push (self_contacts) and how deep a vertex still is inside (self_depth; 0 in frames
that converged). Frames depend on those before them, as with obstacles: more steps, safer ways.

A mesh of more than 50 000 vertices is blended on a cage: some of its vertices, chosen where all
shapes need them, are balanced, and all others keep their place beside them, turned from each
shape and mixed, so that wrinkles and pores go along. Ends are exact as ever. Springs, residual and
elements that turned over are then the cage's, area, volume and strain the mesh's. --cage none
balances every vertex; fewer cage vertices are faster, more follow thin parts better. Springs can
balance in several ways; where the one that a walk follows ends, the shape snaps to another, and the
report says so. Fine springs crease and snap sooner than coarse ones: --cage helps there, too.";

/// Shapes between shapes, as springs in balance.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Poses of one mesh; two for a walk between them, any number for --weights.
    #[arg(value_name = "SHAPE", required = true, num_args = 2..)]
    shapes: Vec<String>,

    /// How many steps from the first shape to the second; both ends are frames too.
    #[arg(long, value_name = "N", default_value_t = 36, conflicts_with = "weights", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    steps: u32,

    /// One mesh: a weight for each shape; they sum to 1.
    #[arg(long, value_name = "W,W…", allow_hyphen_values = true, value_delimiter = ',', value_parser = parse_weight)]
    pub(super) weights: Vec<f64>,

    /// How balance is found.
    #[arg(long, value_enum, default_value_t = SolverArg::Fast)]
    pub(super) solver: SolverArg,

    /// What is in balance: springs, edges or shell, and angles and volume, each with a weight if
    /// one likes.
    #[arg(long, value_name = "TERM,TERM…", default_value_t = EnergyTerms::springs())]
    pub(super) energy: EnergyTerms,

    /// Whether points are added inside closed shapes.
    #[arg(long, value_enum, default_value_t = InteriorArg::Auto)]
    interior: InteriorArg,

    /// Where the shape is held from within: in its middle, or around these vertices.
    #[arg(long, value_name = "auto|V,V…", default_value = "auto", value_parser = parse_anchor)]
    anchor: Anchor,

    /// Vertices that move linearly between the shapes, so that what turns between them shrinks
    /// there; they take the anchor's place.
    #[arg(
        long,
        value_name = "V,V…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    fix: Vec<usize>,

    /// A vertex and the place it is held at; as often as there are pulls.
    #[arg(long, value_name = "V:x,y,z", allow_hyphen_values = true, value_parser = parse_pull)]
    pull: Vec<(usize, DVec3)>,

    /// What is in the way: a closed mesh, sphere:x,y,z,r, or a capsule, cylinder or box; as often
    /// as there are obstacles.
    #[arg(long, value_name = "FILE|sphere:…|capsule:…|cylinder:…|box:…", allow_hyphen_values = true, value_parser = parse_obstacle)]
    pub(super) obstacle: Vec<ObstacleArg>,

    /// Coulomb's friction at obstacles.
    #[arg(long, value_name = "MU", default_value_t = 0.0, allow_hyphen_values = true, value_parser = parse_friction)]
    pub(super) friction: f64,

    /// How a shape gives way to obstacles.
    #[arg(long, value_enum, default_value_t = ContactArg::Active)]
    contact: ContactArg,

    /// Parts of the surface keep out of each other, as they do out of obstacles.
    #[arg(long)]
    pub(super) self_contact: bool,

    /// How stiff the surface is: a file with one number above 0 per vertex, of which only ratios
    /// matter; or `color`, the first shape's vertex colours: black is ten times softer than
    /// middle grey, white ten times stiffer (by the brightest channel).
    #[arg(long, value_name = "FILE.npy|color", value_parser = parse_stiffness)]
    stiffness: Option<StiffnessArg>,

    /// Big meshes: how many vertices are balanced while the others follow; `auto` takes 3000 where
    /// there are more than 50 000.
    #[arg(long, value_name = "auto|none|N", default_value = "auto", value_parser = parse_cage)]
    cage: CageSize,

    /// Where to write the clip (.glb, .usda, .mdd, .pc2, .frames.npy), or with --weights the mesh
    /// (.obj, .ply, .glb …).
    #[arg(long, value_name = "CLIP")]
    pub(super) out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum SolverArg {
    /// A prediction, refined until forces balance to 1e-3.
    Fast,
    /// The same to 1e-6.
    Tight,
    /// Newton-Raphson as published, to 1e-6.
    Newton,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum InteriorArg {
    /// Points inside, and springs between them.
    Auto,
    /// No points: springs inside join vertices of the surface, as published.
    None,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ContactArg {
    /// Vertices are kept from entering, and slide and leave as they like.
    Active,
    /// Vertices that entered are fixed on the obstacle's surface, as published; without friction.
    Paper,
}

/// The vertices around which a shape is held; none of them for its middle.
#[derive(Debug, Clone, Default)]
struct Anchor(Vec<usize>);

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let walks = args.weights.is_empty();
    if walks && args.shapes.len() != 2 {
        return Err(Failure::usage(format!(
            "{} shapes have no steps between them; give --weights, one for each",
            args.shapes.len()
        )));
    }
    if args.self_contact && matches!(args.contact, ContactArg::Paper) {
        return Err(Failure::usage(
            "the published contact knows no --self-contact; leave out --contact paper",
        ));
    }
    if let Some(vertex) = args.pulled_twice() {
        return Err(Failure::usage(format!(
            "vertex {vertex} is pulled to two places; give it one --pull"
        )));
    }
    let assets = args
        .shapes
        .iter()
        .map(|shape| pliant_io::load(shape, &source::options(None)))
        .collect::<Result<Vec<_>, _>>()?;
    let meshes = assets
        .iter()
        .map(Asset::mesh)
        .collect::<Result<Vec<_>, _>>()?;
    let first = &assets[0];
    if walks {
        output::require_clip_format(&args.out)?;
    }
    // An ending that cannot be written is told now rather than after the work.
    pliant_io::plan_save(
        &args.asset(first, &[meshes[0].positions().to_vec()])?,
        &args.out,
    )?;
    let options = args.options(&meshes[0])?;
    let bar = console.progress();
    let _ = bar.report("filling the inside", 0.0);
    let began = Instant::now();
    let mut scene = SceneBlend::new(&meshes, &options).map_err(|error| args.failed(&error))?;
    let _ = bar.report("sampling the way", 0.0);
    scene
        .prepare_walk(args.weights().len())
        .map_err(|error| args.failed(&error))?;
    let setup_ms = milliseconds(began);
    let frames = args.frames(&mut scene, &bar)?;
    drop(bar);
    let report = BlendReport {
        args,
        scene: &scene,
        vertices: meshes[0].vertex_count(),
        frames: &frames,
        setup_ms,
    };
    let mut object = report.describe();
    let mut problems: Vec<String> = assets
        .iter()
        .flat_map(|asset| &asset.problems)
        .cloned()
        .chain(report.problems())
        .collect();
    if meshes
        .iter()
        .all(|mesh| mesh.positions() == meshes[0].positions())
    {
        problems
            .push("the shapes are all the same; a clip stands for its reference pose unless a frame is named, as in walk.glb@12".into());
    }
    let positions: Vec<Vec<DVec3>> = frames
        .iter()
        .map(|timed| timed.frame.shape.positions.clone())
        .collect();
    edited::save(
        &args.asset(first, &positions)?,
        &args.out,
        &mut object,
        &mut problems,
    )?;
    console.done(object, &report.told(), &problems)
}

impl Args {
    fn options(&self, first: &Mesh) -> Result<SceneOptions, Failure> {
        let contact = ContactOptions::default()
            .with_method(self.contact.into())
            .with_friction(self.friction)
            .with_self_contact(self.self_contact);
        let options = SceneOptions::default()
            .with_blend(self.blend_options(first)?)
            .with_cage(self.cage)
            .with_contact(contact);
        self.obstacle.iter().try_fold(options, |options, obstacle| {
            let (obstacle, motion) = obstacle.load()?;
            Ok(options.with_obstacle(obstacle, motion))
        })
    }

    fn blend_options(&self, first: &Mesh) -> Result<BlendOptions, Failure> {
        let options = BlendOptions::default()
            .with_solver(self.solver.into())
            .with_energy(self.energy)
            .with_interior(self.interior.into())
            .with_anchor(self.anchor.0.clone())
            .with_fixed(self.fix.clone())
            .with_pulls(self.pull.clone());
        let Some(stiffness) = &self.stiffness else {
            return Ok(options);
        };
        Ok(options.with_stiffness(stiffness.load(first, &self.shapes[0])?))
    }

    /// The weights of every frame.
    fn weights(&self) -> Vec<Vec<f64>> {
        if !self.weights.is_empty() {
            return vec![self.weights.clone()];
        }
        WeightWay::There {
            shapes: 2,
            steps: self.steps,
        }
        .frames()
        .collect()
    }

    fn frames(&self, scene: &mut SceneBlend, bar: &Bar) -> Result<Vec<Timed>, Failure> {
        let all = self.weights();
        let mut frames = Vec::with_capacity(all.len());
        for (k, weights) in all.iter().enumerate() {
            let _ = bar.report("balancing", k as f64 / all.len() as f64);
            let began = Instant::now();
            let time = k as f64 / (all.len().max(2) - 1) as f64;
            let frame = scene
                .step(weights, time)
                .map_err(|error| self.failed(&error))?;
            frames.push(Timed {
                frame,
                ms: milliseconds(began),
            });
        }
        Ok(frames)
    }

    /// The first shape's asset with the frames as its clip, or posed where there is one mesh.
    fn asset(&self, first: &Asset, frames: &[Vec<DVec3>]) -> Result<Asset, Failure> {
        if !self.weights.is_empty() {
            return Ok(first.posed(&frames[0])?);
        }
        let still = first.posed(first.mesh()?.positions())?;
        Ok(still.with_point_clip(Animation::new("blend", frames.len()), frames)?)
    }

    /// A vertex that is pulled to two places.
    fn pulled_twice(&self) -> Option<usize> {
        let twice = |&(k, pull): &(usize, &(usize, DVec3))| {
            self.pull[..k].iter().any(|other| other.0 == pull.0)
        };
        self.pull
            .iter()
            .enumerate()
            .find(twice)
            .map(|(_, pull)| pull.0)
    }

    /// An error with the file or shape that it is about, the first shape where it is about all of
    /// them.
    fn failed(&self, error: &PhysicsError) -> Failure {
        if let (
            PhysicsError::Stiffness { .. } | PhysicsError::PerVertex { .. },
            Some(StiffnessArg::File(path)),
        ) = (error, &self.stiffness)
        {
            return Failure::about(path.display(), error);
        }
        Failure::about(&self.shapes[error.shape().unwrap_or(0)], error)
    }
}

fn parse_pull(text: &str) -> Result<(usize, DVec3), String> {
    vertex_and_triple(text)
        .map_err(|what| format!("'{text}' pulls nothing: {what}; write V:x,y,z, a vertex and its place, as in 1204:0,1.5,0"))
}

pub(crate) fn parse_friction(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is no friction; give a number from 0 on, as in 0.3");
    text.trim()
        .parse()
        .ok()
        .filter(|mu: &f64| mu.is_finite() && *mu >= 0.0)
        .ok_or_else(wrong)
}

fn parse_weight(text: &str) -> Result<f64, String> {
    let wrong =
        || format!("'{text}' is not a weight; give one number for each shape, as in 0.5,0.5");
    text.trim()
        .parse()
        .ok()
        .filter(|w: &f64| w.is_finite())
        .ok_or_else(wrong)
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
            ContactArg::Active => Self::Active,
            ContactArg::Paper => Self::Paper,
        }
    }
}
