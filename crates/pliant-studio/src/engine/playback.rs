//! The pose at a frame of the timeline: weights of the keys, or a frame of a take.

use std::sync::Arc;

use pliant::io::{Animation, Asset, Shape};
use pliant::mesh::glam::DVec3;
use pliant::rig::{KeyedCurves, WeightTrack};

use super::library::LoadedAsset;
use crate::model::blob::Blob;
use crate::model::document::{Document, Weights};
use crate::model::timeline::{Ease, Key, Keys, Take, TakeFrames, WeightFrames, made_frame};

/// The tolerance of keys that approximate a clip: a thousandth of a slider is not visible.
const KEY_TOLERANCE: f64 = 1e-3;

/// A pose that is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum ShownPose {
    /// That of weights.
    Weights(Weights),
    /// That of a take.
    Frame(TakeFrame),
}

/// A frame of a take, cheap to create; the worker reads its positions.
#[derive(Debug, Clone)]
pub struct TakeFrame {
    source: Source,
    /// The frame of the take, between two of them as well.
    frame: f64,
}

#[derive(Debug, Clone)]
enum Source {
    Made(Blob),
    Clip {
        loaded: Arc<LoadedAsset>,
        clip: usize,
        /// The unit of the clip in units of the character.
        scale: f64,
    },
}

impl PartialEq for TakeFrame {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.source, &other.source) {
            (Source::Made(a), Source::Made(b)) => a == b,
            (
                Source::Clip {
                    loaded: a, clip: k, ..
                },
                Source::Clip {
                    loaded: b, clip: l, ..
                },
            ) => Arc::ptr_eq(a, b) && k == l,
            _ => false,
        };
        same && self.frame == other.frame
    }
}

impl TakeFrame {
    /// Where the vertices are; between frames on straight lines. `None` where the take does not
    /// hold that frame of so many vertices.
    #[must_use]
    pub fn positions(&self, vertex_count: usize) -> Option<Vec<DVec3>> {
        let frame = self.frame.floor() as usize;
        let share = self.frame.fract();
        let mut positions = self.whole_frame(frame, vertex_count)?;
        // Between two frames positions are interpolated linearly.
        if share > 0.0 {
            let next = self.whole_frame(frame + 1, vertex_count)?;
            for (a, b) in positions.iter_mut().zip(next) {
                *a = a.lerp(b, share);
            }
        }
        Some(positions)
    }

    fn whole_frame(&self, frame: usize, vertex_count: usize) -> Option<Vec<DVec3>> {
        match &self.source {
            Source::Made(blob) => Some(
                made_frame(blob, frame, vertex_count)?
                    .iter()
                    .map(|p| p.as_dvec3())
                    .collect(),
            ),
            Source::Clip {
                loaded,
                clip,
                scale,
            } => {
                let mut positions = loaded.asset.clip_positions(*clip, frame)?;
                for position in positions.iter_mut().filter(|_| *scale != 1.0) {
                    *position *= *scale;
                }
                // A clip of another mesh does not fit.
                (positions.len() == vertex_count).then_some(positions)
            }
        }
    }
}

/// Input of a take, found by its name.
pub enum TakeSource<'a> {
    /// A take made in the studio: its bytes, rate and number of frames.
    Made(&'a Blob, f64, u32),
    /// A clip of an asset.
    Clip(Arc<LoadedAsset>, usize),
    /// Weights of a performance: the take and its frames.
    Weights(&'a Take, &'a WeightFrames),
}

/// The take that plays instead of the keys: one of the document, or a clip of the character's own
/// file. Other files come from `library`.
pub fn find_take<'a>(
    document: &'a Document,
    character: &Arc<LoadedAsset>,
    mut library: impl FnMut(&str) -> Option<Arc<LoadedAsset>>,
) -> Option<TakeSource<'a>> {
    let name = document.timeline.playing_take.as_ref()?;
    // A take of another character does not play.
    match document.timeline.take(name) {
        Some(take) if take.of != character.locator => None,
        Some(take) => match &take.frames {
            TakeFrames::Made(blob) => Some(TakeSource::Made(
                blob,
                take.frames_per_second,
                take.frame_count,
            )),
            TakeFrames::Clip(locator) => library(locator)
                .filter(|file| !file.asset.clips.is_empty())
                .map(|file| TakeSource::Clip(file, 0)),
            TakeFrames::Weights(weights) => Some(TakeSource::Weights(take, weights)),
        },
        None => character
            .asset
            .clips
            .iter()
            .position(|clip| clip.name == *name)
            .map(|clip| TakeSource::Clip(character.clone(), clip)),
    }
}

/// The unit of one asset in units of another; 1 if one of them is unknown.
fn unit_ratio(of: &LoadedAsset, to: &LoadedAsset) -> f64 {
    let units = of.asset.meters_per_unit.zip(to.asset.meters_per_unit);
    units.map_or(1.0, |(of, to)| of / to)
}

/// The pose that is shown at a frame of the timeline.
#[must_use]
pub fn shown_pose(
    document: &Document,
    character: &Arc<LoadedAsset>,
    library: impl FnMut(&str) -> Option<Arc<LoadedAsset>>,
    frame: f64,
) -> ShownPose {
    let secs = frame / document.timeline.frames_per_second;
    match find_take(document, character, library) {
        Some(TakeSource::Made(blob, rate, count)) => ShownPose::Frame(TakeFrame {
            source: Source::Made(blob.clone()),
            frame: frame_of(secs * rate, count as usize),
        }),
        Some(TakeSource::Clip(loaded, clip)) => {
            let animation = &loaded.asset.clips[clip];
            // A clip of weights respects muted sliders; positions cannot.
            match clip_weights(&loaded.asset, animation, secs) {
                Some(weights) => ShownPose::Weights(without_inactive(document, weights)),
                None => {
                    let frame = frame_of(secs * animation.frames_per_second, animation.frame_count);
                    ShownPose::Frame(TakeFrame {
                        source: Source::Clip {
                            scale: unit_ratio(&loaded, character),
                            loaded,
                            clip,
                        },
                        frame,
                    })
                }
            }
        }
        Some(TakeSource::Weights(take, weights)) => {
            let frame = frame_of(secs * take.frames_per_second, take.frame_count as usize);
            match weights.at(frame) {
                Some(weights) => ShownPose::Weights(without_inactive(document, weights)),
                None => shown_weights(document),
            }
        }
        None => shown_weights(document),
    }
}

/// The pose of a live performance.
#[must_use]
pub fn live_pose(document: &Document, weights: Weights) -> ShownPose {
    ShownPose::Weights(without_inactive(document, weights))
}

/// The pose that the sliders have, whatever plays.
#[must_use]
pub fn shown_weights(document: &Document) -> ShownPose {
    ShownPose::Weights(without_inactive(
        document,
        document.character.weights.clone(),
    ))
}

/// Inactive sliders count as zero.
fn without_inactive(document: &Document, mut weights: Weights) -> Weights {
    for (_, weight) in weights
        .iter_mut()
        .filter(|(slider, _)| document.character.is_inactive(slider))
    {
        *weight = 0.0;
    }
    weights
}

/// Clamped to the take; tiny fractions of a frame are rounding errors.
fn frame_of(frame: f64, count: usize) -> f64 {
    let frame = frame.clamp(0.0, count.saturating_sub(1) as f64);
    if (frame - frame.round()).abs() < 1e-6 {
        frame.round()
    } else {
        frame
    }
}

/// The tracks of a clip that moves sliders and nothing else, each with the names of its sliders.
fn weight_tracks<'a>(
    asset: &'a Asset,
    clip: &'a Animation,
) -> Option<Vec<(Vec<&'a str>, &'a WeightTrack)>> {
    let track = |motion: &'a pliant::io::Motion| match &motion.shape {
        // A clip that also moves the object cannot be expressed by sliders.
        Shape::Weights(track) if motion.skin.is_none() && motion.placement.is_none() => {
            let names = asset
                .objects
                .get(motion.object)?
                .rig
                .targets()
                .iter()
                .map(|target| &*target.name)
                .collect();
            Some((names, track))
        }
        _ => None,
    };

    let tracks: Option<Vec<_>> = clip.motions.iter().map(track).collect();
    tracks.filter(|tracks| !tracks.is_empty())
}

/// The weights of a clip at a time after its start; `None` for one that moves more than sliders.
#[must_use]
pub fn clip_weights(asset: &Asset, clip: &Animation, secs: f64) -> Option<Weights> {
    let at = |(names, track): (Vec<&str>, &WeightTrack)| {
        names
            .into_iter()
            .map(str::to_owned)
            .zip(track.at(clip.start_secs + secs))
            .collect::<Vec<_>>()
    };
    Some(
        weight_tracks(asset, clip)?
            .into_iter()
            .flat_map(at)
            .filter(|(_, weight)| *weight != 0.0)
            .collect(),
    )
}

/// A clip of weights as few keys, at whole frames of a timeline of this rate; `None` for one that
/// moves more than sliders.
#[must_use]
pub fn clip_keys(asset: &Asset, clip: &Animation, frames_per_second: f64) -> Option<Keys> {
    let secs = clip.frame_count.saturating_sub(1) as f64 / clip.frames_per_second;
    let mut keys = Keys::new();
    for (names, track) in weight_tracks(asset, clip)? {
        let range = [clip.start_secs, clip.start_secs + secs];
        keys.extend(keys_of(&names, track, range, frames_per_second)?);
    }
    Some(keys)
}

/// A take of weights as few keys; `None` for other takes, and for one that is damaged.
#[must_use]
pub fn take_keys(take: &Take, frames_per_second: f64) -> Option<Keys> {
    let (names, track) = take.weight_track()?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let secs = f64::from(take.frame_count.saturating_sub(1)) / take.frames_per_second;
    keys_of(&names, &track.ok()?, [0.0, secs], frames_per_second)
}

/// The keys of a track between two times, at whole frames of a timeline.
fn keys_of(
    names: &[&str],
    track: &WeightTrack,
    [start_secs, end_secs]: [f64; 2],
    frames_per_second: f64,
) -> Option<Keys> {
    // The clip is resampled at whole frames, where keys are.
    let last = ((end_secs - start_secs) * frames_per_second).round() as u32;
    let times = (0..=last)
        .map(|frame| start_secs + f64::from(frame) / frames_per_second)
        .collect();
    let curves = KeyedCurves::from_track(&track.sampled(times).ok()?, KEY_TOLERANCE).ok()?;

    let mut keys = Keys::new();
    for (name, curve) in names
        .iter()
        .zip(curves.sliders())
        .filter(|(_, curve)| !curve.is_empty())
    {
        let frame = |secs: f64| ((secs - start_secs) * frames_per_second).round() as u32;
        let key = |key: &pliant::rig::Key| Key {
            frame: frame(key.time_secs),
            weight: key.weight,
            ease: Ease::Linear,
        };
        keys.insert((*name).to_owned(), curve.iter().map(key).collect());
    }
    Some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::library::load;
    use crate::model::room::RoomName;
    use crate::model::timeline::{Take, weight_at};

    fn head() -> Arc<LoadedAsset> {
        Arc::new(load("specimen:head", std::path::Path::new(".")).unwrap())
    }

    fn document(playing: Option<&str>) -> Document {
        let mut document = Document::default();
        document.character.asset = "specimen:head".into();
        document.timeline.playing_take = playing.map(str::to_owned);
        document
    }

    #[test]
    fn without_a_take_the_weights_of_audible_sliders_are_shown() {
        let head = head();
        let mut document = document(None);
        document.character.set_weight("jawOpen", 0.5);
        document.character.set_weight("browInnerUp", 0.5);
        document.character.muted.insert("jawOpen".into());

        let ShownPose::Weights(weights) = shown_pose(&document, &head, |_| None, 3.0) else {
            panic!("weights")
        };

        assert_eq!(
            weights,
            Weights::from([("browInnerUp".into(), 0.5), ("jawOpen".into(), 0.0)])
        );
    }

    #[test]
    fn a_take_plays_at_its_own_rate_with_linear_interpolation() {
        let head = head();
        let neutral = head.rig.neutral().positions();
        let frames: Vec<Vec<DVec3>> = (0..3)
            .map(|k| {
                neutral
                    .iter()
                    .map(|p| *p + DVec3::X * f64::from(k))
                    .collect()
            })
            .collect();

        let mut document = document(Some("press"));
        document
            .timeline
            .takes
            .push(Take::made("press", "specimen:head", &frames, 12.0));

        let at = |frame: f64| match shown_pose(&document, &head, |_| None, frame) {
            ShownPose::Frame(frame) => (frame.positions(neutral.len()).unwrap()[7] - neutral[7]).x,
            ShownPose::Weights(_) => panic!("positions"),
        };

        // 24 frames of the timeline are 12 of the take.
        for (frame, moved) in [(0.0, 0.0), (1.0, 0.5), (2.0, 1.0), (4.0, 2.0), (40.0, 2.0)] {
            assert!((at(frame) - moved).abs() < 1e-5, "frame {frame}");
        }

        document.timeline.takes[0].of = "specimen:hand".into();
        assert!(
            matches!(
                shown_pose(&document, &head, |_| None, 0.0),
                ShownPose::Weights(_)
            ),
            "a take of another mesh does not play"
        );
    }

    #[test]
    fn the_frame_range_is_that_of_the_playing_take() {
        let mut document = document(None);
        assert_eq!(document.last_frame_in(RoomName::Pose, &[]), Some(48));

        let frames = vec![vec![DVec3::ZERO]; 133];
        document
            .timeline
            .takes
            .push(Take::made("long", "specimen:head", &frames, 12.0));
        document.timeline.playing_take = Some("long".into());

        // 132 steps of a twelfth are eleven seconds, of 24 frames each.
        let lasts = RoomName::ALL.map(|room| document.last_frame_in(room, &[]).unwrap());
        assert_eq!(lasts, [264, 264, 264, 48, 48]);
        document.timeline.takes[0].of = "specimen:hand".into();

        assert_eq!(
            document.last_frame_in(RoomName::Pose, &[]),
            Some(48),
            "a take of another mesh does not play"
        );
        document.timeline.playing_take = Some("performance".into());

        assert_eq!(
            document.last_frame_in(RoomName::Pose, &[]),
            None,
            "its file is not there yet"
        );

        let clips = &head().asset.clips;
        let clip = clips
            .iter()
            .find(|clip| clip.name == "performance")
            .unwrap();
        let secs = (clip.frame_count - 1) as f64 / clip.frames_per_second;

        assert_eq!(
            document.last_frame_in(RoomName::Pose, clips),
            Some((24.0 * secs - 1e-6).ceil() as u32)
        );
    }

    #[test]
    fn a_weight_clip_plays_as_weights_and_its_keys_approximate_it() {
        let head = head();
        let document = document(Some("performance"));
        let clip = head
            .asset
            .clips
            .iter()
            .find(|clip| clip.name == "performance")
            .unwrap();

        let keys = clip_keys(&head.asset, clip, clip.frames_per_second).unwrap();
        let rate = document.timeline.frames_per_second;
        // The document may run at another rate, so each clip frame is looked up at its time.
        for frame in [0, 13, 30, 55, 88] {
            let ShownPose::Weights(weights) = shown_pose(
                &document,
                &head,
                |_| None,
                f64::from(frame) * rate / clip.frames_per_second,
            ) else {
                panic!("weights")
            };
            for (slider, keys) in &keys {
                let wanted = weights.get(slider).copied().unwrap_or(0.0);
                let keyed = weight_at(keys, f64::from(frame));
                assert!(
                    (wanted - keyed).abs() <= 2.0 * KEY_TOLERANCE,
                    "{slider} at {frame}: {wanted} {keyed}"
                );
            }
        }

        assert!(
            keys.values().map(|keys| keys.len()).sum::<usize>() < clip.frame_count * keys.len() / 2,
            "keys only where they are needed"
        );
    }
}
