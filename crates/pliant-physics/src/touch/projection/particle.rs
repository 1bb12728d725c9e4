//! Mass point as four numbers: position and inverse mass.

use pliant_mesh::glam::DVec3;

/// A position and an inverse mass; zero is held. Velocities and accelerations have the same layout,
/// with zero as the last number.
pub(crate) type Particle = [f64; 4];

/// Three coordinates and a fourth number.
pub(crate) fn particle(place: DVec3, last: f64) -> Particle {
    [place.x, place.y, place.z, last]
}

/// The position of a particle.
pub(crate) fn place_of(&[x, y, z, _]: &Particle) -> DVec3 {
    DVec3::new(x, y, z)
}

/// Moves a particle to `place`.
pub(crate) fn put(particle: &mut Particle, place: DVec3) {
    particle[..3].copy_from_slice(&place.to_array());
}
