//! Preview of regions and rotations: blend weights as colours, and the modified reference pose.

use std::sync::Arc;

use pliant::jobs::{TransferInputs, TransferJob};
use pliant::mesh::glam::DVec3;
use pliant::recipes::RecipeLayer;
use pliant::transfer::{Correspondence, Reconstruction, ReconstructionWeighting};

use super::actor::Actor;
use super::maps::SourceMap;
use super::region_colors::region_colors;
use crate::engine::color::Srgba;
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::transfer::{RegionSetup, Setup};

/// A source that is ready, with its map.
#[derive(Debug, Clone)]
pub(crate) struct MappedSource {
    /// Its name.
    pub(crate) name: String,
    /// Itself.
    pub(crate) source: Arc<Actor>,
    /// Its map.
    pub(crate) map: Arc<SourceMap>,
}

/// What is to be shown.
#[derive(Debug, Clone)]
pub(crate) struct PreviewRequest {
    /// The regions and rotations; all else of it does not matter but the lowest layer's source.
    pub(crate) setup: Setup,
    /// The target.
    pub(crate) target: Arc<Actor>,
    /// The sources with a map: without one the rigid parts are unknown.
    pub(crate) mapped: Vec<MappedSource>,
    /// Whether weights are shown as they will count, or regions as they were painted.
    pub(crate) refined: bool,
}

impl PartialEq for PreviewRequest {
    fn eq(&self, other: &Self) -> bool {
        let a = &self.setup;
        let b = &other.setup;
        let maps = self.mapped.len() == other.mapped.len()
            && self
                .mapped
                .iter()
                .zip(&other.mapped)
                .all(|(a, b)| a.name == b.name && Arc::ptr_eq(&a.map, &b.map));

        Arc::ptr_eq(&self.target, &other.target)
            && maps
            // Other settings do not change the preview.
            && (&a.regions, &a.turns, a.layers.first(), self.refined)
                == (&b.regions, &b.turns, b.layers.first(), other.refined)
    }
}

/// What to show.
#[derive(Debug, Clone)]
pub(crate) struct Preview {
    /// A colour per vertex of the target.
    pub(crate) colors: Arc<Vec<Srgba>>,
    /// The modified reference pose; empty without rotations.
    pub(crate) pose: Option<Arc<Vec<DVec3>>>,
    /// Warnings.
    pub(crate) problems: Vec<String>,
    /// Whether the weights are those that will count.
    pub(crate) refined: bool,
}

/// Requests previews and keeps the last.
#[derive(Default)]
pub(crate) struct Previewer {
    worker: Option<Latest<PreviewRequest, (PreviewRequest, Preview)>>,
    requested: Option<PreviewRequest>,
    shown: Option<(Arc<Actor>, Preview)>,
}

impl Previewer {
    /// The newest preview of this target.
    pub(crate) fn preview(&mut self, request: PreviewRequest, wake: &Wake) -> Option<&Preview> {
        let worker = self.worker.get_or_insert_with(|| start(wake.clone()));
        if let Some(Ok((answered, preview))) = worker.result() {
            // An older preview of the same target is shown until the new one is ready.
            self.shown = Some((answered.target, preview));
        }

        if self.requested.as_ref() != Some(&request) {
            worker.send(request.clone());
            self.requested = Some(request.clone());
        }

        self.shown
            .as_ref()
            .filter(|(of, _)| Arc::ptr_eq(of, &request.target))
            .map(|(_, preview)| preview)
    }

    /// Whether one is in progress.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }
}

/// The system of a target, kept while it is requested.
type Factor = Option<(Arc<Actor>, Reconstruction)>;

fn start(wake: Wake) -> Latest<PreviewRequest, (PreviewRequest, Preview)> {
    Latest::new(
        "The preview",
        wake,
        |inbox: &Inbox<PreviewRequest>, outbox: &Outbox<(PreviewRequest, Preview)>| {
            let mut factor: Factor = None;
            while let Some(request) = inbox.next() {
                let preview = previewed(&request, &mut factor);
                outbox.put(Ok((request, preview)));
            }
        },
    )
}

fn previewed(request: &PreviewRequest, factor: &mut Factor) -> Preview {
    let mut problems = Vec::new();
    let planned = request.job();
    let refined = planned
        .as_ref()
        .filter(|_| request.refined)
        .and_then(|(job, found)| match job.layers(found) {
            // The lowest layer is not a region.
            Ok((layers, _)) => Some(
                layers
                    .into_iter()
                    .skip(1)
                    .map(|layer| layer.weights)
                    .collect::<Vec<_>>(),
            ),
            Err(error) => {
                problems.push(error.to_string());
                None
            }
        });

    let regions = &request.setup.regions;
    let mut painted = Vec::new();
    for (k, region) in regions.iter().enumerate() {
        let drawn = painted_triangles(region, &request.target);
        let Some(weights) = refined.as_ref().map(|refined| &refined[k]) else {
            painted.push((region.color, drawn));
            continue;
        };

        if !region.faces.is_empty() && weights.iter().all(|&weight| weight == 0.0) {
            problems.push(format!(
                "{} covers no rigid part by more than half; paint more, or switch Refine off.",
                region.name
            ));
        }

        let traced = weights
            .iter()
            .zip(drawn)
            .map(|(weight, drawn)| weight.max(TRACE * drawn))
            .collect();

        painted.push((region.color, traced));
    }

    let pose = planned
        .and_then(|(job, found)| posed(&job, &found, &request.target, factor, &mut problems));
    Preview {
        colors: Arc::new(region_colors(&request.target.mesh, &painted)),
        pose,
        problems,
        refined: refined.is_some(),
    }
}

/// How much of a painted stroke shows through where it does not count.
const TRACE: f64 = 0.3;

/// One for the triangles of faces that were painted.
fn painted_triangles(region: &RegionSetup, target: &Actor) -> Vec<f64> {
    let on = |face: &u32| f64::from(u8::from(region.faces.binary_search(face).is_ok()));
    target.mesh.triangle_faces().iter().map(on).collect()
}

/// The reference pose that the turns make.
fn posed(
    job: &TransferJob,
    found: &[Correspondence],
    target: &Arc<Actor>,
    factor: &mut Factor,
    problems: &mut Vec<String>,
) -> Option<Arc<Vec<DVec3>>> {
    let (pose, odd) = job
        .pose(found)
        .map_err(|error| problems.push(error.to_string()))
        .ok()??;

    // The messages of the library name tables of the recipe; an empty region was reported above.
    if !odd.is_empty() && problems.is_empty() {
        problems.push("A rotation has no effect because its region covers no rigid part by more than half. Paint more, or switch Refine off.".into());
    }

    if factor
        .as_ref()
        .is_none_or(|(of, _)| !Arc::ptr_eq(of, target))
    {
        let fresh = Reconstruction::factor(&target.mesh, ReconstructionWeighting::Area);
        *factor = Some((
            target.clone(),
            fresh
                .map_err(|error| problems.push(error.to_string()))
                .ok()?,
        ));
    }

    factor
        .as_ref()
        .map(|(_, factor)| Arc::new(factor.solve(pose.rotations())))
}

impl PreviewRequest {
    /// A job whose layers are the lowest one and, over it, one per region; nothing while a source
    /// has no map.
    fn job(&self) -> Option<(TransferJob, Vec<Correspondence>)> {
        let known = |name: &str| self.mapped.iter().any(|mapped| mapped.name == name);
        // Rigid parts are known only for sources with a correspondence.
        let lowest = self
            .setup
            .layers
            .first()
            .map(|layer| layer.source.clone())
            .filter(|name| known(name))?;

        if !self
            .setup
            .regions
            .iter()
            .all(|region| known(&region.source))
        {
            return None;
        }

        let mut recipe = self.setup.recipe();
        recipe.sources.retain(|source| known(&source.name));
        let of_region = |region: &RegionSetup| RecipeLayer {
            region: Some(region.recipe()),
            refine: region.refine,
            ..RecipeLayer::whole(&region.source)
        };

        // The layers of the preview: the whole target, and each region over it.
        recipe.layers = std::iter::once(RecipeLayer::whole(&lowest))
            .chain(self.setup.regions.iter().map(of_region))
            .collect();

        let mapped = || {
            recipe
                .sources
                .iter()
                .filter_map(|source| self.mapped.iter().find(|mapped| mapped.name == source.name))
        };

        let clips = mapped()
            .map(|mapped| Some((mapped.source.clip()?.clone(), None)))
            .collect::<Option<Vec<_>>>()?;
        let found = mapped()
            .map(|mapped| mapped.map.correspondence.clone())
            .collect();

        let inputs = TransferInputs {
            target: self.target.asset.clone(),
            mesh: self.target.mesh.clone(),
            sources: clips,
        };

        TransferJob::new(&recipe, inputs, None)
            .ok()
            .map(|job| (job, found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::transfer::actor::actor;
    use crate::engine::transfer::maps::MapKey;
    use crate::model::transfer::SourceSetup;

    /// The tapir with its trunk as a region, and its own clip as the source: the map is the
    /// identity.
    fn trunk(degrees: f64, refined: bool) -> PreviewRequest {
        let target = actor("specimen:tapir");
        let source = actor("specimen:tapir#trunk");
        let mut setup = Setup {
            target: "specimen:tapir".into(),
            ..Setup::default()
        };

        setup.add_source("specimen:tapir#trunk".into());
        setup.add_region("tapir trunk");
        let faces = (0..target.mesh.face_count() as u32).filter(|&face| in_trunk(&target, face));
        setup.regions[0].faces = Arc::new(faces.collect());
        setup.set_rotation("Region", [degrees, 0.0, 0.0]);

        let key = MapKey::of(&SourceSetup::default(), &source, &target);
        let map = Arc::new(SourceMap::find(&key, &()).unwrap());
        PreviewRequest {
            setup,
            target,
            mapped: vec![MappedSource {
                name: "tapir trunk".into(),
                source,
                map,
            }],
            refined,
        }
    }

    fn in_trunk(target: &Actor, face: u32) -> bool {
        target.mesh.groups().of(face as usize) == Some("trunk")
    }

    #[test]
    fn rotating_the_trunk_does_not_move_the_hind_feet() {
        let mut request = trunk(60.0, false);
        // A trunk bends everywhere: no part of it is rigid.
        request.setup.regions[0].refine = false;

        let preview = previewed(&request, &mut None);
        let rest = request.target.mesh.positions();
        let pose = preview.pose.expect("something is turned");
        let corners = |face: &u32| request.target.mesh.face(*face as usize).to_vec();
        let moved_by = |v: usize| rest[v].distance(pose[v]) / request.target.diagonal();

        let trunk_moved_by = request.setup.regions[0]
            .faces
            .iter()
            .flat_map(corners)
            .map(|v| moved_by(v as usize))
            .fold(0.0, f64::max);

        // The centre of mass is fixed, so everything moves a little.
        let hindmost = (0..rest.len())
            .min_by(|&a, &b| rest[a].z.total_cmp(&rest[b].z))
            .unwrap();

        assert!(
            trunk_moved_by > 0.1 && moved_by(hindmost) < 0.2 * trunk_moved_by,
            "{trunk_moved_by} {}",
            moved_by(hindmost)
        );
    }

    #[test]
    fn painted_regions_and_refined_weights_are_shown() {
        let request = trunk(0.0, false);
        let raw = previewed(&request, &mut None);
        assert!(!raw.refined && raw.pose.is_none());

        let counted = previewed(
            &PreviewRequest {
                refined: true,
                ..request.clone()
            },
            &mut None,
        );

        assert!(counted.refined && counted.colors != raw.colors);
        // Refinement needs the stiffness that only a map gives.
        let without_map = previewed(
            &PreviewRequest {
                mapped: Vec::new(),
                refined: true,
                ..request
            },
            &mut None,
        );

        assert!(
            !without_map.refined && without_map.colors == raw.colors,
            "nobody knows yet what is stiff"
        );
    }
}
