//! The assets that commands read.

use pliant::BuiltIn;
use pliant_io::{Asset, CharacterPose, LoadOptions};
use pliant_mesh::Mesh;
use pliant_rig::Rig;

use super::settings::SettingsArgs;
use crate::cli::report::failure::Failure;

/// Options that read every form of an asset, including built-in models. `neutral` is the file
/// name of the neutral mesh in a folder of OBJ files.
pub(crate) fn options(neutral: Option<&str>) -> LoadOptions<'_> {
    let options = LoadOptions::default().with_specimens(&BuiltIn);
    match neutral {
        Some(name) => options.with_neutral(name),
        None => options,
    }
}

/// A surface in the pose in which it is seen.
pub(crate) struct PosedSurface {
    pub(crate) asset: Asset,
    /// The rig of the asset before joints move it.
    pub(crate) rig: Rig,
    pub(crate) pose: CharacterPose,
    /// Whether the locator names a frame.
    pub(crate) is_frame: bool,
}

/// Loads an asset as one mesh with faces, in the vertex order of the whole file.
pub(crate) fn load_surface(locator: &str) -> Result<(Asset, Mesh), Failure> {
    let asset = pliant_io::load(locator, &options(None))?;
    let mesh = asset.mesh()?;
    mesh.require_surface()
        .map_err(|error| Failure::about(locator, &error))?;
    Ok((asset, mesh))
}

/// Loads an asset as [`load_surface`] does, with the pose of its frame `@N`, or else its rest pose.
pub(crate) fn load_posed_surface(
    locator: &str,
    settings: &SettingsArgs,
) -> Result<PosedSurface, Failure> {
    let (asset, frame) = pliant_io::load_with_frame(locator, &options(None))?;
    let mut asset = settings.apply(asset)?;
    let rig = asset.rig()?;
    rig.neutral()
        .require_surface()
        .map_err(|error| Failure::about(locator, &error))?;

    let pose = match frame {
        Some(frame) => asset.pose_at(frame)?,
        None => asset.rest_pose(),
    };
    asset.warnings.extend(collapse_warning(&pose));
    Ok(PosedSurface {
        asset,
        rig,
        pose,
        is_frame: frame.is_some(),
    })
}

/// A warning about vertices on which changes of the pose cannot be stored exactly.
pub(crate) fn collapse_warning(pose: &CharacterPose) -> Option<String> {
    let vertices = pose.collapsed_vertices();
    let first = vertices.first()?;
    Some(format!(
        "the joints collapse the surface at {} vertices, the first of which is {first}; a new shape is not exact there",
        vertices.len()
    ))
}

/// Loads an asset that has targets.
pub(crate) fn load_with_targets(locator: &str, neutral: Option<&str>) -> Result<Asset, Failure> {
    let asset = pliant_io::load(locator, &options(neutral))?;
    let has_targets = asset
        .objects
        .iter()
        .any(|object| !object.rig.targets().is_empty());

    if has_targets {
        Ok(asset)
    } else {
        Err(Failure::new(format!(
            "{locator}: the asset has no targets; give a rig with blendshapes"
        )))
    }
}
