//! Options of `pliant touch` that say what a soft patch is made of.

use pliant_physics::SoftMaterial;

use super::solver::from_zero;

/// What soft patches are made of; nothing here depends on the mesh's unit or resolution.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Material")]
pub(crate) struct MaterialArgs {
    /// How often its bed alone swings in a second: the more, the stiffer; volume and bending make
    /// it quicker still, about twice. Jelly has 2, a cheek 5, a forehead 10.
    #[arg(long, value_name = "HZ", default_value_t = skin().frequency_hz, allow_negative_numbers = true, value_parser = from_zero)]
    frequency: f64,

    /// The damping ratio: 0 swings for ever, 0.3 some swings, 1 comes back without overshooting.
    #[arg(long, value_name = "Z", default_value_t = skin().damping_ratio, allow_negative_numbers = true, value_parser = from_zero)]
    damping: f64,

    /// How far a drag along the surface is felt, as a share of the radius; deep dents, which
    /// stretch the skin, are wider with it, too.
    #[arg(long, value_name = "S", default_value_t = skin().spread, allow_negative_numbers = true, value_parser = from_zero)]
    spread: f64,

    /// How far a dent is felt by bending, as a share of the radius: creases and rims are at least
    /// this wide.
    #[arg(long, value_name = "S", default_value_t = skin().roundness, allow_negative_numbers = true, value_parser = from_zero)]
    roundness: f64,

    /// How deep the flesh under the skin is, as a share of the radius.
    #[arg(long, value_name = "S", default_value_t = skin().depth, allow_negative_numbers = true, value_parser = from_zero)]
    depth: f64,

    /// How firmly that flesh keeps its volume beside what holds it in place: the more, the more it
    /// bulges around a dent.
    #[arg(long, value_name = "S", default_value_t = skin().volume, allow_negative_numbers = true, value_parser = from_zero)]
    volume: f64,

    /// How firmly triangles keep their form, beside edges their length.
    #[arg(long, value_name = "S", default_value_t = skin().shear, allow_negative_numbers = true, value_parser = from_zero)]
    shear: f64,

    /// How firmly triangles keep their area, beside edges their length.
    #[arg(long, value_name = "S", default_value_t = skin().area, allow_negative_numbers = true, value_parser = from_zero)]
    area: f64,

    /// By which part edges may grow or shrink at most: 0.1 is leather, 0.75 skin.
    #[arg(long, value_name = "S", default_value_t = skin().strain_limit, allow_negative_numbers = true, value_parser = from_zero)]
    strain_limit: f64,
}

impl MaterialArgs {
    pub(crate) fn material(&self) -> SoftMaterial {
        SoftMaterial {
            frequency_hz: self.frequency,
            damping_ratio: self.damping,
            spread: self.spread,
            roundness: self.roundness,
            shear: self.shear,
            area: self.area,
            depth: self.depth,
            volume: self.volume,
            strain_limit: self.strain_limit,
        }
    }
}

fn skin() -> SoftMaterial {
    SoftMaterial::default()
}
