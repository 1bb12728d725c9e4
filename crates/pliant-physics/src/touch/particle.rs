//! A mass point as four numbers.

use pliant_mesh::glam::DVec3;

/// A position and the inverse of its mass; zero is held. Velocities and accelerations have the same
/// form, with nothing in the last place.
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
