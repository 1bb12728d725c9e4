//! Feet that stand in the source, and a root motion that leaves them standing in the target.
//!
//! **Problem.** A target with longer legs than its size suggests covers too little way: its feet skate.
//!
//! **Method.** A source vertex is *planted* over a run of at least `least_frames` frames in which it is near the ground and hardly
//! moves. A target triangle is planted while most of what it takes from has three planted corners. From one frame to the
//! next the target is shifted along the ground so that the triangles planted in both stay where they are, in the mean;
//! what was shifted stays shifted. So the way comes from the feet while they stand, and from the source while they do not.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, name it an open problem in section 5.
//!
//! **Ours.** All of it. Only the root moves, so a foot that bends otherwise than the others may still creep a little; heights
//! are left as they are.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_area};
use pliant_rig::Clip;

use crate::flexibility::require_frames;
use crate::{TransferError, TriangleMap};

/// When a vertex counts as planted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactOptions {
    up: DVec3,
    height: f64,
    speed: f64,
    least_frames: usize,
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self { up: DVec3::Y, height: Self::DEFAULT_HEIGHT, speed: Self::DEFAULT_SPEED, least_frames: Self::DEFAULT_LEAST_FRAMES }
    }
}

impl ContactOptions {
    /// *Ours*: the height of a hoof, as part of the diagonal.
    pub const DEFAULT_HEIGHT: f64 = 0.03;
    /// *Ours*: a tenth of what the foot of a walking animal covers from frame to frame, as part of the diagonal.
    pub const DEFAULT_SPEED: f64 = 0.004;
    /// *Ours*: a foot that only passes its lowest point rests for two frames at most.
    pub const DEFAULT_LEAST_FRAMES: usize = 3;

    /// The direction away from the ground. Default: y.
    #[must_use]
    pub fn with_up(self, up: DVec3) -> Self {
        Self { up: up.normalize_or(DVec3::Y), ..self }
    }

    /// How far above the lowest vertex of the clip the ground reaches, as part of the diagonal of the reference.
    #[must_use]
    pub fn with_height(self, height: f64) -> Self {
        Self { height, ..self }
    }

    /// How far a planted vertex moves from frame to frame at most, as part of the diagonal of the reference.
    #[must_use]
    pub fn with_speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }
}

/// The planted vertices of every frame of a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct FootContacts {
    planted: Vec<Vec<u32>>,
}

impl FootContacts {
    /// Looks for them in all frames of `clip`.
    ///
    /// # Errors
    /// A clip without frames, or a position that is not finite.
    pub fn find(clip: &Clip, options: &ContactOptions) -> Result<Self, TransferError> {
        require_frames(clip)?;
        let frames = clip.frames();
        let diagonal = clip.reference().bounds().map_or(0.0, |bounds| bounds.diagonal());
        let ground = frames.iter().flatten().map(|p| options.up.dot(*p)).fold(f64::INFINITY, f64::min);
        let low = |p: DVec3| options.up.dot(p) - ground <= options.height * diagonal;
        let step = options.speed * diagonal;
        let mut planted = vec![Vec::new(); frames.len()];
        for v in 0..clip.reference().vertex_count() {
            let mut first = 0;
            for f in 1..=frames.len() {
                let rests =
                    f < frames.len() && low(frames[f][v]) && low(frames[f - 1][v]) && frames[f][v].distance(frames[f - 1][v]) <= step;
                if !rests {
                    if f - first >= options.least_frames {
                        planted[first..f].iter_mut().for_each(|frame| frame.push(v as u32));
                    }
                    first = f;
                }
            }
        }
        Ok(Self { planted })
    }

    /// The vertices that are planted in `frame`, ascending.
    #[must_use]
    pub fn at(&self, frame: usize) -> &[u32] {
        &self.planted[frame]
    }
}

/// Keeps planted target triangles in place from frame to frame.
#[derive(Debug, Clone)]
pub(crate) struct Planting {
    up: DVec3,
    /// Of each source.
    contacts: Vec<FootContacts>,
    /// What the target was shifted by so far.
    shift: DVec3,
    /// Triangles that were planted in the frame before, and where.
    standing: Vec<(u32, DVec3)>,
}

impl Planting {
    pub(crate) fn new<'a>(clips: impl Iterator<Item = &'a Clip>, options: &ContactOptions) -> Result<Self, TransferError> {
        let contacts = clips.map(|clip| FootContacts::find(clip, options)).collect::<Result<_, _>>()?;
        Ok(Self { up: options.up, contacts, shift: DVec3::ZERO, standing: Vec::new() })
    }

    /// Forgets all frames.
    pub(crate) fn restart(&mut self) {
        self.shift = DVec3::ZERO;
        self.standing.clear();
    }

    /// Shifts `positions` so that triangles planted now and before stay in place; `moved_by` is the source that moves the
    /// root, its map and its frame, if there is one.
    pub(crate) fn hold(&mut self, target: &Mesh, moved_by: Option<(usize, &Clip, &TriangleMap, usize)>, positions: &mut [DVec3]) {
        let planted =
            moved_by.map_or(Vec::new(), |(source, clip, map, frame)| planted_triangles(self.contacts[source].at(frame), clip, map));
        let place =
            |t: u32, positions: &[DVec3]| target.triangles()[t as usize].iter().map(|&v| positions[v as usize]).sum::<DVec3>() / 3.0;
        let (mut slip, mut total) = (DVec3::ZERO, 0.0);
        for &(t, before) in self.standing.iter().filter(|(t, _)| planted.binary_search(t).is_ok()) {
            let area = triangle_area(target.triangle_points(t as usize));
            slip += (place(t, positions) + self.shift - before) * area;
            total += area;
        }
        if total > 0.0 {
            slip /= total;
            self.shift -= slip - self.up * self.up.dot(slip);
        }
        positions.iter_mut().for_each(|position| *position += self.shift);
        self.standing = planted.into_iter().map(|t| (t, place(t, positions))).collect();
    }
}

/// The target triangles that take more than half from source triangles with three planted corners, ascending.
fn planted_triangles(planted: &[u32], clip: &Clip, map: &TriangleMap) -> Vec<u32> {
    if planted.is_empty() {
        return Vec::new();
    }
    let mut stands = vec![false; clip.reference().vertex_count()];
    planted.iter().for_each(|&v| stands[v as usize] = true);
    let triangles = clip.reference().triangles();
    let share = |t: usize| {
        map.row(t).iter().filter(|(s, _)| triangles[*s as usize].iter().all(|&v| stands[v as usize])).map(|(_, w)| w).sum::<f64>()
    };
    (0..map.len() as u32).filter(|&t| share(t as usize) > 0.5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layer, Source, Synthesis, SynthesisOptions};
    use std::borrow::Cow;

    /// A sole on the ground and a leg of height `height` on it, in quads.
    fn leg(height: f64) -> Mesh {
        let line = |x: f64, y: f64| [DVec3::new(x, y, 0.0), DVec3::new(x, y, 0.3)];
        let points = [line(-0.4, 0.0), line(0.0, 0.0), line(0.0, height / 2.0), line(0.0, height)].concat();
        Mesh::from_polygons(points, &[vec![0, 2, 3, 1], vec![2, 4, 5, 3], vec![4, 6, 7, 5]]).unwrap()
    }

    /// The leg leans over its standing sole for six frames, then is lifted and brought forward for three.
    fn stepping(mesh: &Mesh) -> Clip {
        let frame = |k: usize| {
            let (lean, lift) = (0.05 * k.min(5) as f64, k.saturating_sub(5) as f64);
            mesh.positions().iter().map(|p| DVec3::new(p.x + lean * p.y + 0.1 * lift, p.y + 0.3 * lift, p.z)).collect()
        };
        Clip::new("step", mesh.clone(), (0..9).map(frame).collect()).unwrap()
    }

    #[test]
    fn the_sole_is_planted_while_it_stands_and_nothing_else_is() {
        let clip = stepping(&leg(1.0));
        let contacts = FootContacts::find(&clip, &ContactOptions::default()).unwrap();
        for k in 0..9 {
            assert_eq!(contacts.at(k), if k < 6 { &[0, 1, 2, 3][..] } else { &[] }, "frame {k}");
        }
    }

    #[test]
    fn a_rest_of_two_frames_is_no_stand() {
        let mesh = leg(1.0);
        let frame = |k: usize| mesh.positions().iter().map(|p| *p + DVec3::X * (k / 2) as f64).collect();
        let clip = Clip::new("hops", mesh.clone(), (0..6).map(frame).collect()).unwrap();
        let contacts = FootContacts::find(&clip, &ContactOptions::default()).unwrap();
        assert!((0..6).all(|k| contacts.at(k).is_empty()));
    }

    #[test]
    fn the_foot_of_a_longer_leg_skates_without_planting_and_stands_with_it() {
        let (source, target) = (leg(1.0), leg(2.5));
        let clip = stepping(&source);
        let creep = |options: SynthesisOptions| {
            let layers = vec![Layer::whole(0, vec![1.0; 6], 9)];
            let sources = vec![Source { clip: &clip, map: Cow::Owned(TriangleMap::identity(6)) }];
            let mut synthesis = Synthesis::new(&target, sources, layers, options).unwrap();
            let first: Vec<DVec3> = synthesis.frame(0).to_vec();
            let creep = (1..6).map(|k| (0..4).map(|v| (synthesis.frame(k)[v] - first[v]).length()).fold(0.0, f64::max)).fold(0.0, f64::max);
            let in_order = synthesis.frame(8).to_vec();
            synthesis.frame(2);
            assert_eq!(synthesis.frame(8), in_order, "any order gives the same");
            creep
        };
        assert!(creep(SynthesisOptions::default()) > 0.02);
        assert!(creep(SynthesisOptions::default().with_planted_feet(ContactOptions::default())) < 1e-9);
    }
}
