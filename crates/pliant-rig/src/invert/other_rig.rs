//! The inverse of a performance on another rig of the same mesh, without any frame.
//!
//! **Problem.** A performance plays on rig A. Rig B has the same vertices and other sliders, for
//! instance because the shapes of A were transferred to the mesh of B. The weights of B should
//! reproduce the surface, for takes of any length.
//!
//! **Equation.** A frame is `d = Σₛ φₛ(w) δₛ` over the shapes `δ` of A. Its projections onto the
//! shapes `β` of B and its energy are then small sums:
//!
//! ```text
//! hᵣ = Σₛ φₛ(w) ⟨βᵣ, δₛ⟩        c = Σₛ Σᵤ φₛ(w) φᵤ(w) ⟨δₛ, δᵤ⟩
//! ```
//!
//! with the scalar products over areas, which are computed once. The solve is that of a clip, and
//! gives the same weights.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Progress, TrianglePoint};

use super::contacts::ContactGaps;
use super::frame_problem::{Frame, Gram};
use super::shape_projections::FrameProjection;
use super::{Inverse, Inverter};
use crate::model::SurfaceGram;
use crate::{Rig, RigError, WeightTrack};

impl Inverter {
    /// The weights that reproduce `track` as it plays on `other`, at the keys of the track.
    ///
    /// # Errors
    /// [`RigError::VertexCount`] or [`RigError::OtherNeutral`] if the rigs do not share their neutral,
    /// [`RigError::SliderCount`] if the track is not one of `other`.
    pub fn invert_rig(&self, other: &Rig, track: &WeightTrack) -> Result<Inverse, RigError> {
        self.invert_rig_with_progress(other, track, &[], &())
    }

    /// As [`invert_rig`](Self::invert_rig), with the gaps between the points of `contacts` as those of
    /// the other rig, and reporting to `progress`.
    ///
    /// # Errors
    /// As [`invert_rig`](Self::invert_rig), and [`RigError::Stopped`] if `progress` asks for it.
    pub fn invert_rig_with_progress(
        &self,
        other: &Rig,
        track: &WeightTrack,
        contacts: &[[TrianglePoint; 2]],
        progress: &dyn Progress,
    ) -> Result<Inverse, RigError> {
        self.check_other(other, track)?;
        other.require_finite()?;

        // Each shape of the other rig as a frame.
        let neutral = self.rig.neutral().positions();
        let mut shapes: Vec<Vec<DVec3>> = Vec::with_capacity(other.activation().shape_count());
        for (vertices, deltas) in other.shapes() {
            let mut frame = neutral.to_vec();
            for (&v, delta) in vertices.iter().zip(deltas) {
                frame[v as usize] += delta.as_dvec3();
            }
            shapes.push(frame);
        }
        let frames: Vec<&[DVec3]> = shapes.iter().map(Vec::as_slice).collect();
        let products = self.shapes.of_frames(&frames, self.surface.areas(), &())?;
        let all: Vec<usize> = (0..shapes.len()).collect();
        let gram = SurfaceGram::of(other).whole(&all);

        let mut projections = Vec::with_capacity(track.keys().len());
        for weights in track.keys() {
            let coefficients = other.activation().coefficients(weights);
            projections.push(combined(&coefficients, &products, &gram));
        }

        // A performance on shapes has no noise of positions; only given penalties count.
        let mut solved = if contacts.is_empty() {
            self.solve_frames(&frames_of(&self.whole, &projections), None, 0.0, progress)?
        } else {
            let own = ContactGaps::of(&self.rig, contacts);
            let others = ContactGaps::of(other, contacts);
            let mut matrix = self.whole.matrix().to_vec();
            own.add_to_gram(&mut matrix);
            let gram = self.problem.gram(matrix);
            let mut with_gaps = projections.clone();
            for (projection, weights) in with_gaps.iter_mut().zip(track.keys()) {
                own.add_to_projection(&others, weights, projection);
            }
            self.solve_frames(&frames_of(&gram, &with_gaps), None, 0.0, progress)?
        };

        // The report is about the surface alone.
        let plain = frames_of(&self.whole, &projections);
        for (rms, (frame, x)) in solved
            .rms
            .iter_mut()
            .zip(plain.iter().zip(&solved.solved.x))
        {
            *rms = self.problem.squared_error(frame, x).sqrt();
        }
        let mut inverse = self.inverse(solved, Vec::new(), 1.0)?;
        inverse.track = WeightTrack::new(
            track.times_secs().to_vec(),
            inverse.track.keys().to_vec(),
            inverse.track.interpolation().clone(),
        )?;
        Ok(inverse)
    }

    fn check_other(&self, other: &Rig, track: &WeightTrack) -> Result<(), RigError> {
        let expected = self.rig.neutral().vertex_count();
        let found = other.neutral().vertex_count();
        if found != expected {
            return Err(RigError::VertexCount {
                what: "the rig of the performance".into(),
                found,
                expected,
            });
        }

        let size = self.rig.neutral().bounds().map_or(0.0, |b| b.diagonal());
        let pairs = self
            .rig
            .neutral()
            .positions()
            .iter()
            .zip(other.neutral().positions());
        let differs = |(a, b): (&DVec3, &DVec3)| a.distance(*b) > 1e-6 * size;
        if let Some(vertex) = pairs.map(differs).position(|differs| differs) {
            return Err(RigError::OtherNeutral { vertex });
        }

        let expected = other.targets().len();
        let found = track.keys()[0].len();
        if found == expected {
            Ok(())
        } else {
            Err(RigError::SliderCount { found, expected })
        }
    }
}

fn frames_of<'a>(gram: &'a Gram, projections: &'a [FrameProjection]) -> Vec<Frame<'a>> {
    let frames = projections.iter();
    frames
        .map(|projection| Frame { gram, projection })
        .collect()
}

/// `h` and `c` of a frame with these coefficients.
fn combined(coefficients: &[f64], products: &[FrameProjection], gram: &[f64]) -> FrameProjection {
    let count = coefficients.len();
    let shapes = products.first().map_or(0, |p| p.onto_shapes.len());
    let mut projection = FrameProjection {
        onto_shapes: vec![0.0; shapes],
        energy: 0.0,
    };
    for (s, (&coefficient, product)) in coefficients.iter().zip(products).enumerate() {
        if coefficient == 0.0 {
            continue;
        }
        for (sum, value) in projection.onto_shapes.iter_mut().zip(&product.onto_shapes) {
            *sum += coefficient * value;
        }
        let row = &gram[s * count..(s + 1) * count];
        let products = row.iter().zip(coefficients).map(|(g, other)| g * other);
        projection.energy += coefficient * products.sum::<f64>();
    }
    projection
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::Vec3;
    use pliant_mesh::shapes::icosphere;

    use super::*;
    use crate::{Clip, Interpolation, InvertOptions, Target};

    /// A ball with three overlapping bumps, and the same bumps in other mixtures.
    fn rigs() -> (Rig, Rig) {
        let mesh = icosphere(3);
        let bump = |at: DVec3, size: f64| -> Vec<Vec3> {
            let near = |p: &DVec3| (*p * size * (1.0 - p.distance(at)).max(0.0)).as_vec3();
            mesh.positions().iter().map(near).collect()
        };
        let bumps = [
            bump(DVec3::X, 1.0),
            bump(DVec3::Y, 0.7),
            bump(DVec3::new(0.7, 0.7, 0.0), 0.5),
        ];
        let mix = |name: &str, parts: [f32; 3]| {
            let sum =
                (0..mesh.vertex_count()).map(|v| (0..3).map(|k| bumps[k][v] * parts[k]).sum());
            Target::from_dense(name, sum.collect::<Vec<Vec3>>())
        };
        let a = vec![mix("a", [1.0, 0.3, 0.0]), mix("b", [0.0, 0.6, 0.4])];
        let b = vec![
            mix("x", [1.0, 0.0, 0.0]),
            mix("y", [0.0, 1.0, 0.0]),
            mix("z", [0.0, 0.0, 1.0]),
        ];
        (
            Rig::new(mesh.clone(), a).unwrap(),
            Rig::new(mesh.clone(), b).unwrap(),
        )
    }

    fn track() -> WeightTrack {
        let rows = (0..40).map(|t| {
            let phase = f64::from(t) / 6.0;
            vec![0.5 - 0.5 * phase.cos(), 0.5 - 0.5 * (1.6 * phase).cos()]
        });
        let times = (0..40).map(|t| f64::from(t) / 30.0).collect();
        WeightTrack::new(times, rows.collect(), Interpolation::Linear).unwrap()
    }

    #[test]
    fn the_weights_are_those_of_the_baked_clip() {
        let (a, b) = rigs();
        let track = track();
        let frames = track
            .keys()
            .iter()
            .map(|weights| a.evaluate(weights))
            .collect();
        let clip = Clip::new("baked", b.neutral().clone(), frames)
            .unwrap()
            .with_frames_per_second(30.0);
        let options = InvertOptions::default()
            .with_sparsity(1e-4)
            .with_roughness(1e-4);
        let inverter = Inverter::factor(&b, &options).unwrap();
        let baked = inverter.invert(&clip).unwrap();
        let direct = inverter.invert_rig(&a, &track).unwrap();
        for (x, y) in baked
            .track
            .keys()
            .iter()
            .flatten()
            .zip(direct.track.keys().iter().flatten())
        {
            assert!((x - y).abs() < 1e-5, "{x} {y}");
        }
        assert_eq!(direct.track.times_secs(), track.times_secs());
    }

    #[test]
    fn planted_mixtures_are_found() {
        let (a, b) = rigs();
        let options = InvertOptions::default()
            .with_sparsity(0.0)
            .with_roughness(0.0);
        let inverter = Inverter::factor(&b, &options).unwrap();
        let solved = inverter.invert_rig(&a, &track()).unwrap();
        for (found, planted) in solved.track.keys().iter().zip(track().keys()) {
            let expected = [
                planted[0],
                0.3 * planted[0] + 0.6 * planted[1],
                0.4 * planted[1],
            ];
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-4, "{found} {expected}");
            }
        }
        assert!(
            inverter.invert_rig(&b, &track()).is_err(),
            "another number of sliders"
        );
    }
}
