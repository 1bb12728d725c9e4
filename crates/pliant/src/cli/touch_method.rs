//! Options of `pliant touch` that say how soft vertices move.

use clap::ValueEnum;
use pliant_physics::{TouchMethod, TouchOptions, VerletOptions};

/// How soft vertices move.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct MethodArgs {
    /// How soft vertices move.
    #[arg(long, value_enum, default_value_t = MethodArg::Xpbd)]
    method: MethodArg,

    /// Substeps in a frame; stiffness does not depend on it. Fast colliders get more by themselves.
    #[arg(long, value_name = "N", default_value_t = TouchOptions::DEFAULT_SUBSTEPS, value_parser = at_least_one)]
    substeps: usize,

    /// Sweeps over all constraints in a substep; more substeps are better than more of these [default: 1; verlet: 2].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    iterations: Option<usize>,

    /// verlet: the part of the velocity that is lost in each frame, from 0 to 1.
    #[arg(long, value_name = "K", default_value_t = VerletOptions::DEFAULT_DAMPING, allow_negative_numbers = true)]
    k_damp: f64,

    /// verlet: by how much bending is weakened, from 0 to 1.
    #[arg(long, value_name = "K", default_value_t = VerletOptions::DEFAULT_BEND_STIFFNESS, allow_negative_numbers = true)]
    k_cons: f64,

    /// verlet: what is kept.
    #[arg(long, value_enum, value_name = "KIND,…", value_delimiter = ',', default_value = "stretch,shear,bend")]
    keep: Vec<KeepArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum MethodArg {
    /// Small steps, with stiffness that depends neither on steps nor on sweeps.
    Xpbd,
    /// Position Verlet and projected angles, as in the thesis: one step a frame, without material, pins, pulls, inertia or --self-contact.
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
    /// `options` with these in them.
    pub(crate) fn apply(&self, options: TouchOptions) -> TouchOptions {
        let options = options.with_substeps(self.substeps);
        match self.method {
            MethodArg::Xpbd => options.with_iterations(self.iterations.unwrap_or(TouchOptions::DEFAULT_ITERATIONS)),
            MethodArg::Verlet => options.with_method(TouchMethod::Verlet(
                VerletOptions::default()
                    .with_damping(self.k_damp)
                    .with_bend_stiffness(self.k_cons)
                    .with_iterations(self.iterations.unwrap_or(VerletOptions::DEFAULT_ITERATIONS))
                    .with_stretch(self.keep.contains(&KeepArg::Stretch))
                    .with_shear(self.keep.contains(&KeepArg::Shear))
                    .with_bend(self.keep.contains(&KeepArg::Bend)),
            )),
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=10_000).contains(n)).ok_or_else(|| format!("'{text}' is not a whole number from 1 to 10000"))
}
