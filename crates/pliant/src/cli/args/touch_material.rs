//! Options of `pliant touch`: the material of a soft patch.

use pliant_physics::SoftMaterial;

use super::number::non_negative;

/// The material of soft patches. No value depends on the unit or the resolution of the mesh.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Material")]
pub(crate) struct MaterialArgs {
    /// Stiffness of the springs that hold the skin to the animated surface, as a frequency in Hz.
    /// Jelly has about 2, a cheek 5, a forehead 10; volume and bending roughly double the frequency
    /// that one sees.
    #[arg(long, value_name = "HZ", default_value_t = skin().frequency_hz, allow_negative_numbers = true, value_parser = non_negative)]
    frequency: f64,

    /// Damping ratio: 0 oscillates for ever, 1 returns without overshooting.
    #[arg(long, value_name = "Z", default_value_t = skin().damping_ratio, allow_negative_numbers = true, value_parser = non_negative)]
    damping: f64,

    /// How far a drag along the surface reaches, relative to the radius. Deep dents become wider,
    /// too.
    #[arg(long, value_name = "S", default_value_t = skin().spread, allow_negative_numbers = true, value_parser = non_negative)]
    spread: f64,

    /// Smallest width of creases and rims, relative to the radius (bending stiffness).
    #[arg(long, value_name = "S", default_value_t = skin().roundness, allow_negative_numbers = true, value_parser = non_negative)]
    roundness: f64,

    /// Thickness of the soft layer under the skin, relative to the radius.
    #[arg(long, value_name = "S", default_value_t = skin().depth, allow_negative_numbers = true, value_parser = non_negative)]
    depth: f64,

    /// Stiffness of the volume of the soft layer, relative to the foundation springs. Larger
    /// values give larger bulges around a dent.
    #[arg(long, value_name = "S", default_value_t = skin().volume, allow_negative_numbers = true, value_parser = non_negative)]
    volume: f64,

    /// Stiffness of triangles against shear, relative to edges against stretch.
    #[arg(long, value_name = "S", default_value_t = skin().shear, allow_negative_numbers = true, value_parser = non_negative)]
    shear: f64,

    /// Stiffness of the area of triangles, relative to edges against stretch.
    #[arg(long, value_name = "S", default_value_t = skin().area, allow_negative_numbers = true, value_parser = non_negative)]
    area: f64,

    /// Largest relative change of the length of an edge: 0.1 is leather, 0.75 is skin.
    #[arg(long, value_name = "S", default_value_t = skin().strain_limit, allow_negative_numbers = true, value_parser = non_negative)]
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
