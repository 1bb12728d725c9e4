//! Regions and turns as they will count: soft weights as colours, and the turned reference pose.

use std::sync::Arc;

use eframe::egui::Color32;
use pliant::mesh::glam::DVec3;
use pliant::transfer::{Correspondence, Reconstruction, ReconstructionForm};
use pliant::transfer_job::{TransferInputs, TransferJob};
use pliant::transfer_recipe::RecipeLayer;

use super::maps::FoundMap;
use super::paint::region_colors;
use super::setup::{RegionSetup, Setup};
use super::stage::Actor;
use crate::work::{Inbox, Latest, Outbox, Wake};

/// A source that is ready, with its map.
#[derive(Debug, Clone)]
pub(super) struct Mapped {
    /// Its name.
    pub(super) name: String,
    /// Itself.
    pub(super) source: Arc<Actor>,
    /// Its map.
    pub(super) map: Arc<FoundMap>,
}

/// What is to be shown.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// The regions and turns; all else of it does not matter but the lowest layer's source.
    pub(super) setup: Setup,
    /// The target.
    pub(super) target: Arc<Actor>,
    /// The sources with a map: without one nobody knows what is stiff.
    pub(super) mapped: Vec<Mapped>,
    /// Whether weights are shown as they will count, or regions as they were scribbled.
    pub(super) refined: bool,
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.setup, &other.setup);
        let maps = self.mapped.len() == other.mapped.len()
            && self
                .mapped
                .iter()
                .zip(&other.mapped)
                .all(|(a, b)| a.name == b.name && Arc::ptr_eq(&a.map, &b.map));
        Arc::ptr_eq(&self.target, &other.target)
            && maps
            && (&a.regions, &a.turns, a.layers.first(), self.refined)
                == (&b.regions, &b.turns, b.layers.first(), other.refined)
    }
}

/// What to show.
#[derive(Debug, Clone)]
pub(super) struct Preview {
    /// A colour per vertex of the target.
    pub(super) colors: Arc<Vec<Color32>>,
    /// The turned reference pose; nothing where nothing is turned.
    pub(super) pose: Option<Arc<Vec<DVec3>>>,
    /// What is odd.
    pub(super) problems: Vec<String>,
    /// Whether the weights are those that will count.
    pub(super) refined: bool,
}

/// Asks for previews and keeps the last.
#[derive(Default)]
pub(super) struct Previewer {
    worker: Option<Latest<Question, (Question, Preview)>>,
    asked: Option<Question>,
    shown: Option<(Arc<Actor>, Preview)>,
}

impl Previewer {
    /// The newest preview of this target.
    pub(super) fn preview(&mut self, question: Question, wake: &Wake) -> Option<&Preview> {
        let worker = self.worker.get_or_insert_with(|| start(wake.clone()));
        if let Some(Ok((answered, preview))) = worker.answer() {
            self.shown = Some((answered.target, preview));
        }
        if self.asked.as_ref() != Some(&question) {
            worker.ask(question.clone());
            self.asked = Some(question.clone());
        }
        self.shown
            .as_ref()
            .filter(|(of, _)| Arc::ptr_eq(of, &question.target))
            .map(|(_, preview)| preview)
    }

    /// Whether one is on its way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }
}

/// The system of a target, kept while it is asked for.
type Factor = Option<(Arc<Actor>, Reconstruction)>;

fn start(wake: Wake) -> Latest<Question, (Question, Preview)> {
    Latest::new(
        "The preview",
        wake,
        |inbox: &Inbox<Question>, outbox: &Outbox<(Question, Preview)>| {
            let mut factor: Factor = None;
            while let Some(question) = inbox.next() {
                let preview = previewed(&question, &mut factor);
                outbox.put(Ok((question, preview)));
            }
        },
    )
}

fn previewed(question: &Question, factor: &mut Factor) -> Preview {
    let mut problems = Vec::new();
    let planned = question.job();
    let refined = planned
        .as_ref()
        .filter(|_| question.refined)
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
    let regions = &question.setup.regions;
    let mut painted = Vec::new();
    for (k, region) in regions.iter().enumerate() {
        let drawn = scribbled(region, &question.target);
        let Some(weights) = refined.as_ref().map(|refined| &refined[k]) else {
            painted.push((region.color, drawn));
            continue;
        };
        if !region.faces.is_empty() && weights.iter().all(|&weight| weight == 0.0) {
            problems.push(format!(
                "{} covers no stiff part by more than half: paint more, or switch Refine off.",
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
        .and_then(|(job, found)| posed(&job, &found, &question.target, factor, &mut problems));
    Preview {
        colors: Arc::new(region_colors(&question.target.mesh, &painted)),
        pose,
        problems,
        refined: refined.is_some(),
    }
}

/// How much of a scribble shows through where it does not count.
const TRACE: f64 = 0.3;

/// One for the triangles of faces that were scribbled on.
fn scribbled(region: &RegionSetup, target: &Actor) -> Vec<f64> {
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
    // The library speaks of the recipe's tables; a region that covers nothing was told above where
    // weights are shown.
    if !odd.is_empty() && problems.is_empty() {
        problems.push("A turn moves nothing: its region covers no stiff part by more than half. Paint more, or switch Refine off.".into());
    }
    if factor
        .as_ref()
        .is_none_or(|(of, _)| !Arc::ptr_eq(of, target))
    {
        let fresh = Reconstruction::factor(&target.mesh, ReconstructionForm::AreaWeighted);
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

impl Question {
    /// A job whose layers are the lowest one and, over it, one per region; nothing while a source
    /// has no map.
    fn job(&self) -> Option<(TransferJob, Vec<Correspondence>)> {
        let known = |name: &str| self.mapped.iter().any(|mapped| mapped.name == name);
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
    use crate::rooms::transfer::maps::MapKey;
    use crate::rooms::transfer::setup::SourceSetup;
    use crate::rooms::transfer::stage::actor;

    /// The tapir with its trunk as a region, and its own clip as the source: the map is the
    /// identity.
    fn trunk(degrees: f64, refined: bool) -> Question {
        let (target, source) = (actor("specimen:tapir"), actor("specimen:tapir#trunk"));
        let mut setup = Setup {
            target: "specimen:tapir".into(),
            ..Setup::default()
        };
        setup.add_source("specimen:tapir#trunk".into());
        setup.add_region("tapir trunk");
        let faces = (0..target.mesh.face_count() as u32).filter(|&face| in_trunk(&target, face));
        setup.regions[0].faces = Arc::new(faces.collect());
        setup.set_turn("Region", [degrees, 0.0, 0.0]);
        let key = MapKey::of(&SourceSetup::default(), &source, &target);
        let map = Arc::new(FoundMap::find(&key, &()).unwrap());
        Question {
            setup,
            target,
            mapped: vec![Mapped {
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
    fn a_turned_trunk_leaves_the_hind_feet_where_they_are() {
        let mut question = trunk(60.0, false);
        // All of a trunk bends: no part of it is stiff.
        question.setup.regions[0].refine = false;
        let preview = previewed(&question, &mut None);
        let (rest, pose) = (
            question.target.mesh.positions(),
            preview.pose.expect("something is turned"),
        );
        let corners = |face: &u32| question.target.mesh.face(*face as usize).to_vec();
        let way = |v: usize| rest[v].distance(pose[v]) / question.target.diagonal();
        let trunk_way = question.setup.regions[0]
            .faces
            .iter()
            .flat_map(corners)
            .map(|v| way(v as usize))
            .fold(0.0, f64::max);
        // The whole keeps its centre, so all of it gives way a little.
        let hindmost = (0..rest.len())
            .min_by(|&a, &b| rest[a].z.total_cmp(&rest[b].z))
            .unwrap();
        assert!(
            trunk_way > 0.1 && way(hindmost) < 0.2 * trunk_way,
            "{trunk_way} {}",
            way(hindmost)
        );
    }

    #[test]
    fn scribbles_show_as_they_are_and_weights_as_they_count() {
        let question = trunk(0.0, false);
        let raw = previewed(&question, &mut None);
        assert!(!raw.refined && raw.pose.is_none());
        let counted = previewed(
            &Question {
                refined: true,
                ..question.clone()
            },
            &mut None,
        );
        assert!(counted.refined && counted.colors != raw.colors);
        let without_map = previewed(
            &Question {
                mapped: Vec::new(),
                refined: true,
                ..question
            },
            &mut None,
        );
        assert!(
            !without_map.refined && without_map.colors == raw.colors,
            "nobody knows yet what is stiff"
        );
    }
}
