//! Clips: vertex positions of a mesh over time.

use std::borrow::Cow;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::RigError;

/// A reference mesh and its vertex positions frame by frame.
#[derive(Debug, Clone)]
pub struct Clip {
    name: String,
    reference: Mesh,
    frames: Vec<Vec<DVec3>>,
    frame_names: Vec<String>,
    frames_per_second: f64,
}

impl Clip {
    /// The rate of a clip whose file gives none. *Chosen*: that of film, and of Blender's default
    /// scene.
    pub const DEFAULT_FRAMES_PER_SECOND: f64 = 24.0;
    /// Times nearer to a frame than this part of its duration are on it: rounding of `k / rate`
    /// times `rate`.
    pub const FRAME_TOLERANCE: f64 = 1e-9;

    /// A clip of absolute positions, each frame in the vertex order of `reference`.
    pub fn new(
        name: impl Into<String>,
        reference: Mesh,
        frames: Vec<Vec<DVec3>>,
    ) -> Result<Self, RigError> {
        let expected = reference.vertex_count();
        for (k, frame) in frames.iter().enumerate() {
            if frame.len() != expected {
                return Err(RigError::VertexCount {
                    what: format!("frame {k}"),
                    found: frame.len(),
                    expected,
                });
            }
        }

        Ok(Self {
            name: name.into(),
            reference,
            frames,
            frame_names: Vec::new(),
            frames_per_second: Self::DEFAULT_FRAMES_PER_SECOND,
        })
    }

    /// The same clip with a name for each frame.
    #[must_use]
    pub fn with_frame_names(self, frame_names: Vec<String>) -> Self {
        Self {
            frame_names,
            ..self
        }
    }

    /// The same clip at another rate.
    #[must_use]
    pub fn with_frames_per_second(self, frames_per_second: f64) -> Self {
        Self {
            frames_per_second,
            ..self
        }
    }

    /// The clip's name, often that of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The mesh in the reference pose; it is not a frame.
    #[must_use]
    pub fn reference(&self) -> &Mesh {
        &self.reference
    }

    /// Absolute positions of every frame.
    #[must_use]
    pub fn frames(&self) -> &[Vec<DVec3>] {
        &self.frames
    }

    /// Names of the frames; empty where the file gives none.
    #[must_use]
    pub fn frame_names(&self) -> &[String] {
        &self.frame_names
    }

    /// Frames per second.
    #[must_use]
    pub fn frames_per_second(&self) -> f64 {
        self.frames_per_second
    }

    /// The time from the first frame to the last.
    #[must_use]
    pub fn duration_secs(&self) -> f64 {
        self.frames.len().saturating_sub(1) as f64 / self.frames_per_second
    }

    /// Positions at a time: exactly those of a frame at its time, and a Catmull-Rom spline between
    /// frames, so that velocities are continuous. Before the first frame and after the last the
    /// positions are constant; a clip without frames gives its reference.
    #[must_use]
    pub fn positions_at(&self, secs: f64) -> Cow<'_, [DVec3]> {
        let Some(last) = self.frames.len().checked_sub(1) else {
            return Cow::Borrowed(self.reference.positions());
        };

        let at = (secs * self.frames_per_second).clamp(0.0, last as f64);
        if (at - at.round()).abs() < Self::FRAME_TOLERANCE || at.is_nan() {
            return Cow::Borrowed(&self.frames[at.round() as usize]);
        }

        let k = at as usize;
        let t = at.fract();
        // At the ends of the clip a frame is its own neighbour.
        let [a, b, c, d] =
            [k.saturating_sub(1), k, k + 1, (k + 2).min(last)].map(|k| &self.frames[k]);

        let vertices = 0..b.len();
        let positions = vertices.map(|v| catmull_rom([a[v], b[v], c[v], d[v]], t));
        Cow::Owned(positions.collect())
    }

    /// One frame as a mesh.
    pub fn mesh_at(&self, frame: usize) -> Result<Mesh, RigError> {
        let positions = self.frames.get(frame).ok_or(RigError::NoSuchFrame {
            frame,
            frames: self.frames.len(),
        })?;
        Ok(self.reference.posed(positions.clone())?)
    }
}

/// The point at `t` between `b` and `c`: Hermite's cubic with central differences as tangents.
fn catmull_rom([a, b, c, d]: [DVec3; 4], t: f64) -> DVec3 {
    let from = 0.5 * (c - a);
    let to = 0.5 * (d - b);
    let step = c - b;
    let cubic = from + to - 2.0 * step;
    b + t * (from + t * (3.0 * step - 2.0 * from - to + t * cubic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_from_zero_and_do_not_include_the_reference() {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let clip = Clip::new("up", mesh, vec![vec![DVec3::Z; 3], vec![DVec3::ONE; 3]]).unwrap();

        assert_eq!(clip.mesh_at(1).unwrap().positions(), &[DVec3::ONE; 3]);
        assert_eq!(
            clip.mesh_at(2).unwrap_err(),
            RigError::NoSuchFrame {
                frame: 2,
                frames: 2
            }
        );
    }

    #[test]
    fn a_clip_interpolates_its_frames_with_a_continuous_velocity() {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let height = |k: usize| DVec3::Z * (k * k) as f64;
        let clip = Clip::new(
            "up",
            mesh.clone(),
            (0..6).map(|k| vec![height(k); 3]).collect(),
        )
        .unwrap()
        .with_frames_per_second(30.0);

        assert_eq!(clip.duration_secs(), 5.0 / 30.0);
        for k in 0..6 {
            assert_eq!(
                clip.positions_at(k as f64 / 30.0),
                [height(k); 3].as_slice()
            );
        }

        assert_eq!(clip.positions_at(-1.0), [height(0); 3].as_slice());
        assert_eq!(clip.positions_at(9.0), [height(5); 3].as_slice());

        // Away from its ends the spline is exact for a parabola.
        let z = |frame: f64| clip.positions_at(frame / 30.0)[2].z;
        for frame in [1.25, 2.5, 3.75] {
            assert!((z(frame) - frame * frame).abs() < 1e-12);
        }

        let slope = |frame: f64, step: f64| (z(frame + step) - z(frame)) / step;
        assert!((1..5).all(|k| (slope(k as f64, 1e-5) - slope(k as f64, -1e-5)).abs() < 1e-3));
        assert_eq!(
            Clip::new("none", mesh.clone(), Vec::new())
                .unwrap()
                .positions_at(0.5),
            mesh.positions()
        );
    }
}
