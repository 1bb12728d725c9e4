//! Options of `pliant touch` that say how soft vertices move.

use clap::ValueEnum;
use pliant_physics::{SoftMaterial, TouchMethod, TouchOptions, VerletOptions};

use super::failure::Failure;

/// How soft vertices move.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct MethodArgs {
    /// How soft vertices move.
    #[arg(long, value_enum, default_value_t = MethodArg::Xpbd)]
    method: MethodArg,

    /// xpbd: substeps in a frame [default: as many as the material needs on this mesh, 20 to 60;
    /// fewer leave it softer, more cost time]. Fast colliders get more by themselves.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    substeps: Option<usize>,

    /// Sweeps over all constraints in a substep; more substeps are better than more of these
    /// [default: 1; verlet: 2].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    iterations: Option<usize>,

    /// verlet: the part of the velocity that is lost in each frame, from 0 to 1 [default: 0].
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    k_damp: Option<f64>,

    /// verlet: by how much bending is weakened, from 0 to 1 [default: 0].
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    k_cons: Option<f64>,

    /// verlet: what is kept [default: stretch,shear,bend].
    #[arg(long, value_enum, value_name = "KIND,…", value_delimiter = ',')]
    keep: Vec<KeepArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum MethodArg {
    /// Small steps, with stiffness in physical units and steps enough for it.
    Xpbd,
    /// Position Verlet and projected angles, as in the thesis: one step a frame, without material,
    /// pins, pulls, inertia or --self-contact.
    Verlet,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum KeepArg {
    /// Lengths of edges.
    Stretch,
    /// Angles of triangles.
    Shear,
    /// Angles between triangles.
    Bend,
}

impl MethodArgs {
    /// Declines what the method does not have.
    pub(crate) fn require_sense(&self, material: &SoftMaterial) -> Result<(), Failure> {
        let alien = match self.method {
            MethodArg::Xpbd
                if self.k_damp.is_some() || self.k_cons.is_some() || !self.keep.is_empty() =>
            {
                "--k-damp, --k-cons and --keep belong to --method verlet; take it, or leave them out"
            }
            MethodArg::Verlet if *material != SoftMaterial::default() => {
                "--method verlet has no material; give it --k-damp, --k-cons and --keep instead of --frequency and the like"
            }
            MethodArg::Verlet if self.substeps.is_some() => {
                "--method verlet takes one step a frame; leave out --substeps, or raise --fps"
            }
            _ => return Ok(()),
        };
        Err(Failure::usage(alien))
    }

    /// `options` with these in them.
    pub(crate) fn apply(&self, options: TouchOptions) -> TouchOptions {
        match self.method {
            MethodArg::Xpbd => {
                let options = options
                    .with_iterations(self.iterations.unwrap_or(TouchOptions::DEFAULT_ITERATIONS));
                self.substeps
                    .map_or(options.clone(), |substeps| options.with_substeps(substeps))
            }
            MethodArg::Verlet => options.with_method(TouchMethod::Verlet(self.verlet())),
        }
    }

    fn verlet(&self) -> VerletOptions {
        let keeps = |kind: KeepArg| self.keep.is_empty() || self.keep.contains(&kind);
        VerletOptions::default()
            .with_damping(self.k_damp.unwrap_or(VerletOptions::DEFAULT_DAMPING))
            .with_bend_stiffness(self.k_cons.unwrap_or(VerletOptions::DEFAULT_BEND_STIFFNESS))
            .with_iterations(self.iterations.unwrap_or(VerletOptions::DEFAULT_ITERATIONS))
            .with_stretch(keeps(KeepArg::Stretch))
            .with_shear(keeps(KeepArg::Shear))
            .with_bend(keeps(KeepArg::Bend))
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=10_000).contains(n))
        .ok_or_else(|| format!("'{text}' is not a whole number from 1 to 10000"))
}
