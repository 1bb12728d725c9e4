//! The example poses of all sources, ready for drawing and training.

use std::sync::Arc;

use pliant::io::Asset;
use pliant::learn::{ControlPoints, DetailedExamples, Examples};
use pliant::mesh::Mesh;
use pliant::mesh::glam::DVec3;
use pliant::rig::Clip;

use crate::engine::library::LoadedAsset;
use crate::engine::surface::{Surface, Vertices};
use crate::model::learn::{PoseId, TrainingSettings};
use crate::model::names::to_message;

/// Poses of one mesh.
#[derive(Debug)]
pub(crate) struct PoseSet {
    /// The mesh of the first source.
    pub(crate) mesh: Mesh,
    /// Its faces.
    pub(crate) surface: Arc<Surface>,
    /// What one unit of the first source is, in metres, if it is known.
    pub(crate) meters_per_unit: Option<f64>,
    /// The pose of the first source's mesh, then those of clips and other meshes.
    pub(crate) poses: Vec<Pose>,
}

/// A pose.
#[derive(Debug)]
pub(crate) struct Pose {
    /// Where it comes from.
    pub(crate) id: PoseId,
    /// Display name.
    pub(crate) name: String,
    /// The vertex positions.
    pub(crate) positions: Vec<DVec3>,
    /// The vertices for the graphics card.
    pub(crate) vertices: Arc<Vertices>,
}

impl PoseSet {
    /// Gathers the poses of `sources`, of which there is at least one.
    ///
    /// # Errors
    /// A message about sources that are not poses of one mesh.
    pub(crate) fn gather(sources: &[Arc<LoadedAsset>]) -> Result<Self, String> {
        let first = sources
            .first()
            .ok_or("there are no examples; add a clip or a mesh")?;
        let mesh = first.asset.mesh().map_err(to_message)?;

        let mut poses = Vec::new();
        for (k, source) in sources.iter().enumerate() {
            let found = source.asset.vertex_count();
            let expected = mesh.vertex_count();
            // Equal vertex counts are the test that all formats allow.
            if found != expected {
                let name = &source.locator;
                let other = &first.locator;
                return Err(format!(
                    "'{name}' has {found} vertices and '{other}' has {expected}; all examples must be poses of one mesh, so remove one of them"
                ));
            }
            let asset = source.asset.in_space_of(&first.asset);
            poses.extend(poses_of(&source.locator, &asset, &mesh, k == 0)?);
        }

        Ok(Self {
            surface: first.surface_of(&mesh),
            mesh,
            meters_per_unit: first.asset.meters_per_unit,
            poses,
        })
    }

    /// The pose of this name in the document.
    #[must_use]
    pub(crate) fn find(&self, id: &PoseId) -> Option<usize> {
        self.poses.iter().position(|pose| pose.id == *id)
    }

    /// Which pose is at rest.
    #[must_use]
    pub(crate) fn rest(&self, recipe: &TrainingSettings) -> usize {
        recipe
            .rest
            .as_ref()
            .and_then(|id| self.find(id))
            .unwrap_or(0)
    }

    /// The poses that are learned from, that at rest first.
    #[must_use]
    pub(crate) fn used(&self, recipe: &TrainingSettings) -> Vec<usize> {
        let rest = self.rest(recipe);
        let others = (0..self.poses.len())
            .filter(|&k| k != rest && !recipe.left_out.contains(&self.poses[k].id));
        std::iter::once(rest).chain(others).collect()
    }

    /// The mesh at rest.
    ///
    /// # Errors
    /// None of a set that was gathered.
    pub(crate) fn rest_mesh(&self, recipe: &TrainingSettings) -> Result<Mesh, String> {
        self.mesh
            .posed(self.poses[self.rest(recipe)].positions.clone())
            .map_err(to_message)
    }

    /// The examples of a recipe, and its control points.
    ///
    /// # Errors
    /// A message about what is missing.
    pub(crate) fn examples(
        &self,
        recipe: &TrainingSettings,
    ) -> Result<(Examples, ControlPoints), String> {
        // The first pose is the rest pose, which is the reference and no example.
        let used = &self.used(recipe)[1..];
        let frames = used
            .iter()
            .map(|&k| self.poses[k].positions.clone())
            .collect();
        let names = used.iter().map(|&k| self.poses[k].name.clone()).collect();
        let examples = Examples::new(self.rest_mesh(recipe)?, frames, names)
            .map_err(to_message)?
            .with_meters_per_unit(self.meters_per_unit);

        let vertices: Vec<usize> = recipe
            .points
            .iter()
            .map(|&vertex| vertex as usize)
            .collect();
        let control = ControlPoints::new(examples.reference(), &vertices).map_err(to_message)?;
        Ok((examples, control))
    }

    /// The details of `base`, which are the examples of a recipe, from the same poses of
    /// `detailed`.
    ///
    /// # Errors
    /// A message about poses that do not go together.
    pub(crate) fn details(
        &self,
        recipe: &TrainingSettings,
        base: Examples,
        detailed: &Self,
    ) -> Result<DetailedExamples, String> {
        if detailed.poses.len() != self.poses.len() {
            let found = detailed.poses.len();
            let expected = self.poses.len();
            return Err(format!(
                "there are {found} detailed poses and {expected} examples; provide one detailed pose for each example"
            ));
        }

        let used = self.used(recipe);
        let place = |k: usize| detailed.poses[k].positions.clone();
        let reference = detailed.mesh.posed(place(used[0])).map_err(to_message)?;

        // The detail levels follow from the ratio of the vertex counts.
        let levels = DetailedExamples::levels_for(base.reference(), reference.vertex_count());
        let clip = Clip::new(
            "details",
            reference,
            used[1..].iter().map(|&k| place(k)).collect(),
        )
        .map_err(to_message)?;

        DetailedExamples::from_clip(base, levels, DetailedExamples::DEFAULT_REACH, &clip)
            .map_err(to_message)
    }
}

/// The frames of a source's clip, after its mesh where that counts; the mesh alone where there is
/// no clip.
fn poses_of(
    locator: &str,
    asset: &Asset,
    mesh: &Mesh,
    with_mesh: bool,
) -> Result<Vec<Pose>, String> {
    let pose = |frame: Option<u32>, name: String, positions: Vec<DVec3>| {
        let vertices = Vertices::of(mesh, &positions);
        Pose {
            id: PoseId {
                asset: locator.to_owned(),
                frame,
            },
            name,
            positions,
            vertices,
        }
    };

    let own = asset.mesh().map_err(to_message)?;
    let name = locator
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .to_owned();

    if asset.clips.is_empty() {
        return Ok(vec![pose(None, name, own.positions().to_vec())]);
    }

    let clip = asset.clip().map_err(to_message)?;
    let mut poses = Vec::with_capacity(clip.frames().len() + 1);
    // The mesh of the first source is the default rest pose.
    if with_mesh {
        poses.push(pose(None, "rest".into(), own.positions().to_vec()));
    }

    for (k, frame) in clip.frames().iter().enumerate() {
        let name = clip
            .frame_names()
            .get(k)
            .cloned()
            .unwrap_or_else(|| format!("frame {k}"));
        poses.push(pose(Some(k as u32), name, frame.clone()));
    }
    Ok(poses)
}
