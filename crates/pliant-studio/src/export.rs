//! What can be written to files of other programs: the shape, the rig, the animation, takes.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::io::{Animation, Asset, Format, IoError};
use pliant::mesh::glam::DVec3;
use pliant::rig::{Interpolation, WeightTrack};

use crate::character::{Posed, RigSpec};
use crate::dialog::Kind;
use crate::document::{Character, Document};
use crate::files::{Files, why};
use crate::library::{self, Loaded};
use crate::names::shown;
use crate::timeline::{Ease, Take, TakeFrames, Timeline, made_frame};

/// Makes what is written; a worker calls it.
#[derive(Clone)]
pub enum Make {
    /// An asset, for a file of any format that Pliant writes.
    Asset(Arc<dyn Fn() -> Result<Asset, String> + Send + Sync>),
    /// Files of a format of their own, given the name of the first.
    Files(Kind, MakeFiles),
}

/// Makes files, given the name of the first.
pub type MakeFiles = Arc<dyn Fn(&Path) -> Result<Vec<NewFile>, String> + Send + Sync>;

/// Bytes and where they go.
pub type NewFile = (PathBuf, Vec<u8>);

/// Something that can be written to a file.
#[derive(Clone)]
pub struct Exportable {
    /// What it is called in the list.
    pub name: String,
    /// Makes it.
    pub make: Make,
}

impl fmt::Debug for Exportable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exportable({})", self.name)
    }
}

impl Exportable {
    /// An asset called `name`.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn() -> Result<Asset, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            make: Make::Asset(Arc::new(make)),
        }
    }

    /// Files called `name`, of a kind of their own.
    pub fn files(
        name: impl Into<String>,
        kind: Kind,
        make: impl Fn(&Path) -> Result<Vec<NewFile>, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            make: Make::Files(kind, Arc::new(make)),
        }
    }

    /// The kinds of files that it can be written to, the usual one first.
    #[must_use]
    pub fn kinds(&self) -> Vec<Kind> {
        match &self.make {
            Make::Files(kind, _) => vec![kind.clone()],
            Make::Asset(_) => {
                let mut endings = writable_endings();
                endings.sort_by_key(|ending| ending != "glb");
                endings
                    .into_iter()
                    .map(|ending| Kind::new(ending.to_uppercase(), vec![ending]))
                    .collect()
            }
        }
    }
}

/// What every room can export: the posed mesh, the rig, the animation of its sliders, and takes.
/// Relative locators begin at `folder`.
#[must_use]
pub fn exportables(
    document: &Document,
    character: Option<(&Arc<Loaded>, &Arc<Posed>)>,
    folder: &Path,
) -> Vec<Exportable> {
    let mut all = Vec::new();
    if let Some((loaded, posed)) = character {
        let (loaded, posed) = (loaded.clone(), posed.clone());
        let spec = RigSpec {
            loaded: loaded.clone(),
            character: document.character.clone(),
        };
        let asset = loaded.clone();
        all.push(Exportable::new("Posed mesh", move || {
            asset.asset.posed(&posed.positions).map_err(sentence)
        }));
        if !loaded.rig.targets().is_empty() || !spec.character.added.is_empty() {
            let (rig, moving, timeline) = (spec.clone(), spec, document.timeline.clone());
            all.push(Exportable::new("Rig", move || rig_asset(&rig)));
            if timeline.keys.values().any(|keys| !keys.is_empty()) {
                all.push(Exportable::new("Animation of the sliders", move || {
                    animation(&moving, &timeline)
                }));
            }
        }
    }
    for take in &document.timeline.takes {
        let (take, folder) = (take.clone(), folder.to_owned());
        all.push(Exportable::new(format!("Take {}", take.name), move || {
            take_asset(&take, &folder)
        }));
    }
    all
}

fn sentence(error: IoError) -> String {
    error.to_string()
}

/// The character's asset with its targets and limits, whatever is muted or locked while working.
fn rig_asset(spec: &RigSpec) -> Result<Asset, String> {
    let Character { added, limits, .. } = spec.character.clone();
    let own = RigSpec {
        loaded: spec.loaded.clone(),
        character: Character {
            added,
            limits,
            ..Character::default()
        },
    };
    let mut asset = spec.loaded.asset.with_rig(&*own.rig()?).map_err(sentence)?;
    asset.clips.clear();
    Ok(asset)
}

/// The rig with the timeline's keys as a clip of weights: keys where some slider has one, which
/// between them are straight, as here.
fn animation(spec: &RigSpec, timeline: &Timeline) -> Result<Asset, String> {
    let asset = rig_asset(spec)?;
    let last = timeline.last_frame;
    let keys = || timeline.keys.values().flatten();
    // Formats go straight from key to key; curves need all their frames.
    let straight = keys().all(|key| key.ease == Ease::Linear);
    let keyed: BTreeSet<u32> = keys()
        .map(|key| key.frame)
        .filter(|frame| *frame <= last)
        .chain([0, last])
        .collect();
    let frames: Vec<u32> = if straight {
        keyed.into_iter().collect()
    } else {
        (0..=last).collect()
    };
    let names = asset.target_names();
    let weights_at = |frame: &u32| {
        let mut character = spec.character.clone();
        timeline
            .weights_at(f64::from(*frame))
            .iter()
            .for_each(|(name, weight)| character.set_weight(name, *weight));
        names
            .iter()
            .map(|name| character.shown_weight(name))
            .collect()
    };
    let times = frames
        .iter()
        .map(|frame| f64::from(*frame) / timeline.frames_per_second)
        .collect();
    let track = WeightTrack::new(
        times,
        frames.iter().map(weights_at).collect(),
        Interpolation::Linear,
    )
    .map_err(|error| error.to_string())?;
    let mut clip = Animation::new("Animation", last as usize + 1);
    clip.frames_per_second = timeline.frames_per_second;
    asset.with_weight_clip(clip, &track).map_err(sentence)
}

/// A take as a clip of its asset.
pub(crate) fn take_asset(take: &Take, folder: &Path) -> Result<Asset, String> {
    let blob = match &take.frames {
        TakeFrames::Clip(locator) => return Ok(library::load(locator, folder)?.asset),
        TakeFrames::Made(blob) => blob,
    };
    let asset = library::load(&take.of, folder)?.asset;
    let count = asset.vertex_count();
    let frame = |k: u32| {
        let points = made_frame(blob, k as usize, count)?;
        Some(points.into_iter().map(|point| point.as_dvec3()).collect())
    };
    let frames: Option<Vec<Vec<DVec3>>> = (0..take.frame_count).map(frame).collect();
    let frames = frames.ok_or_else(|| {
        format!(
            "Take '{}' is empty or belongs to another mesh; make it again.",
            take.name
        )
    })?;
    let mut clip = Animation::new(&*take.name, frames.len());
    clip.frames_per_second = take.frames_per_second;
    asset.with_point_clip(clip, &frames).map_err(sentence)
}

/// The formats that can be written, by their endings.
#[must_use]
pub fn writable_endings() -> Vec<String> {
    Format::ALL
        .into_iter()
        .filter(|format| format.can_write())
        .map(|format| format.ending().to_owned())
        .collect()
}

/// Makes an asset and writes it to a file whose ending names the format; says what was written, and
/// what was left out.
pub fn export(make: &Make, path: &Path, files: &dyn Files) -> Result<String, String> {
    match make {
        Make::Asset(make) => export_asset(&make()?, path),
        Make::Files(_, make) => write_files(&make(path)?, files),
    }
}

fn export_asset(asset: &Asset, path: &Path) -> Result<String, String> {
    let saved = pliant::io::save(asset, path).map_err(sentence)?;
    let names: Vec<String> = saved
        .files
        .iter()
        .map(|file: &PathBuf| shown(file))
        .collect();
    let left_out = if saved.left_out.is_empty() {
        String::new()
    } else {
        format!("; left out: {}", saved.left_out.join(", "))
    };
    Ok(format!("Exported {}{left_out}.", names.join(" and ")))
}

/// Writes files, each of them whole or not at all; says which.
///
/// # Errors
/// A sentence about the first that could not be written.
pub fn write_files(made: &[NewFile], files: &dyn Files) -> Result<String, String> {
    for (path, bytes) in made {
        files.write(path, bytes).map_err(|error| {
            format!("'{}' was not written because {}.", shown(path), why(&error))
        })?;
    }
    Ok(format!(
        "Exported {}.",
        made.iter()
            .map(|(path, _)| shown(path))
            .collect::<Vec<_>>()
            .join(" and ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::AddedTarget;
    use crate::files::NativeFiles;

    fn spec(change: impl FnOnce(&mut Character)) -> RigSpec {
        let loaded = Arc::new(library::load("specimen:head", Path::new(".")).unwrap());
        let mut character = Character {
            asset: "specimen:head".into(),
            ..Character::default()
        };
        change(&mut character);
        RigSpec { loaded, character }
    }

    #[test]
    fn a_rig_goes_out_with_added_targets_and_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let added = AddedTarget {
            name: "dent".into(),
            vertices: Arc::new(vec![3]),
            deltas: Arc::new(vec![[0.0, 0.25, 0.0]]),
        };
        let spec = spec(|character| {
            character.added.push(added);
            character.muted.insert("dent".into());
        });
        let count = spec.loaded.rig.targets().len();
        let path = folder.path().join("rig.glb");
        let said = export(
            &Make::Asset(Arc::new(move || rig_asset(&spec))),
            &path,
            &NativeFiles,
        )
        .unwrap();
        assert!(said.starts_with("Exported rig.glb"), "{said}");
        let back = library::load(path.to_str().unwrap(), folder.path()).unwrap();
        assert_eq!(back.rig.targets().len(), count + 1);
        assert!(back.rig.slider_named("dent").is_ok());
    }

    #[test]
    fn an_animation_has_the_timelines_weights_in_every_frame() {
        let folder = tempfile::tempdir().unwrap();
        let spec = spec(|_| ());
        let names = spec.loaded.asset.target_names();
        let mut timeline = Timeline {
            last_frame: 12,
            frames_per_second: 30.0,
            ..Timeline::default()
        };
        timeline.set_key(&names[0], 3, 0.25);
        timeline.set_key(&names[0], 9, 1.0);
        timeline.set_key(&names[1], 6, 0.5);
        let path = folder.path().join("shot.usda");
        let (moving, keys) = (spec.clone(), timeline.clone());
        export(
            &Make::Asset(Arc::new(move || animation(&moving, &keys))),
            &path,
            &NativeFiles,
        )
        .unwrap();
        let back = library::load(path.to_str().unwrap(), folder.path())
            .unwrap()
            .asset;
        assert_eq!(
            (back.clips[0].frame_count, back.clips[0].frames_per_second),
            (13, 30.0)
        );
        for frame in 0..=12 {
            let mut weights = vec![0.0; names.len()];
            let keyed = timeline.weights_at(frame as f64);
            (weights[0], weights[1]) = (keyed[&names[0]], keyed[&names[1]]);
            let wanted = spec.loaded.rig.evaluate(&weights);
            let found = back.frame_positions(frame).unwrap();
            let apart = wanted
                .iter()
                .zip(&found)
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f64::max);
            // Files hold single precision; the head is about two units tall.
            assert!(apart < 1e-5, "frame {frame}: {apart}");
        }
    }

    #[test]
    fn a_take_made_here_becomes_a_point_cache_and_an_empty_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let rest = library::load("specimen:head", folder.path())
            .unwrap()
            .rig
            .neutral()
            .positions()
            .to_vec();
        let frames: Vec<Vec<DVec3>> = (0..3)
            .map(|k| rest.iter().map(|p| *p + DVec3::Y * f64::from(k)).collect())
            .collect();
        let take = Take::made("lift", "specimen:head", &frames, 25.0);
        let (path, here) = (folder.path().join("lift.pc2"), folder.path().to_owned());
        let moved = take.clone();
        let said = export(
            &Make::Asset(Arc::new(move || take_asset(&moved, &here))),
            &path,
            &NativeFiles,
        )
        .unwrap();
        assert!(said.contains("lift.pc2"), "{said}");
        let back = library::load(path.to_str().unwrap(), folder.path())
            .unwrap()
            .asset;
        assert_eq!(back.clips[0].frame_count, 3);
        let other = Take {
            of: "specimen:hound".into(),
            frame_count: 300,
            ..take
        };
        assert!(
            take_asset(&other, folder.path())
                .unwrap_err()
                .contains("make it again")
        );
    }
}
