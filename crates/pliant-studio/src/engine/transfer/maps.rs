//! Correspondences between sources and target, computed by a task and cached by their markers.

use std::sync::Arc;

use pliant::mesh::Progress;
use pliant::recipes::CorrespondenceMethod;
use pliant::transfer::{Correspondence, CorrespondenceOptions};

use super::actor::{Actor, flexibility_heat};
use super::marker_pairs::all_markers;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::heat::{Heat, HeatMap};
use crate::engine::work::Task;
use crate::model::names::to_message;
use crate::model::transfer::{Pairs, SourceSetup};

/// Input of a map.
#[derive(Debug, Clone)]
pub(crate) struct MapKey {
    /// The source.
    pub(crate) source: Arc<Actor>,
    /// The target.
    pub(crate) target: Arc<Actor>,
    pairs: Pairs,
    mirrored: bool,
    method: CorrespondenceMethod,
}

impl PartialEq for MapKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source)
            && Arc::ptr_eq(&self.target, &other.target)
            && (&self.pairs, self.mirrored, self.method)
                == (&other.pairs, other.mirrored, other.method)
    }
}

impl MapKey {
    /// That of a source with its settings.
    #[must_use]
    pub(crate) fn of(setup: &SourceSetup, source: &Arc<Actor>, target: &Arc<Actor>) -> Self {
        let SourceSetup {
            pairs,
            mirrored,
            method,
            ..
        } = setup;
        Self {
            source: source.clone(),
            target: target.clone(),
            pairs: pairs.clone(),
            mirrored: *mirrored,
            method: *method,
        }
    }
}

/// A map with its colours on the target.
#[derive(Debug)]
pub(crate) struct SourceMap {
    /// The map.
    pub(crate) correspondence: Correspondence,
    /// The distance of corresponding triangles.
    pub(crate) distance: Heat,
    /// Where the source's clip bends the target.
    pub(crate) flexibility: Heat,
}

impl SourceMap {
    /// Computes it. Without markers, the shapes alone decide.
    ///
    /// # Errors
    /// A message.
    pub(crate) fn find(key: &MapKey, progress: &dyn Progress) -> Result<Self, String> {
        let source = &key.source;
        let target = &key.target;
        let (markers, _) = all_markers(source, target, &key.pairs, key.mirrored);
        // Without pairs the library matches by shape alone.
        let markers = Some(&markers).filter(|markers| !markers.pairs().is_empty());
        let options = CorrespondenceOptions::default().with_method(key.method);
        let found = Correspondence::find_with_progress(
            &source.mesh,
            &target.mesh,
            markers,
            &options,
            progress,
        );

        let correspondence = found.map_err(to_message)?;
        let bends = source
            .motion
            .as_ref()
            .map_or(&[][..], |motion| &motion.flexibility);

        // The flexibility of the source, carried to the triangles of the target.
        let carried = match bends {
            [] => vec![f64::NAN; target.mesh.triangles().len()],
            bends => correspondence
                .map
                .filled(&target.mesh)
                .carry(bends, f64::NAN),
        };

        let percent: Vec<f64> = correspondence
            .distances
            .iter()
            .map(|distance| 100.0 * distance / target.diagonal())
            .collect();

        let distance = Heat::new(
            &target.mesh.vertex_means(&percent),
            HeatMap::Sequential,
            "Distance",
            "% of size",
        )
        .with_range([0.0, WORST]);

        Ok(Self {
            flexibility: flexibility_heat(&target.mesh, &carried),
            correspondence,
            distance,
        })
    }
}

/// The end of the colour range of distances, in percent of the target's diagonal.
const WORST: f32 = 3.0;
/// Maps that are kept, so that undo has them at once.
const KEPT: usize = 8;

/// The maps that were found.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    known: Vec<(MapKey, Arc<SourceMap>)>,
    task: Option<(MapKey, Task<SourceMap>)>,
    /// Failed or was cancelled: not begun again by itself.
    given_up: Option<(MapKey, String)>,
}

impl Maps {
    /// The map, if it was found.
    #[must_use]
    pub(crate) fn get(&self, key: &MapKey) -> Option<Arc<SourceMap>> {
        self.known
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, found)| found.clone())
    }

    /// Why there is no map, if someone tried.
    #[must_use]
    pub(crate) fn error(&self, key: &MapKey) -> Option<&str> {
        self.given_up
            .as_ref()
            .filter(|(known, _)| known == key)
            .map(|(_, message)| &**message)
    }

    /// Keeps a map.
    pub(crate) fn keep(&mut self, key: MapKey, found: Arc<SourceMap>) {
        self.known.retain(|(known, _)| *known != key);
        self.known.push((key, found));
        let excess = self.known.len().saturating_sub(KEPT);
        self.known.drain(..excess);
    }

    /// Forgets that a map could not be found, so that [`want`](Self::want) tries again.
    pub(crate) fn try_again(&mut self) {
        self.given_up = None;
    }

    /// Starts to find a map unless it is there, in progress, or was given up.
    pub(crate) fn request(&mut self, key: &MapKey, name: &str, cx: &mut Cx<'_>) {
        // A failed or cancelled correspondence is not started again by itself.
        if self.get(key).is_some()
            || self.error(key).is_some()
            || self
                .task
                .as_ref()
                .is_some_and(|(requested, _)| requested == key)
        {
            return;
        }

        let work = key.clone();
        let task = cx.start(format!("Matching {name}"), move |watch| {
            SourceMap::find(&work, watch)
        });

        self.task = Some((key.clone(), task));
    }

    /// Fetches what was found.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) {
        let Some((key, task)) = self.task.take() else {
            return;
        };

        let mut slot = Some(task);
        match Task::finished(&mut slot) {
            Some(Ok(found)) => self.keep(key, Arc::new(found)),
            Some(Err(message)) => {
                cx.notify(Notice::error(format!("No correspondence: {message}.")));
                self.given_up = Some((key, message));
            }
            // An empty slot without a result is a cancelled task.
            None => match slot {
                Some(task) => self.task = Some((key, task)),
                None => self.given_up = Some((key, "cancelled".into())),
            },
        }
    }

    /// Whether one is in progress.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.task.is_some()
    }
}
