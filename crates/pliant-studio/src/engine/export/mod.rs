//! Export to files of other programs: mesh, rig, animation, takes, and the jobs on whole rigs.

mod pictures;
pub mod rig_jobs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant::io::{Animation, Asset, Format, IoError};
use pliant::mesh::glam::DVec3;
use pliant::rig::{Interpolation, WeightTrack};

use super::character::{PosedCharacter, RigSpec};
use super::file_request::FileKind;
use super::library::{self, LoadedAsset};
use super::pose::pose_file::write_poses;
use crate::engine::storage::files::Files;
use crate::model::document::{Character, Document};
use crate::model::names::{io_reason, shown, to_message};
use crate::model::timeline::{Ease, Take, TakeFrames, Timeline, made_frame};

/// Computes the exported data; called by a worker.
#[derive(Clone)]
pub enum ExportContent {
    /// An asset, for a file of any format that Pliant writes.
    Asset(Arc<dyn Fn() -> Result<Asset, String> + Send + Sync>),
    /// An asset that depends on what the format of the file can hold.
    AssetFor(MakeAsset),
    /// Files of a format of their own, given the name of the first.
    Files(FileKind, MakeFiles),
}

/// The name of the saved poses in the list of what can be exported.
pub const POSE_LIBRARY: &str = "Pose library";

/// Makes an asset for a format.
pub type MakeAsset = Arc<dyn Fn(Option<Format>) -> Result<Asset, String> + Send + Sync>;

/// Makes files, given the name of the first.
pub type MakeFiles = Arc<dyn Fn(&Path) -> Result<Vec<NewFile>, String> + Send + Sync>;

/// A path and its bytes.
pub type NewFile = (PathBuf, Vec<u8>);

/// Something that can be written to a file.
#[derive(Clone)]
pub struct Exportable {
    /// Its name in the list.
    pub name: String,
    /// Computes it.
    pub make: ExportContent,
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
            make: ExportContent::Asset(Arc::new(make)),
        }
    }

    /// Files called `name`, of a kind of their own.
    pub fn files(
        name: impl Into<String>,
        kind: FileKind,
        make: impl Fn(&Path) -> Result<Vec<NewFile>, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            make: ExportContent::Files(kind, Arc::new(make)),
        }
    }

    /// The kinds of files that it can be written to, the usual one first.
    #[must_use]
    pub fn kinds(&self) -> Vec<FileKind> {
        match &self.make {
            ExportContent::Files(kind, _) => vec![kind.clone()],
            ExportContent::Asset(_) | ExportContent::AssetFor(_) => {
                let mut endings = writable_endings();
                // glTF keeps the most, so it is offered first.
                endings.sort_by_key(|ending| ending != "glb");
                endings
                    .into_iter()
                    .map(|ending| FileKind::new(ending.to_uppercase(), vec![ending]))
                    .collect()
            }
        }
    }
}

/// What every room can export: the posed character, its mesh alone, the rig, the animation of its sliders, and takes.
/// Relative locators begin at `folder`.
#[must_use]
pub fn exportables(
    document: &Document,
    character: Option<(&Arc<LoadedAsset>, &Arc<PosedCharacter>)>,
    folder: &Path,
) -> Vec<Exportable> {
    let mut all = Vec::new();
    if let Some((loaded, posed)) = character {
        let loaded = loaded.clone();
        let posed = posed.clone();
        let spec = RigSpec {
            loaded: loaded.clone(),
            character: document.character.clone(),
        };
        let jobs = rig_jobs::of_character(&spec);
        let asset = loaded.clone();
        let posed_rig = spec.clone();
        let shown = posed.clone();
        let is_plain = document.timeline.playing_take.is_some()
            || (loaded.rig.targets().is_empty() && spec.character.added.is_empty());
        let turntable = pictures::turntable(&loaded, &posed);

        // A take may hold a shape that no weights give. Formats without targets get the mesh.
        if !is_plain {
            all.push(Exportable {
                name: "Posed character".into(),
                make: ExportContent::AssetFor(Arc::new(move |format| {
                    if format.is_some_and(Format::stores_targets) {
                        posed_character(&posed_rig, &shown)
                    } else {
                        shown_mesh(&posed_rig.loaded, &shown)
                    }
                })),
            });
        }
        all.push(Exportable::new("Posed mesh alone", move || {
            shown_mesh(&asset, &posed)
        }));

        // A mesh without sliders has no rig to export.
        if !loaded.rig.targets().is_empty() || !spec.character.added.is_empty() {
            let rig = spec.clone();
            let moving = spec;
            let timeline = document.timeline.clone();
            all.push(Exportable::new("Rig", move || rig_asset(&rig)));
            if timeline.keys.values().any(|keys| !keys.is_empty()) {
                all.push(Exportable::new("Animation of the sliders", move || {
                    animation(&moving, &timeline)
                }));
            }
        }
        all.push(turntable);
        all.extend(jobs);
    }

    let library = document.pose.library.clone();
    if !library.poses.is_empty() {
        let kind = FileKind::new("JSON", vec!["json".into()]);
        all.push(Exportable::files(POSE_LIBRARY, kind, move |path| {
            Ok(vec![(path.to_owned(), write_poses(&library)?.into_bytes())])
        }));
    }

    for take in &document.timeline.takes {
        all.push(pictures::film(take, folder));
        let spec = character.map(|(loaded, _)| RigSpec {
            loaded: loaded.clone(),
            character: document.character.clone(),
        });
        let jobs = rig_jobs::of_take(take, spec.as_ref(), folder);
        let take = take.clone();
        let folder = folder.to_owned();
        all.push(Exportable::new(format!("Take {}", take.name), move || {
            take_asset(&take, &folder)
        }));
        all.extend(jobs);
    }
    all
}

fn message(error: IoError) -> String {
    error.to_string()
}

/// The character's asset with its targets and limits, whatever is muted or locked while working.
fn rig_asset(spec: &RigSpec) -> Result<Asset, String> {
    let Character { added, limits, .. } = spec.character.clone();
    // Mutes and locks are a state of work and are not exported.
    let own = RigSpec {
        loaded: spec.loaded.clone(),
        character: Character {
            added,
            limits,
            ..Character::default()
        },
    };

    let mut asset = spec.loaded.asset.with_rig(&*own.rig()?).map_err(message)?;
    asset.clips.clear();
    Ok(asset)
}

/// The mesh as it is shown, with its materials; skins and targets are gone into its shape.
fn shown_mesh(loaded: &LoadedAsset, posed: &PosedCharacter) -> Result<Asset, String> {
    loaded.asset.posed(&posed.positions).map_err(message)
}

/// The character with its skins, materials and targets, which rests at the weights that are shown.
fn posed_character(spec: &RigSpec, posed: &PosedCharacter) -> Result<Asset, String> {
    let targets = posed.rig.targets().iter();
    let weights: BTreeMap<&str, f64> = targets
        .map(|target| &*target.name)
        .zip(posed.weights.iter().copied())
        .collect();
    let weight_of = |name: &str| weights.get(name).copied().unwrap_or(0.0);
    Ok(rig_asset(spec)?.with_rest_weights(weight_of))
}

/// The rig with the timeline's keys as a clip of weights: keys where some slider has one, which
/// between them are straight, as here.
fn animation(spec: &RigSpec, timeline: &Timeline) -> Result<Asset, String> {
    let asset = rig_asset(spec)?;
    let last = timeline.last_frame;
    let keys = || timeline.keys.values().flatten();

    // Formats interpolate keys linearly; curves need all their frames.
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
        for (name, weight) in timeline.weights_at(f64::from(*frame)).iter() {
            character.set_weight(name, *weight);
        }

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
    .map_err(to_message)?;

    let mut clip = Animation::new("Animation", last as usize + 1);
    clip.frames_per_second = timeline.frames_per_second;
    asset.with_weight_clip(clip, &track).map_err(message)
}

/// A take as a clip of its asset.
pub(crate) fn take_asset(take: &Take, folder: &Path) -> Result<Asset, String> {
    // A take of a file is that file's clip.
    let blob = match &take.frames {
        TakeFrames::Clip(locator) => return Ok(library::load(locator, folder)?.asset),
        TakeFrames::Weights(_) => return weight_take_asset(take, folder),
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
            "The take '{}' is empty or belongs to another mesh; bake it again.",
            take.name
        )
    })?;

    let mut clip = Animation::new(&*take.name, frames.len());
    clip.frames_per_second = take.frames_per_second;
    asset.with_point_clip(clip, &frames).map_err(message)
}

/// A take of weights as a clip of weights; sliders that the asset lacks are left out.
fn weight_take_asset(take: &Take, folder: &Path) -> Result<Asset, String> {
    let asset = library::load(&take.of, folder)?.asset;
    let (sliders, track) = take.weight_track().ok_or("The take has no weights.")?;
    let columns: Vec<Option<usize>> = asset
        .target_names()
        .iter()
        .map(|name| sliders.iter().position(|slider| slider == name))
        .collect();
    let track = track.map_err(to_message)?.mapped(|row| {
        let weight = |column: &Option<usize>| column.map_or(0.0, |k| row[k]);
        columns.iter().map(weight).collect()
    });

    let mut clip = Animation::new(&*take.name, take.frame_count as usize);
    clip.frames_per_second = take.frames_per_second;
    asset.with_weight_clip(clip, &track).map_err(message)
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
pub fn export(make: &ExportContent, path: &Path, files: &dyn Files) -> Result<String, String> {
    match make {
        ExportContent::Asset(make) => export_asset(&make()?, path),
        ExportContent::AssetFor(make) => export_asset(&make(Format::of(path))?, path),
        ExportContent::Files(_, make) => write_files(&make(path)?, files),
    }
}

fn export_asset(asset: &Asset, path: &Path) -> Result<String, String> {
    let saved = pliant::io::save(asset, path).map_err(message)?;
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

/// Writes files, each of them whole or not at all; returns which.
///
/// # Errors
/// A message about the first that could not be written.
pub fn write_files(made: &[NewFile], files: &dyn Files) -> Result<String, String> {
    for (path, bytes) in made {
        files.write(path, bytes).map_err(|error| {
            format!(
                "'{}' was not written because {}.",
                shown(path),
                io_reason(&error)
            )
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
    use crate::engine::storage::files::NativeFiles;
    use crate::model::document::AddedTarget;

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
    fn an_exported_rig_keeps_added_targets() {
        let folder = tempfile::tempdir().unwrap();
        let added = AddedTarget {
            name: "dent".into(),
            vertices: Arc::new(vec![3]),
            deltas: Arc::new(vec![[0.0, 0.25, 0.0]]),
        };

        let spec = spec(|character| {
            character.added.push(added);
            // A muted target is exported, too: muting is of the session, not of the rig.
            character.muted.insert("dent".into());
        });
        let count = spec.loaded.rig.targets().len();
        let path = folder.path().join("rig.glb");

        let message = export(
            &ExportContent::Asset(Arc::new(move || rig_asset(&spec))),
            &path,
            &NativeFiles,
        )
        .unwrap();

        assert!(message.starts_with("Exported rig.glb"), "{message}");
        let back = library::load(path.to_str().unwrap(), folder.path()).unwrap();
        assert_eq!(back.rig.targets().len(), count + 1);
        assert!(back.rig.slider_named("dent").is_ok());
    }

    #[test]
    fn an_exported_animation_has_the_weights_of_the_timeline() {
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
        let moving = spec.clone();
        let keys = timeline.clone();
        export(
            &ExportContent::Asset(Arc::new(move || animation(&moving, &keys))),
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
    fn a_take_is_exported_as_a_point_cache_and_an_empty_take_is_an_error() {
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
        let path = folder.path().join("lift.pc2");
        let here = folder.path().to_owned();
        let moved = take.clone();

        let message = export(
            &ExportContent::Asset(Arc::new(move || take_asset(&moved, &here))),
            &path,
            &NativeFiles,
        )
        .unwrap();

        assert!(message.contains("lift.pc2"), "{message}");
        let back = library::load(path.to_str().unwrap(), folder.path())
            .unwrap()
            .asset;

        assert_eq!(back.clips[0].frame_count, 3);
        // The take names a mesh with another vertex count than its stored frames.
        let other = Take {
            of: "specimen:hound".into(),
            frame_count: 300,
            ..take
        };

        assert!(
            take_asset(&other, folder.path())
                .unwrap_err()
                .contains("bake it again")
        );
    }
}
