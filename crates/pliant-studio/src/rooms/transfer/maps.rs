//! Where each source corresponds to the target: found by a task, and kept for the markers it was
//! found by.

use std::sync::Arc;

use eframe::egui::Ui;
use pliant::mesh::Progress;
use pliant::transfer::{Correspondence, CorrespondenceOptions};
use pliant::transfer_recipe::RecipeMethod;

use super::marker_pairs::all_markers;
use super::setup::{Pairs, SourceSetup};
use super::stage::{Actor, flexibility_heat};
use crate::command::Notice;
use crate::rooms::Cx;
use crate::view::{Heat, HeatMap};
use crate::work::Task;

/// What a map depends on.
#[derive(Debug, Clone)]
pub(super) struct MapKey {
    /// The source.
    pub(super) source: Arc<Actor>,
    /// The target.
    pub(super) target: Arc<Actor>,
    pairs: Pairs,
    mirrored: bool,
    method: RecipeMethod,
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
    /// That of a source as it is set up.
    #[must_use]
    pub(super) fn of(setup: &SourceSetup, source: &Arc<Actor>, target: &Arc<Actor>) -> Self {
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
pub(super) struct FoundMap {
    /// The map.
    pub(super) correspondence: Correspondence,
    /// How far partners are apart.
    pub(super) distance: Heat,
    /// Where the source's clip bends the target.
    pub(super) flexibility: Heat,
}

impl FoundMap {
    /// Finds it. Without markers the shapes alone decide.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn find(key: &MapKey, progress: &dyn Progress) -> Result<Self, String> {
        let (source, target) = (&key.source, &key.target);
        let (markers, _) = all_markers(source, target, &key.pairs, key.mirrored);
        let markers = Some(&markers).filter(|markers| !markers.pairs().is_empty());
        let options = CorrespondenceOptions::default().with_method(key.method.into());
        let found = Correspondence::find_with_progress(
            &source.mesh,
            &target.mesh,
            markers,
            &options,
            progress,
        );
        let correspondence = found.map_err(|error| error.to_string())?;
        let bends = source
            .motion
            .as_ref()
            .map_or(&[][..], |motion| &motion.flexibility);
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
            "Apart",
            "% of size",
        )
        .with_range([0.0, WORST]);
        Ok(Self {
            flexibility: flexibility_heat(&target.mesh, &carried),
            correspondence,
            distance,
        })
    }

    /// How good it is.
    pub(super) fn figures_ui(&self, ui: &mut Ui) {
        let (report, method) = (
            &self.correspondence.report,
            self.correspondence.method.name(),
        );
        ui.label(format!(
            "{} of {} triangles without partner",
            report.uncovered + report.flipped,
            report.triangles
        ));
        ui.label(format!(
            "Partners {:.2} % of size apart",
            100.0 * report.residual
        ));
        ui.label(format!(
            "Stretch between neighbours {:.2}×",
            report.distortion
        ))
        .on_hover_text("1 is none; above 2 the map is torn");
        ui.weak(format!("By {method}"));
        for problem in &self.correspondence.problems {
            ui.colored_label(ui.visuals().warn_fg_color, problem);
        }
    }
}

/// Where the colours of distances end, in percent of the target's diagonal: partners this far apart
/// are no partners.
const WORST: f32 = 3.0;
/// Maps that are kept, so that undo has them at once.
const KEPT: usize = 8;

/// The maps that were found.
#[derive(Debug, Default)]
pub(super) struct Maps {
    known: Vec<(MapKey, Arc<FoundMap>)>,
    task: Option<(MapKey, Task<FoundMap>)>,
    /// Failed or was cancelled: not begun again by itself.
    given_up: Option<(MapKey, String)>,
}

impl Maps {
    /// The map, if it was found.
    #[must_use]
    pub(super) fn get(&self, key: &MapKey) -> Option<Arc<FoundMap>> {
        self.known
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, found)| found.clone())
    }

    /// Why there is no map, if someone tried.
    #[must_use]
    pub(super) fn trouble(&self, key: &MapKey) -> Option<&str> {
        self.given_up
            .as_ref()
            .filter(|(known, _)| known == key)
            .map(|(_, sentence)| &**sentence)
    }

    /// Keeps a map.
    pub(super) fn keep(&mut self, key: MapKey, found: Arc<FoundMap>) {
        self.known.retain(|(known, _)| *known != key);
        self.known.push((key, found));
        let excess = self.known.len().saturating_sub(KEPT);
        self.known.drain(..excess);
    }

    /// Forgets that a map could not be found, so that [`want`](Self::want) tries again.
    pub(super) fn try_again(&mut self) {
        self.given_up = None;
    }

    /// Starts to find a map unless it is there, under way, or was given up.
    pub(super) fn want(&mut self, key: &MapKey, name: &str, cx: &mut Cx<'_>) {
        if self.get(key).is_some()
            || self.trouble(key).is_some()
            || self.task.as_ref().is_some_and(|(asked, _)| asked == key)
        {
            return;
        }
        let work = key.clone();
        let task = cx.start(format!("Matching {name}"), move |watch| {
            FoundMap::find(&work, watch)
        });
        self.task = Some((key.clone(), task));
    }

    /// Fetches what was found.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        let Some((key, task)) = self.task.take() else {
            return;
        };
        let mut slot = Some(task);
        match Task::finished(&mut slot) {
            Some(Ok(found)) => self.keep(key, Arc::new(found)),
            Some(Err(sentence)) => {
                cx.tell(Notice::trouble(format!("No map: {sentence}.")));
                self.given_up = Some((key, sentence));
            }
            None => match slot {
                Some(task) => self.task = Some((key, task)),
                None => self.given_up = Some((key, "cancelled".into())),
            },
        }
    }

    /// Whether one is under way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.task.is_some()
    }
}
