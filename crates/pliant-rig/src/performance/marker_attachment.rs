//! Captured markers on a face: attached to the surface once, then slider weights for each frame.
//!
//! **Problem.** Markers are recorded in a space, a unit and on a head of their own, the head moves,
//! and markers stand above the skin. A user knows for some markers the vertices where they belong.
//!
//! **Equation.** In a frame at rest with the positions `p`, the similarity `x ↦ s R x + t` with the
//! least `Σ |s R p_m + t − x_v|²` over the known pairs brings the take to the rig. Each marker is
//! attached to its vertex, or to the closest surface point `q_m`, with the offset
//! `o_m = s R p_m + t − q_m`. In frame `t` the head moves by the rigid motion `H` with the least
//!
//! ```text
//! Σ_m ω_m |H (x_m(w) + o_m) − (s R p_m(t) + t)|²        ω = (ε² / (ε² + d²))²
//! ```
//!
//! where `d` is the largest displacement of the marker by any slider, and `ε` a tenth of the largest
//! `d`. The goals `H⁻¹ p(t) − o` give the weights ([`Inverter::invert_markers`]); motions and weights
//! alternate.
//!
//! **Source.** Umeyama, "Least-squares estimation of transformation parameters between two point
//! patterns", 1991. The alternation is that of [`Inverter`] for whole meshes.
//!
//! **Departures.** A frame with fewer than three markers keeps the motion of the frame before.

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{SurfaceIndex, SurfacePoint, VertexId};

use super::recording::{Channel, ChannelKind, Performance};
use super::rotation::CharacterAxes;
use crate::pose::Support;
use crate::{Inverse, Inverter, MarkerClip, MarkerTrack, Pin, Rig, RigError};

/// Alternations of head motion and weights. *Chosen*: later ones change planted heads by less than
/// a thousandth of the motion.
const ALTERNATIONS: usize = 6;
/// `ε` relative to the largest displacement. *Chosen*: markers on the forehead still move a little.
const STATIC: f64 = 0.1;

/// Markers attached to the surface of a rig.
#[derive(Debug, Clone)]
pub struct MarkerAttachment {
    /// The surface point of each marker.
    pub at: Vec<SurfacePoint>,
    /// The position of each marker above its surface point.
    pub offsets: Vec<DVec3>,
    /// The scale from the take to the rig.
    pub scale: f64,
    /// The rigid motion from the take to the rig, after the scale.
    pub alignment: RigidMotion,
    /// The root mean square distance of the known markers from their vertices, after alignment.
    pub pair_rms: f64,
    /// The markers of the track that are attached; those that the rest frame lacks are not.
    pub markers: Vec<usize>,
}

/// Weights and head motion from markers.
#[derive(Debug, Clone)]
pub struct MarkerInverse {
    /// The weights, and how their solve ended.
    pub inverse: Inverse,
    /// The motion of the head in each frame.
    pub motions: Vec<RigidMotion>,
    /// The root mean square distance of each attached marker from its goal, in units of the rig.
    pub marker_rms: Vec<f64>,
    /// The same for each frame.
    pub frame_rms: Vec<f64>,
    /// What each attached marker lacks in each frame, in the space of the rig at rest.
    pub residuals: Vec<Vec<Option<DVec3>>>,
}

impl MarkerAttachment {
    /// Attaches the markers of `track` by its frame `rest_frame`, given the vertices of some
    /// markers; at least three pairs that are not on a line decide the alignment.
    ///
    /// # Errors
    /// [`RigError::NoSuchFrame`], [`RigError::BadOption`] for fewer than three pairs whose markers
    /// are seen, and those of the mesh.
    pub fn new(
        rig: &Rig,
        track: &MarkerTrack,
        rest_frame: usize,
        pairs: &[(usize, VertexId)],
    ) -> Result<Self, RigError> {
        let frames = track.frames().len();
        let rest = track
            .frames()
            .get(rest_frame)
            .ok_or(RigError::NoSuchFrame {
                frame: rest_frame,
                frames,
            })?;

        let mesh = rig.neutral();
        let mut taken = Vec::new();
        let mut wanted = Vec::new();
        for &(marker, vertex) in pairs {
            SurfacePoint::Vertex(vertex.get()).check(mesh)?;
            if let Some(position) = rest.get(marker).copied().flatten() {
                taken.push(position);
                wanted.push(mesh.positions()[vertex.index()]);
            }
        }
        let (scale, alignment) = similarity(&taken, &wanted)?;
        let place = |position: DVec3| alignment.apply(position * scale);

        let index = SurfaceIndex::new(mesh)?;
        let mut attachment = Self {
            at: Vec::new(),
            offsets: Vec::new(),
            scale,
            alignment,
            pair_rms: rms_distance(&taken, &wanted, place),
            markers: Vec::new(),
        };
        for (marker, position) in rest.iter().enumerate() {
            let Some(position) = *position else { continue };
            let position = place(position);
            let known = pairs.iter().find(|(other, _)| *other == marker);
            let (at, point) = match known {
                Some(&(_, vertex)) => {
                    let at = SurfacePoint::Vertex(vertex.get());
                    (at, mesh.positions()[vertex.index()])
                }
                None => match index.closest_point(position) {
                    Some(found) => (SurfacePoint::InTriangle(found.place), found.point),
                    None => continue,
                },
            };
            attachment.at.push(at);
            attachment.offsets.push(position - point);
            attachment.markers.push(marker);
        }
        Ok(attachment)
    }

    /// The weights and the head motion of every frame.
    ///
    /// # Errors
    /// As [`Inverter::invert_markers`].
    pub fn solve(
        &self,
        inverter: &Inverter,
        rig: &Rig,
        track: &MarkerTrack,
        frames_per_second: f64,
    ) -> Result<MarkerInverse, RigError> {
        let mut placed: Vec<Vec<Option<DVec3>>> = Vec::with_capacity(track.frames().len());
        for frame in track.frames() {
            let own = self.markers.iter().map(|&marker| {
                frame[marker].map(|position| self.alignment.apply(position * self.scale))
            });
            placed.push(own.collect());
        }

        let points = MarkerPoints::new(rig, self);
        let mut motions = vec![RigidMotion::IDENTITY; placed.len()];
        let mut inverse = None;
        for _ in 0..ALTERNATIONS {
            motions = points.motions(&placed, inverse.as_ref());
            let clip = MarkerClip {
                at: self.at.clone(),
                frames: goals(&placed, &motions, &self.offsets),
                frames_per_second,
            };
            inverse = Some(inverter.invert_markers(&clip)?);
        }

        let inverse = inverse.expect("there is an alternation");
        let goals = goals(&placed, &motions, &self.offsets);
        let mut residuals = Vec::with_capacity(goals.len());
        for (weights, goals) in inverse.track.keys().iter().zip(&goals) {
            let reached = points.at(weights);
            let rest = goals.iter().zip(reached);
            residuals.push(
                rest.map(|(goal, point)| goal.map(|goal| goal - point))
                    .collect(),
            );
        }
        Ok(MarkerInverse {
            marker_rms: (0..self.at.len())
                .map(|m| {
                    rms(residuals
                        .iter()
                        .filter_map(|frame: &Vec<Option<DVec3>>| frame[m]))
                })
                .collect(),
            frame_rms: residuals
                .iter()
                .map(|frame| rms(frame.iter().flatten().copied()))
                .collect(),
            residuals,
            inverse,
            motions,
        })
    }
}

impl MarkerInverse {
    /// The weights as channels with the names of the sliders, and the rotation of the head.
    ///
    /// # Errors
    /// As [`Performance::new`].
    pub fn performance(
        &self,
        name: &str,
        rig: &Rig,
        axes: &CharacterAxes,
        frames_per_second: f64,
    ) -> Result<Performance, RigError> {
        let mut channels = Vec::with_capacity(rig.targets().len() + 3);
        for (k, target) in rig.targets().iter().enumerate() {
            let values = self.inverse.track.keys().iter().map(|row| row[k]);
            channels.push(Channel {
                name: target.name.clone(),
                kind: ChannelKind::Weight,
                values: values.collect(),
            });
        }

        let angles: Vec<[f64; 3]> = self
            .motions
            .iter()
            .map(|m| axes.angles(m.rotation))
            .collect();
        for (column, name) in ["HeadYaw", "HeadPitch", "HeadRoll"].into_iter().enumerate() {
            let values = angles.iter().map(|angles| angles[column]);
            channels.push(Channel::new(name, values.collect()));
        }
        Performance::even(name, frames_per_second, channels)
    }
}

/// The goals of the surface points, without head motion and offsets.
fn goals(
    placed: &[Vec<Option<DVec3>>],
    motions: &[RigidMotion],
    offsets: &[DVec3],
) -> Vec<Vec<Option<DVec3>>> {
    let mut goals = Vec::with_capacity(placed.len());
    for (frame, motion) in placed.iter().zip(motions) {
        let back = motion.inverse();
        let own = frame.iter().zip(offsets);
        goals.push(
            own.map(|(p, offset)| p.map(|p| back.apply(p) - *offset))
                .collect(),
        );
    }
    goals
}

fn rms(residuals: impl Iterator<Item = DVec3>) -> f64 {
    let mut count = 0;
    let mut squares = 0.0;
    for residual in residuals {
        count += 1;
        squares += residual.length_squared();
    }
    (squares / f64::from(count.max(1))).sqrt()
}

fn rms_distance(from: &[DVec3], to: &[DVec3], place: impl Fn(DVec3) -> DVec3) -> f64 {
    rms(from.iter().zip(to).map(|(from, to)| place(*from) - *to))
}

/// The scale and the rigid motion that bring `from` next to `to`.
fn similarity(from: &[DVec3], to: &[DVec3]) -> Result<(f64, RigidMotion), RigError> {
    let too_few = |count: usize| RigError::BadOption {
        what: "the number of markers with a vertex that are seen at rest and not on a line",
        value: count as f64,
        needed: "at least 3",
    };
    if from.len() < 3 {
        return Err(too_few(from.len()));
    }

    // The rotation does not depend on the scale.
    let motion = RigidMotion::fit(from, to, None)?;
    let count = from.len() as f64;
    let center = from.iter().sum::<DVec3>() / count;
    let goal = to.iter().sum::<DVec3>() / count;
    let mut spread = 0.0;
    let mut overlap = 0.0;
    let mut area = 0.0_f64;
    for (p, q) in from.iter().zip(to) {
        let p = *p - center;
        spread += p.length_squared();
        overlap += (motion.rotation * p).dot(*q - goal);
        area = area.max((from[0] - center).cross(p).length());
    }
    let scale = overlap / spread;
    if !(scale > 0.0 && scale.is_finite() && area > 1e-6 * spread / count) {
        return Err(too_few(2));
    }

    let translation = goal - motion.rotation * (center * scale);
    Ok((
        scale,
        RigidMotion {
            rotation: motion.rotation,
            translation,
        },
    ))
}

/// The surface points of markers as functions of the weights.
struct MarkerPoints<'r> {
    rig: &'r Rig,
    rest: Vec<DVec3>,
    /// For each shape the displacements of the points.
    rows: Vec<Vec<DVec3>>,
    offsets: &'r [DVec3],
    /// `ω`.
    stillness: Vec<f64>,
}

impl<'r> MarkerPoints<'r> {
    fn new(rig: &'r Rig, attachment: &'r MarkerAttachment) -> Self {
        let mesh = rig.neutral();
        let support = |at: &SurfacePoint| {
            let pin = Pin {
                at: *at,
                ..Pin::hold(0)
            };
            pin.support(mesh)
        };
        let supports: Vec<Support> = attachment.at.iter().map(support).collect();
        let mut rows: Vec<Vec<DVec3>> = Vec::new();
        for shape in rig.shapes() {
            rows.push(supports.iter().map(|s| s.displacement(shape)).collect());
        }

        let mut largest = vec![0.0_f64; supports.len()];
        for row in &rows {
            for (known, displacement) in largest.iter_mut().zip(row) {
                *known = known.max(displacement.length());
            }
        }
        let epsilon = STATIC * largest.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let stillness = largest
            .iter()
            .map(|d| 1.0 / (1.0 + (d / epsilon).powi(2)).powi(2));

        Self {
            rig,
            rest: supports.iter().map(|s| s.of(mesh.positions())).collect(),
            stillness: stillness.collect(),
            rows,
            offsets: &attachment.offsets,
        }
    }

    fn at(&self, weights: &[f64]) -> Vec<DVec3> {
        let mut points = self.rest.clone();
        let coefficients = self.rig.activation().coefficients(weights);
        for (coefficient, row) in coefficients.iter().zip(&self.rows) {
            if *coefficient != 0.0 {
                for (point, displacement) in points.iter_mut().zip(row) {
                    *point += *displacement * *coefficient;
                }
            }
        }
        points
    }

    /// The motion of the head in each frame, given the weights of an earlier solve.
    fn motions(
        &self,
        placed: &[Vec<Option<DVec3>>],
        inverse: Option<&Inverse>,
    ) -> Vec<RigidMotion> {
        let found: Vec<Option<RigidMotion>> = parallel::map(placed.len(), 16, |t| {
            let points = match inverse {
                Some(inverse) => self.at(&inverse.track.keys()[t]),
                None => self.rest.clone(),
            };
            let mut from = Vec::new();
            let mut to = Vec::new();
            let mut weights = Vec::new();
            for (m, position) in placed[t].iter().enumerate() {
                if let Some(position) = position {
                    from.push(points[m] + self.offsets[m]);
                    to.push(*position);
                    weights.push(self.stillness[m]);
                }
            }
            if from.len() < 3 {
                return None;
            }
            RigidMotion::fit(&from, &to, Some(&weights)).ok()
        });

        let mut motions = Vec::with_capacity(found.len());
        let first = found
            .iter()
            .flatten()
            .next()
            .copied()
            .unwrap_or(RigidMotion::IDENTITY);
        for motion in found {
            let before = motions.last().copied().unwrap_or(first);
            motions.push(motion.unwrap_or(before));
        }
        motions
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::{DQuat, Vec3};
    use pliant_mesh::shapes::icosphere;

    use super::*;
    use crate::{InvertOptions, Target};

    /// A ball with two bumps that grow.
    fn rig() -> Rig {
        let mesh = icosphere(3);
        let bump = |name: &str, at: DVec3| {
            let deltas = mesh.positions().iter().map(|p| {
                let near = (1.0 - 2.0 * p.distance(at)).max(0.0);
                (*p * near).as_vec3()
            });
            Target::from_dense(name, deltas.collect::<Vec<Vec3>>())
        };
        let targets = vec![bump("left", DVec3::X), bump("right", DVec3::Z)];
        Rig::new(mesh.clone(), targets).unwrap()
    }

    #[test]
    fn planted_weights_are_found_under_scale_head_motion_and_dropouts() {
        let rig = rig();
        let mesh = rig.neutral();
        let near = |at: DVec3| {
            let found = mesh.positions().iter().enumerate();
            let best = found.min_by(|a, b| a.1.distance(at).total_cmp(&b.1.distance(at)));
            best.unwrap().0
        };
        // Six markers at rest parts, three on the bumps.
        let places = [
            DVec3::NEG_X,
            DVec3::Y,
            DVec3::NEG_Y,
            DVec3::NEG_Z,
            DVec3::new(-1.0, 1.0, 0.0),
            DVec3::new(0.0, -1.0, -1.0),
            DVec3::X,
            DVec3::new(1.0, 0.15, 0.1),
            DVec3::Z,
        ]
        .map(|p| near(p.normalize()));

        let weights = |t: usize| {
            let phase = t as f64 / 9.0;
            [0.5 - 0.5 * phase.cos(), 0.4 - 0.4 * (1.7 * phase).cos()]
        };
        let names = (0..places.len()).map(|k| format!("m{k}")).collect();
        let frames = (0..80).map(|t| {
            let shape = rig.evaluate(&weights(t));
            let head = DQuat::from_rotation_y(0.01 * t as f64)
                * DQuat::from_rotation_x(0.2 * (t as f64 / 20.0).sin());
            let marker = |(m, &v): (usize, &usize)| {
                // A stalk of 0.02 above the skin, in millimetres of another space.
                let above = mesh.positions()[v] * 0.02;
                let position =
                    (head * (shape[v] + above) + DVec3::new(0.1, 0.0, 0.002 * t as f64)) * 90.0;
                let is_lost = t > 0 && (t + 3 * m) % 17 < 2;
                (!is_lost).then_some(position + DVec3::new(400.0, -20.0, 3.0))
            };
            places.iter().enumerate().map(marker).collect()
        });
        let track = MarkerTrack::new(names, Some(60.0), frames.collect()).unwrap();

        let pairs: Vec<(usize, VertexId)> = (0..places.len())
            .map(|m| (m, VertexId::from(places[m])))
            .collect();
        let attachment = MarkerAttachment::new(&rig, &track, 0, &pairs).unwrap();
        assert!(
            (attachment.scale * 90.0 - 1.0).abs() < 0.03,
            "{}",
            attachment.scale
        );

        // The curvature penalty carries weights over frames without their marker.
        let options = InvertOptions::default()
            .with_sparsity(0.0)
            .with_roughness(1e-4);
        let inverter = Inverter::factor(&rig, &options).unwrap();
        let solved = attachment.solve(&inverter, &rig, &track, 60.0).unwrap();
        let mut worst = 0.0_f64;
        for (t, found) in solved.inverse.track.keys().iter().enumerate() {
            for (found, planted) in found.iter().zip(weights(t)) {
                worst = worst.max((found - planted).abs());
            }
        }
        assert!(worst < 0.05, "{worst}");
        assert!(solved.frame_rms.iter().all(|rms| *rms < 0.02));
    }

    #[test]
    fn too_few_pairs_and_missing_frames_are_errors() {
        let rig = rig();
        let seen = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::X * 2.0]
            .map(Some)
            .to_vec();
        let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let track = MarkerTrack::new(names, None, vec![seen]).unwrap();
        let pair = |m: usize| (m, VertexId::from(m));
        assert!(MarkerAttachment::new(&rig, &track, 0, &[pair(0), pair(1)]).is_err());
        assert!(MarkerAttachment::new(&rig, &track, 1, &[pair(0), pair(1), pair(2)]).is_err());
        assert!(
            MarkerAttachment::new(
                &rig,
                &track,
                0,
                &[
                    (0, VertexId::from(0)),
                    (3, VertexId::from(1)),
                    (1, VertexId::from(999_999))
                ]
            )
            .is_err()
        );
    }
}
