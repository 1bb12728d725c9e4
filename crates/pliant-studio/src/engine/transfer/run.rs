//! The transfer itself: a task from the setup to a take.

use std::sync::Arc;

use pliant::jobs::{TransferInputs, TransferJob, TransferResult};
use pliant::mesh::{Progress, ProgressPart};

use super::actor::Actor;
use super::maps::{MapKey, Maps, SourceMap};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::work::{Task, Watch};
use crate::model::names::to_message;
use crate::model::timeline::{Take, Timeline};
use crate::model::transfer::{Outcome, Setup, short_name};

/// Share of the bar that all maps take.
const MAPS_SHARE: f64 = 0.5;

/// A transfer in progress.
#[derive(Debug, Default)]
pub(crate) struct Run {
    task: Option<Task<FinishedRun>>,
}

/// Input of a task.
struct Plan {
    setup: Setup,
    target: Arc<Actor>,
    maps: Vec<(MapKey, Option<Arc<SourceMap>>)>,
}

#[derive(Debug)]
struct FinishedRun {
    take: Take,
    outcome: Outcome,
    maps: Vec<(MapKey, Arc<SourceMap>)>,
}

impl Run {
    /// Whether it is in progress.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// Starts it.
    pub(crate) fn start(
        &mut self,
        target: &Arc<Actor>,
        keys: Vec<MapKey>,
        maps: &Maps,
        cx: &mut Cx<'_>,
    ) {
        // Maps that are ready are used; the others are computed by the task.
        let maps = keys
            .into_iter()
            .map(|key| (key.clone(), maps.get(&key)))
            .collect();

        let plan = Plan {
            setup: cx.document.transfer.clone(),
            target: target.clone(),
            maps,
        };

        self.task = Some(cx.start("Transfer", move |watch| plan.made(watch)));
    }

    /// Puts what was made into the document: a take instead of the one before.
    pub(crate) fn update(&mut self, maps: &mut Maps, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.task) {
            None => {}
            Some(Err(message)) => {
                cx.notify(Notice::error(format!("The transfer failed: {message}.")))
            }
            Some(Ok(FinishedRun {
                take,
                mut outcome,
                maps: found,
            })) => {
                for (key, found) in found {
                    maps.keep(key, found);
                }

                // The user chose another target during the computation.
                if take.of != cx.document.transfer.target {
                    cx.notify(Notice::hint(format!(
                        "{} was discarded because the target mesh changed.",
                        take.name
                    )));
                    return;
                }

                cx.notify(Notice::done(format!(
                    "Transferred {} frames; press Play.",
                    outcome.frames
                )));

                cx.edit("Transfer", move |document| {
                    let timeline = &mut document.timeline;
                    // A new result replaces the previous one.
                    if let Some(before) = &document.transfer.outcome {
                        timeline.takes.retain(|take| take.name != before.take);
                    }
                    fit_timeline(timeline, &take);
                    outcome.take = timeline.add_take(take);
                    document.transfer.outcome = Some(outcome);
                });
            }
        }
    }
}

/// The timeline becomes the take's own, unless keys of the character are made for it; then it only
/// grows.
fn fit_timeline(timeline: &mut Timeline, take: &Take) {
    let last = take.frame_count.saturating_sub(1);
    if timeline.keys.is_empty() {
        (timeline.frames_per_second, timeline.last_frame) = (take.frames_per_second, last);
    } else {
        let played = f64::from(last) / take.frames_per_second * timeline.frames_per_second;
        timeline.last_frame = timeline.last_frame.max(last).max(played.ceil() as u32);
    }
}

impl Plan {
    fn made(&self, watch: &Watch) -> Result<FinishedRun, String> {
        let maps = self.find_maps(watch)?;
        let mut sources = Vec::new();
        for (key, _) in &maps {
            let motion = key.source.motion.as_ref().map_err(String::clone)?;
            sources.push((motion.clip.clone(), None));
        }

        let inputs = TransferInputs {
            target: self.target.asset.clone(),
            mesh: self.target.mesh.clone(),
            sources,
        };
        let rate = self.frame_rate(&inputs);
        let job = TransferJob::new(&self.setup.recipe(), inputs, None).map_err(to_message)?;
        let found = maps
            .iter()
            .map(|(_, found)| found.correspondence.clone())
            .collect();

        // The maps took the first part of the progress bar.
        let rest = ProgressPart {
            whole: watch,
            begin: MAPS_SHARE,
            size: 1.0 - MAPS_SHARE,
        };
        let made = job
            .run_with(found, &rest as &dyn Progress)
            .map_err(to_message)?;

        let outcome = self.outcome(&made);
        let take = Take::made(
            self.name(),
            &*self.setup.target,
            &made.motion.frames,
            rate.unwrap_or(24.0),
        );

        Ok(FinishedRun {
            take,
            outcome,
            maps,
        })
    }

    /// The correspondences of all sources; those that are not known are computed.
    fn find_maps(&self, watch: &Watch) -> Result<Vec<(MapKey, Arc<SourceMap>)>, String> {
        let mut maps = Vec::new();
        let size = MAPS_SHARE / self.maps.len().max(1) as f64;
        for (k, (key, known)) in self.maps.iter().enumerate() {
            let part = ProgressPart {
                whole: watch,
                begin: size * k as f64,
                size,
            };
            let found = match known {
                Some(known) => known.clone(),
                None => Arc::new(SourceMap::find(key, &part)?),
            };
            maps.push((key.clone(), found));
        }
        Ok(maps)
    }

    /// The rate of the clip of the lowest layer, which is that of the result.
    fn frame_rate(&self, inputs: &TransferInputs) -> Option<f64> {
        let lowest = self.setup.layers.first()?;
        let mut sources = self.setup.sources.iter();
        let k = sources.position(|source| source.name == lowest.source)?;
        let (clip, _) = inputs.sources.get(k)?;
        Some(clip.frames_per_second())
    }

    /// The name of the take, such as `hound walk on tapir`.
    fn name(&self) -> String {
        let mut names: Vec<&str> = self
            .setup
            .layers
            .iter()
            .map(|layer| &*layer.source)
            .collect();

        names.dedup();
        format!(
            "{} on {}",
            names.join(" and "),
            short_name(&self.setup.target)
        )
    }

    fn outcome(&self, made: &TransferResult) -> Outcome {
        let map = made.worst_map();
        let diagonal = self.target.diagonal();
        // Frames in which the mesh intersects itself.
        let cut = |count: fn(&pliant::transfer::SelfIntersectionReport) -> usize| {
            made.partings
                .iter()
                .filter(|parting| count(parting) > 0)
                .count()
        };

        Outcome {
            take: String::new(),
            frames: made.motion.frames.len(),
            ms_per_frame: made.ms_per_frame(),
            map_ms: made.times.map_ms,
            triangles: map.triangles,
            lost: map.uncovered + map.flipped,
            residual: map.residual,
            // Lengths are relative to the size of the target.
            feet: made.motion.feet.map(|feet| {
                (
                    feet.vertices,
                    [feet.slide_before, feet.slide_after].map(|slide| slide / diagonal),
                )
            }),
            tangled: (!made.partings.is_empty())
                .then(|| [cut(|parting| parting.before), cut(|parting| parting.after)]),
            problems: made.warnings.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_take_does_not_change_the_rate_of_keys() {
        let take = Take {
            frame_count: 61,
            ..Take::made("walk", "specimen:tapir", &[], 30.0)
        };
        // An empty timeline takes the rate of the take.
        let mut timeline = Timeline::default();

        fit_timeline(&mut timeline, &take);
        assert_eq!(
            (timeline.frames_per_second, timeline.last_frame),
            (30.0, 60)
        );

        // With a key, the rate stays and the range is converted.
        let mut timeline = Timeline {
            frames_per_second: 48.0,
            last_frame: 10,
            ..Timeline::default()
        };

        timeline.set_key("smile", 5, 1.0);
        fit_timeline(&mut timeline, &take);
        assert_eq!(
            (timeline.frames_per_second, timeline.last_frame),
            (48.0, 96),
            "two seconds"
        );
    }
}
