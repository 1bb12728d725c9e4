//! Examples: the reference mesh and the poses that a model is trained on.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError};
use pliant_rig::Clip;

use crate::LearnError;

/// A reference mesh and its poses, checked. Example 0 is the reference pose itself.
#[derive(Debug, Clone)]
pub struct Examples {
    reference: Mesh,
    /// The frames, without the reference.
    frames: Vec<Vec<DVec3>>,
    names: Vec<String>,
    meters_per_unit: Option<f64>,
}

impl Examples {
    /// The fewest frames besides the reference: leave-one-out validation needs two.
    pub const LEAST_FRAMES: usize = 2;

    /// The frames of `clip`, with their names or indices.
    ///
    /// # Errors
    /// Fewer than [`LEAST_FRAMES`](Self::LEAST_FRAMES) frames, a mesh without faces, positions that
    /// are not finite.
    pub fn from_clip(clip: &Clip) -> Result<Self, LearnError> {
        let names = (0..clip.frames().len())
            .map(|k| {
                clip.frame_names()
                    .get(k)
                    .cloned()
                    .unwrap_or_else(|| k.to_string())
            })
            .collect();
        Self::new(clip.reference().clone(), clip.frames().to_vec(), names)
    }

    /// As [`from_clip`](Self::from_clip), from parts; one name per frame.
    ///
    /// # Errors
    /// As [`from_clip`](Self::from_clip), and frames with another number of vertices than the reference,
    /// or another number of names than of frames.
    pub fn new(
        reference: Mesh,
        frames: Vec<Vec<DVec3>>,
        names: Vec<String>,
    ) -> Result<Self, LearnError> {
        reference.require_surface()?;
        if frames.len() < Self::LEAST_FRAMES {
            return Err(LearnError::TooFewExamples {
                found: frames.len(),
                needed: Self::LEAST_FRAMES,
            });
        }

        // All frames have the vertices of the reference, with finite positions.
        for (frame, positions) in frames.iter().enumerate() {
            if positions.len() != reference.vertex_count() {
                return Err(LearnError::FrameSize {
                    frame,
                    found: positions.len(),
                    expected: reference.vertex_count(),
                });
            }
            if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
                return Err(LearnError::FrameNotFinite { frame, vertex });
            }
        }

        if names.len() != frames.len() {
            return Err(MeshError::Count {
                what: "the list of names",
                found: names.len(),
                expected: frames.len(),
            }
            .into());
        }
        Ok(Self {
            reference,
            frames,
            names,
            meters_per_unit: None,
        })
    }

    /// The same examples with what one unit of the positions is, in metres, if it is known.
    #[must_use]
    pub fn with_meters_per_unit(self, meters_per_unit: Option<f64>) -> Self {
        Self {
            meters_per_unit,
            ..self
        }
    }

    /// What one unit of the positions is, in metres, if it is known.
    #[must_use]
    pub fn meters_per_unit(&self) -> Option<f64> {
        self.meters_per_unit
    }

    /// The mesh at rest.
    #[must_use]
    pub fn reference(&self) -> &Mesh {
        &self.reference
    }

    /// Number of examples, the reference included.
    #[must_use]
    pub fn count(&self) -> usize {
        self.frames.len() + 1
    }

    /// Positions of an example; 0 is the reference.
    #[must_use]
    pub fn pose(&self, example: usize) -> &[DVec3] {
        if example == 0 {
            self.reference.positions()
        } else {
            &self.frames[example - 1]
        }
    }

    /// Names of the frames, without the reference.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The longest side of the reference's bounding box: the unit of the errors (Huang et al. 2012,
    /// table 2).
    #[must_use]
    pub fn longest_side(&self) -> f64 {
        self.reference
            .bounds()
            .map_or(0.0, |bounds| bounds.size().max_element())
    }

    /// RMS distance of `found` from an example, over the [longest side](Self::longest_side).
    ///
    /// # Panics
    /// If there is not one position per vertex.
    #[must_use]
    pub fn error(&self, found: &[DVec3], example: usize) -> f64 {
        let truth = self.pose(example);
        assert_eq!(found.len(), truth.len(), "one position per vertex");
        let squared: f64 = found
            .iter()
            .zip(truth)
            .map(|(a, b)| a.distance_squared(*b))
            .sum();
        (squared / found.len() as f64).sqrt() / self.longest_side()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    #[test]
    fn invalid_frames_are_rejected_by_index() {
        let mesh = shapes::icosphere(1);
        let still = mesh.positions().to_vec();
        let examples = |frames: Vec<Vec<DVec3>>| {
            let names = (0..frames.len()).map(|k| k.to_string()).collect();
            Examples::new(mesh.clone(), frames, names)
        };

        assert_eq!(
            examples(vec![still.clone()]).unwrap_err(),
            LearnError::TooFewExamples {
                found: 1,
                needed: 2
            }
        );

        let short = examples(vec![still.clone(), still[1..].to_vec()])
            .unwrap_err()
            .to_string();

        assert!(
            short.contains("frame 1") && short.contains("41") && short.contains("42"),
            "{short}"
        );

        // The message names the first invalid vertex.
        let mut broken = still.clone();
        broken[5].y = f64::NAN;
        assert_eq!(
            examples(vec![still.clone(), broken]).unwrap_err(),
            LearnError::FrameNotFinite {
                frame: 1,
                vertex: 5
            }
        );

        assert_eq!(examples(vec![still.clone(), still]).unwrap().count(), 3);
    }

    #[test]
    fn an_error_is_the_rms_distance_over_the_longest_side() {
        let mesh = shapes::icosphere(1);
        let lifted: Vec<DVec3> = mesh
            .positions()
            .iter()
            .map(|p| *p + DVec3::Z * 0.3)
            .collect();

        let examples = Examples::new(
            mesh.clone(),
            vec![lifted.clone(); 2],
            vec!["a".into(), "b".into()],
        )
        .unwrap();

        assert!((examples.error(&lifted, 0) - 0.3 / examples.longest_side()).abs() < 1e-14);
        assert_eq!(examples.error(&lifted, 1), 0.0);
    }
}
