//! Options of `pliant touch`: the simulation of a soft patch.

use clap::ValueEnum;
use pliant_physics::{SoftMaterial, TouchMethod, TouchOptions, VerletOptions};

use crate::cli::report::failure::Failure;

/// The simulation of soft patches.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct MethodArgs {
    /// Simulation method.
    #[arg(long, value_enum, default_value_t = MethodArg::Xpbd)]
    method: MethodArg,

    /// xpbd: substeps in a frame [default: 20 to 60, from material and mesh]. Fewer make the
    /// material softer. Fast colliders get more automatically.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    substeps: Option<usize>,

    /// Iterations over all constraints in a substep [default: 1; verlet: 2]. More substeps are
    /// better than more iterations.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    iterations: Option<usize>,

    /// verlet: part of the velocity that is lost in each frame, from 0 to 1 [default: 0].
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    k_damp: Option<f64>,

    /// verlet: weakening of the bending constraint, from 0 to 1 [default: 0].
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    k_cons: Option<f64>,

    /// verlet: constraints [default: stretch,shear,bend].
    #[arg(long, value_enum, value_name = "KIND,…", value_delimiter = ',')]
    keep: Vec<ConstraintArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum MethodArg {
    /// Extended position-based dynamics with small substeps and stiffness in physical units.
    Xpbd,
    /// Position Verlet with projected constraints (Çetinaslan 2016): one step in a frame, without
    /// material, pins, pulls, inertia and --self-contact.
    Verlet,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ConstraintArg {
    /// Lengths of edges.
    Stretch,
    /// Angles of triangles.
    Shear,
    /// Dihedral angles between triangles.
    Bend,
}

impl MethodArgs {
    /// Refuses options that belong to the other method.
    pub(crate) fn require_consistent(&self, material: &SoftMaterial) -> Result<(), Failure> {
        let has_verlet_options =
            self.k_damp.is_some() || self.k_cons.is_some() || !self.keep.is_empty();
        // The material belongs to xpbd, the coefficients k to verlet.
        let message = match self.method {
            MethodArg::Xpbd if has_verlet_options => {
                "--k-damp, --k-cons and --keep need --method verlet; add it, or leave them out"
            }
            MethodArg::Verlet if *material != SoftMaterial::default() => {
                "--method verlet has no material; use --k-damp, --k-cons and --keep instead of --frequency and the other material options"
            }
            MethodArg::Verlet if self.substeps.is_some() => {
                "--method verlet computes one step in a frame; leave out --substeps, or raise --fps"
            }
            _ => return Ok(()),
        };
        Err(Failure::usage(message))
    }

    /// `options` with the method of these arguments.
    pub(crate) fn apply(&self, options: TouchOptions) -> TouchOptions {
        if self.method == MethodArg::Verlet {
            return options.with_method(TouchMethod::Verlet(self.verlet()));
        }

        let iterations = self.iterations.unwrap_or(TouchOptions::DEFAULT_ITERATIONS);
        let options = options.with_iterations(iterations);
        match self.substeps {
            Some(substeps) => options.with_substeps(substeps),
            None => options,
        }
    }

    fn verlet(&self) -> VerletOptions {
        VerletOptions::default()
            .with_damping(self.k_damp.unwrap_or(VerletOptions::DEFAULT_DAMPING))
            .with_bend_stiffness(self.k_cons.unwrap_or(VerletOptions::DEFAULT_BEND_STIFFNESS))
            .with_iterations(self.iterations.unwrap_or(VerletOptions::DEFAULT_ITERATIONS))
            .with_stretch(self.keeps(ConstraintArg::Stretch))
            .with_shear(self.keeps(ConstraintArg::Shear))
            .with_bend(self.keeps(ConstraintArg::Bend))
    }

    fn keeps(&self, constraint: ConstraintArg) -> bool {
        self.keep.is_empty() || self.keep.contains(&constraint)
    }
}

fn parse_count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=10_000).contains(n))
        .ok_or_else(|| format!("'{text}' is not a whole number from 1 to 10000"))
}
