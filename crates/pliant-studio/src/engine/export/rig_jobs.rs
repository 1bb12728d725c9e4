//! Whole-rig jobs of the command line as exports: renamed and split targets, repairs, bones of a take,
//! weights of a take, and the targets of another head.

use std::path::Path;
use std::sync::Arc;

use pliant::io::{Asset, RepairKind, SkinBinding, SkinTrack};
use pliant::learn::{SkinOptions, SkinningDecomposition};
use pliant::rig::{
    InvertOptions, Inverter, MirrorPlane, Rig, SideStyle, SplitOptions, SplitRig, Target,
    Vocabulary, match_names, split_rig, splittable_targets,
};
use pliant::transfer::{
    Correspondence, CorrespondenceOptions, Markers, RigTransfer, RigTransferOptions,
};

use super::{Exportable, rig_asset, take_asset};
use crate::engine::character::RigSpec;
use crate::engine::library::{self, LoadedAsset};
use crate::model::document::Locator;
use crate::model::names::to_message;
use crate::model::timeline::{Take, TakeFrames};

/// The rig with the names of ARKit.
pub const RENAMED: &str = "Rig with ARKit names";
/// The rig with a left and a right target in place of each that moves both sides.
pub const SPLIT: &str = "Rig with left and right targets";
/// The asset without faults of its mesh and targets.
pub const REPAIRED: &str = "Repaired asset";

/// Chosen: as many bones as the examples of `pliant bones` use.
const BONES: usize = 20;

/// The jobs on the character itself.
pub(super) fn of_character(spec: &RigSpec) -> Vec<Exportable> {
    let mut all = Vec::new();
    if !spec.loaded.rig.targets().is_empty() || !spec.character.added.is_empty() {
        let rig = spec.clone();
        all.push(Exportable::new(RENAMED, move || renamed(&rig_asset(&rig)?)));
        let rig = spec.clone();
        all.push(Exportable::new(SPLIT, move || split(&rig_asset(&rig)?)));
    }
    let asset = spec.loaded.clone();
    all.push(Exportable::new(REPAIRED, move || repaired(&asset)));
    all
}

/// The jobs on a take: bones for any, weights for one of positions.
pub(super) fn of_take(take: &Take, rig: Option<&RigSpec>, folder: &Path) -> Vec<Exportable> {
    let mut all = Vec::new();
    let own = take.clone();
    let of = folder.to_owned();
    let name = format!("Bones of take {}", take.name);
    all.push(Exportable::new(name, move || {
        bones(&take_asset(&own, &of)?)
    }));

    let moves_sliders = matches!(take.frames, TakeFrames::Weights(_));
    let rig = rig.filter(|spec| spec.loaded.locator == take.of && !moves_sliders);
    if let Some(spec) = rig.filter(|spec| !spec.loaded.rig.targets().is_empty()) {
        let (own, of, spec) = (take.clone(), folder.to_owned(), spec.clone());
        let name = format!("Slider weights of take {}", take.name);
        all.push(Exportable::new(name, move || {
            weights(&rig_asset(&spec)?, &take_asset(&own, &of)?)
        }));
    }
    all
}

/// The targets of `source` on the mesh of `target`, by marker pairs where there are any.
pub(crate) fn transferred_shapes(
    source: &Locator,
    target: &Locator,
    pairs: &[[u32; 2]],
    folder: &Path,
) -> Result<Asset, String> {
    let source = library::load(source, folder)?;
    let target = library::load(target, folder)?;
    let mesh = target.rig.neutral();
    let markers = Markers::new(pairs.iter().map(|[a, b]| (*a, *b)).collect());
    let markers = (!pairs.is_empty()).then_some(&markers);

    let options = CorrespondenceOptions::default();
    let found = Correspondence::find(source.rig.neutral(), mesh, markers, &options);
    let found = found.map_err(to_message)?;
    let transferred = RigTransfer::new(&source.rig, mesh, &found, RigTransferOptions::default())
        .and_then(|transfer| transfer.rig(&()))
        .map_err(to_message)?;
    let mut asset = target
        .asset
        .with_rig(&transferred.rig)
        .map_err(to_message)?;
    asset.clips.clear();
    Ok(asset)
}

fn renamed(asset: &Asset) -> Result<Asset, String> {
    let names = asset.target_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let map = match_names(&names, Vocabulary::Arkit);
    if map.pairs.is_empty() {
        return Err("No slider has a name that stands for one of ARKit.".into());
    }

    let new_name = |old: &str| {
        let pair = map.pairs.iter().find(|pair| names[pair.source] == old);
        pair.map_or(old, |pair| &pair.name).to_owned()
    };
    let renamed = asset.map_rigs(|object| {
        let targets = object.rig.targets().iter();
        let targets: Vec<Target> = targets
            .map(|target| Target {
                name: new_name(&target.name),
                ..target.clone()
            })
            .collect();
        let same: Vec<Option<usize>> = (0..targets.len()).map(Some).collect();
        Ok((object.rig.with_targets_from(targets, &same)?, same))
    });
    renamed.map_err(to_message)
}

fn split(asset: &Asset) -> Result<Asset, String> {
    let rig = asset.rig().map_err(to_message)?;
    let plane = MirrorPlane::find(rig.neutral())
        .ok_or("No symmetry plane was found; use `pliant split --plane`.")?;
    let names: Vec<String> = splittable_targets(&rig, plane)
        .into_iter()
        .map(|k| rig.targets()[k].name.clone())
        .collect();
    if names.is_empty() {
        return Err("All targets have a side in their names or move one side only.".into());
    }

    let options = SplitOptions::new(&rig, plane);
    let style = SideStyle::of_rig(&rig);
    let split = asset.map_rigs(|object| {
        let own = own_targets(&object.rig, &names);
        let SplitRig { rig, sources } = split_rig(&object.rig, &own, &options, &style)?;
        Ok((rig, sources.into_iter().map(Some).collect()))
    });
    split.map_err(to_message)
}

/// The targets of an object among those of the whole asset.
fn own_targets(rig: &Rig, names: &[String]) -> Vec<usize> {
    let targets = rig.targets();
    (0..targets.len())
        .filter(|&k| names.contains(&targets[k].name))
        .collect()
}

fn repaired(loaded: &LoadedAsset) -> Result<Asset, String> {
    let kinds = RepairKind::ALL.into_iter();
    let kinds: Vec<_> = kinds
        .filter(|kind| *kind != RepairKind::Components)
        .collect();
    let repaired = loaded.asset.repaired(&kinds).map_err(to_message)?;
    if repaired.repairs.is_empty() {
        return Err("There is nothing to repair.".into());
    }
    Ok(repaired.asset)
}

fn bones(asset: &Asset) -> Result<Asset, String> {
    let clip = asset.clip().map_err(to_message)?;
    let options = SkinOptions::default().with_bones(BONES);
    let found = SkinningDecomposition::of(&clip, &options).map_err(to_message)?;
    let track = SkinTrack {
        binding: SkinBinding {
            skin: Arc::new(found.skin.clone()),
            skeleton: Arc::new(found.skeleton(clip.reference().positions())),
        },
        motions: Arc::new(found.transforms.clone()),
    };
    let animation = asset.only_clip().map_err(to_message)?.clone();
    asset
        .with_shaped_skin_clip(animation, &track, &[], &[])
        .map_err(to_message)
}

fn weights(rig: &Asset, take: &Asset) -> Result<Asset, String> {
    let clip = take.clip().map_err(to_message)?;
    let merged = rig.rig().map_err(to_message)?;
    let inverter = Inverter::factor(&merged, &InvertOptions::default()).map_err(to_message)?;
    let inverse = inverter.invert(&clip).map_err(to_message)?;
    let animation = take.only_clip().map_err(to_message)?.clone();
    rig.with_weight_clip(animation, &inverse.track)
        .map_err(to_message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_and_renamed_rigs_move_as_the_rig_does() {
        let head = pliant::load("specimen:head").unwrap();
        let rig = head.rig().unwrap();
        let halves = split(&head).unwrap().rig().unwrap();
        assert!(halves.targets().len() > rig.targets().len());

        // Both halves of a target together are the target.
        let jaw = |rig: &Rig, names: &[&str]| {
            let weights = rig.targets().iter();
            let weights: Vec<f64> = weights
                .map(|target| f64::from(u8::from(names.contains(&&*target.name))))
                .collect();
            rig.evaluate(&weights)
        };
        let style = SideStyle::of_rig(&rig);
        let [left, right] = [pliant::rig::Side::Left, pliant::rig::Side::Right]
            .map(|side| style.name("mouthPucker", side));
        let whole = jaw(&rig, &["mouthPucker"]);
        let both = jaw(&halves, &[&left, &right]);
        let apart = whole.iter().zip(&both).map(|(a, b)| a.distance(*b));
        assert!(apart.fold(0.0, f64::max) < 1e-5);

        // The head has the names of ARKit already.
        let names = renamed(&head).unwrap().target_names();
        assert_eq!(names, head.target_names());
    }

    #[test]
    fn the_weights_of_a_take_come_back_from_its_positions() {
        let head = pliant::load("specimen:head").unwrap();
        let rig = head.rig().unwrap();
        let smile = rig.slider_named("mouthSmileLeft").unwrap().index();
        let mut all = vec![0.0; rig.targets().len()];
        let frames: Vec<_> = [0.0, 0.25, 0.5]
            .map(|weight| {
                all[smile] = weight;
                rig.evaluate(&all)
            })
            .into();
        let clip = pliant::io::Animation::new("smile", frames.len());
        let take = head.with_point_clip(clip, &frames).unwrap();

        let found = weights(&head, &take).unwrap();
        let again = found.clip().unwrap();
        let apart = again.frames().iter().flatten().zip(frames.iter().flatten());
        let size = rig.neutral().bounds().unwrap().diagonal();
        let worst = apart.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(worst < 1e-3 * size, "{worst} of {size}");
    }
}
