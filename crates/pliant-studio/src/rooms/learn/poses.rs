//! The poses of all sources, ready to be drawn and learned from.

use std::sync::Arc;

use pliant::learn::{ControlPoints, DetailedExamples, Examples};
use pliant::mesh::Mesh;
use pliant::mesh::glam::DVec3;
use pliant::rig::Clip;

use super::setup::{PoseId, Recipe};
use crate::library::Loaded;
use crate::view::{Surface, Vertices};

/// Poses of one mesh.
#[derive(Debug)]
pub(super) struct PoseSet {
    /// The mesh of the first source.
    pub(super) mesh: Mesh,
    /// Its faces.
    pub(super) surface: Arc<Surface>,
    /// The pose of the first source's mesh, then those of clips and other meshes.
    pub(super) poses: Vec<Pose>,
}

/// A pose.
#[derive(Debug)]
pub(super) struct Pose {
    /// Where it comes from.
    pub(super) id: PoseId,
    /// What it is called.
    pub(super) name: String,
    /// Where the vertices are.
    pub(super) positions: Vec<DVec3>,
    /// The same for the card.
    pub(super) vertices: Arc<Vertices>,
}

impl PoseSet {
    /// Gathers the poses of `sources`, of which there is at least one.
    ///
    /// # Errors
    /// A sentence about sources that are not poses of one mesh.
    pub(super) fn gather(sources: &[Arc<Loaded>]) -> Result<Self, String> {
        let first = sources
            .first()
            .ok_or("there is no source of examples; add a clip or a mesh")?;
        let mesh = first.asset.mesh().map_err(|error| error.to_string())?;
        let mut poses = Vec::new();
        for (k, source) in sources.iter().enumerate() {
            let (found, expected) = (source.asset.vertex_count(), mesh.vertex_count());
            if found != expected {
                let (name, other) = (&source.locator, &first.locator);
                return Err(format!(
                    "'{name}' has {found} vertices and '{other}' {expected}: examples are poses of one mesh; remove one of them"
                ));
            }
            poses.extend(poses_of(source, &mesh, k == 0)?);
        }
        Ok(Self {
            surface: Surface::of(&mesh),
            mesh,
            poses,
        })
    }

    /// The pose of this name in the document.
    #[must_use]
    pub(super) fn find(&self, id: &PoseId) -> Option<usize> {
        self.poses.iter().position(|pose| pose.id == *id)
    }

    /// Which pose is at rest.
    #[must_use]
    pub(super) fn rest(&self, recipe: &Recipe) -> usize {
        recipe
            .rest
            .as_ref()
            .and_then(|id| self.find(id))
            .unwrap_or(0)
    }

    /// The poses that are learned from, that at rest first.
    #[must_use]
    pub(super) fn used(&self, recipe: &Recipe) -> Vec<usize> {
        let rest = self.rest(recipe);
        let others = (0..self.poses.len())
            .filter(|&k| k != rest && !recipe.left_out.contains(&self.poses[k].id));
        std::iter::once(rest).chain(others).collect()
    }

    /// The mesh at rest.
    ///
    /// # Errors
    /// None of a set that was gathered.
    pub(super) fn rest_mesh(&self, recipe: &Recipe) -> Result<Mesh, String> {
        self.mesh
            .posed(self.poses[self.rest(recipe)].positions.clone())
            .map_err(|error| error.to_string())
    }

    /// The examples of a recipe, and its control points.
    ///
    /// # Errors
    /// A sentence about what is missing.
    pub(super) fn examples(&self, recipe: &Recipe) -> Result<(Examples, ControlPoints), String> {
        let used = &self.used(recipe)[1..];
        let frames = used
            .iter()
            .map(|&k| self.poses[k].positions.clone())
            .collect();
        let names = used.iter().map(|&k| self.poses[k].name.clone()).collect();
        let examples = Examples::new(self.rest_mesh(recipe)?, frames, names)
            .map_err(|error| error.to_string())?;
        let vertices: Vec<usize> = recipe
            .points
            .iter()
            .map(|&vertex| vertex as usize)
            .collect();
        let control = ControlPoints::new(examples.reference(), &vertices)
            .map_err(|error| error.to_string())?;
        Ok((examples, control))
    }

    /// The details of `base`, which are the examples of a recipe, from the same poses of
    /// `detailed`.
    ///
    /// # Errors
    /// A sentence about poses that do not go together.
    pub(super) fn details(
        &self,
        recipe: &Recipe,
        base: Examples,
        detailed: &Self,
    ) -> Result<DetailedExamples, String> {
        if detailed.poses.len() != self.poses.len() {
            let (found, expected) = (detailed.poses.len(), self.poses.len());
            return Err(format!(
                "the details come in {found} poses and the examples in {expected}; give one detailed pose for each"
            ));
        }
        let used = self.used(recipe);
        let place = |k: usize| detailed.poses[k].positions.clone();
        let reference = detailed
            .mesh
            .posed(place(used[0]))
            .map_err(|error| error.to_string())?;
        let levels = DetailedExamples::levels_for(base.reference(), reference.vertex_count());
        let clip = Clip::new(
            "details",
            reference,
            used[1..].iter().map(|&k| place(k)).collect(),
        )
        .map_err(|error| error.to_string())?;
        DetailedExamples::from_clip(base, levels, DetailedExamples::DEFAULT_REACH, &clip)
            .map_err(|error| error.to_string())
    }
}

/// The frames of a source's clip, after its mesh where that counts; the mesh alone where there is
/// no clip.
fn poses_of(source: &Loaded, mesh: &Mesh, with_mesh: bool) -> Result<Vec<Pose>, String> {
    let pose = |frame: Option<u32>, name: String, positions: Vec<DVec3>| {
        let vertices = Vertices::of(mesh, &positions);
        Pose {
            id: PoseId {
                asset: source.locator.clone(),
                frame,
            },
            name,
            positions,
            vertices,
        }
    };
    let own = source.asset.mesh().map_err(|error| error.to_string())?;
    let name = source
        .locator
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .to_owned();
    if source.asset.clips.is_empty() {
        return Ok(vec![pose(None, name, own.positions().to_vec())]);
    }
    let clip = source.asset.clip().map_err(|error| error.to_string())?;
    let mut poses = Vec::with_capacity(clip.frames().len() + 1);
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
