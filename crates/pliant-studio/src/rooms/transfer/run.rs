//! The transfer itself: a task from the setup to a take.

use std::sync::Arc;

use eframe::egui::{self, Ui};
use pliant::mesh::{Progress, ProgressPart};
use pliant::transfer_job::{TransferInputs, TransferJob, Transferred};
use pliant::transfer_recipe::{RecipeRoot, RecipeUp};

use super::maps::{FoundMap, MapKey, Maps};
use super::setup::{Outcome, Setup, short_name};
use super::stage::Actor;
use crate::command::Notice;
use crate::rooms::Cx;
use crate::timeline::{Take, Timeline};
use crate::work::{Task, Watch};

/// Share of the bar that all maps take.
const MAPS_SHARE: f64 = 0.5;

/// A transfer under way.
#[derive(Debug, Default)]
pub(super) struct Run {
    task: Option<Task<Made>>,
}

/// What a task needs.
struct Plan {
    setup: Setup,
    target: Arc<Actor>,
    maps: Vec<(MapKey, Option<Arc<FoundMap>>)>,
}

#[derive(Debug)]
struct Made {
    take: Take,
    outcome: Outcome,
    maps: Vec<(MapKey, Arc<FoundMap>)>,
}

impl Run {
    /// Whether it is under way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// Starts it.
    pub(super) fn start(
        &mut self,
        target: &Arc<Actor>,
        keys: Vec<MapKey>,
        maps: &Maps,
        cx: &mut Cx<'_>,
    ) {
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

    /// Puts what was made into the document: a take in place of the one before.
    pub(super) fn update(&mut self, maps: &mut Maps, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.task) {
            None => {}
            Some(Err(sentence)) => {
                cx.tell(Notice::trouble(format!("Not transferred: {sentence}.")))
            }
            Some(Ok(Made {
                take,
                mut outcome,
                maps: found,
            })) => {
                found
                    .into_iter()
                    .for_each(|(key, found)| maps.keep(key, found));
                if take.of != cx.document.transfer.target {
                    cx.tell(Notice::hint(format!(
                        "{} was left out: the target is another one now.",
                        take.name
                    )));
                    return;
                }
                cx.tell(Notice::done(format!(
                    "Transferred {} frames; Play shows them.",
                    outcome.frames
                )));
                cx.edit("Transfer", move |document| {
                    let timeline = &mut document.timeline;
                    if let Some(before) = &document.transfer.outcome {
                        timeline.takes.retain(|take| take.name != before.take);
                    }
                    make_room(timeline, &take);
                    outcome.take = timeline.add_take(take);
                    document.transfer.outcome = Some(outcome);
                });
            }
        }
    }
}

/// The timeline becomes the take's own, unless keys of the character are made for it; then it only
/// grows.
fn make_room(timeline: &mut Timeline, take: &Take) {
    let last = take.frame_count.saturating_sub(1);
    if timeline.keys.is_empty() {
        (timeline.frames_per_second, timeline.last_frame) = (take.frames_per_second, last);
    } else {
        let played = f64::from(last) / take.frames_per_second * timeline.frames_per_second;
        timeline.last_frame = timeline.last_frame.max(last).max(played.ceil() as u32);
    }
}

impl Plan {
    fn made(&self, watch: &Watch) -> Result<Made, String> {
        let mut maps = Vec::new();
        let size = MAPS_SHARE / self.maps.len().max(1) as f64;
        for (k, (key, known)) in self.maps.iter().enumerate() {
            let part = ProgressPart {
                whole: watch,
                begin: size * k as f64,
                size,
            };
            let found = known
                .clone()
                .map_or_else(|| FoundMap::find(key, &part).map(Arc::new), Ok)?;
            maps.push((key.clone(), found));
        }
        let clip = |(key, _): &(MapKey, Arc<FoundMap>)| {
            Ok((
                key.source
                    .motion
                    .as_ref()
                    .map_err(String::clone)?
                    .clip
                    .clone(),
                None,
            ))
        };
        let sources = maps.iter().map(clip).collect::<Result<Vec<_>, String>>()?;
        let inputs = TransferInputs {
            target: self.target.asset.clone(),
            mesh: self.target.mesh.clone(),
            sources,
        };
        let rate = self.setup.layers.first().and_then(|layer| {
            let k = self
                .setup
                .sources
                .iter()
                .position(|source| source.name == layer.source)?;
            inputs
                .sources
                .get(k)
                .map(|(clip, _)| clip.frames_per_second())
        });
        let job = TransferJob::new(&self.setup.recipe(), inputs, None)
            .map_err(|error| error.to_string())?;
        let found = maps
            .iter()
            .map(|(_, found)| found.correspondence.clone())
            .collect();
        let rest = ProgressPart {
            whole: watch,
            begin: MAPS_SHARE,
            size: 1.0 - MAPS_SHARE,
        };
        let made = job
            .run_with(found, &rest as &dyn Progress)
            .map_err(|error| error.to_string())?;
        let outcome = self.outcome(&made);
        let take = Take::made(
            self.name(),
            &*self.setup.target,
            &made.motion.frames,
            rate.unwrap_or(24.0),
        );
        Ok(Made {
            take,
            outcome,
            maps,
        })
    }

    /// `hound walk on tapir`.
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

    fn outcome(&self, made: &Transferred) -> Outcome {
        let (map, diagonal) = (made.worst_map(), self.target.diagonal());
        let cut = |count: fn(&pliant::transfer::Parting) -> usize| {
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
            feet: made.motion.feet.map(|feet| {
                (
                    feet.vertices,
                    [feet.slide_before, feet.slide_after].map(|slide| slide / diagonal),
                )
            }),
            tangled: (!made.partings.is_empty())
                .then(|| [cut(|parting| parting.before), cut(|parting| parting.after)]),
            problems: made.problems.clone(),
        }
    }
}

/// What holds for the whole transfer.
pub(super) fn choices_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let before = cx.document.transfer.clone();
    let mut setup = before.clone();
    ui.horizontal(|ui| {
        ui.label("Root");
        ui.selectable_value(&mut setup.root, RecipeRoot::Carry, "Travels")
            .on_hover_text("The target covers the same way, for its size");
        ui.selectable_value(&mut setup.root, RecipeRoot::Fix, "Stays")
            .on_hover_text("The target moves on the spot");
    });
    ui.checkbox(&mut setup.feet, "Plant feet")
        .on_hover_text("Feet that stand in the source stand in the target");
    ui.collapsing("More", |ui| {
        ui.horizontal(|ui| {
            ui.label("Up axis");
            for (up, name) in [(RecipeUp::X, "X"), (RecipeUp::Y, "Y"), (RecipeUp::Z, "Z")] {
                ui.selectable_value(&mut setup.up, up, name)
                    .on_hover_text("Away from the ground, for planted feet");
            }
        });
        ui.checkbox(&mut setup.check, "Count self-intersections")
            .on_hover_text("Frames that cut through themselves where the rest does not");
        ui.checkbox(&mut setup.untangle, "Part self-intersections")
            .on_hover_text("Correct such frames where a small change does");
        for source in &mut setup.sources {
            let label = format!("Match rest pose of {}", source.name);
            ui.checkbox(&mut source.align_poses, label)
                .on_hover_text("Make up for rest poses that differ, stiff part by stiff part");
        }
    });
    if setup != before {
        cx.edit("Change transfer options", move |document| {
            let told = &mut document.transfer;
            (told.root, told.feet, told.up) = (setup.root, setup.feet, setup.up);
            (told.check, told.untangle) = (setup.check, setup.untangle);
            for (told, source) in told.sources.iter_mut().zip(setup.sources) {
                told.align_poses = source.align_poses;
            }
        });
    }
}

/// How the last run went.
pub(super) fn figures_ui(outcome: &Outcome, ui: &mut Ui) {
    egui::Grid::new("figures")
        .num_columns(2)
        .striped(true)
        .show(ui, |ui| {
            let mut row = |name: &str, value: String| {
                ui.weak(name);
                ui.label(value);
                ui.end_row();
            };
            row("Frames", outcome.frames.to_string());
            row("Per frame", format!("{:.1} ms", outcome.ms_per_frame));
            let lost = 100.0 * outcome.lost as f64 / outcome.triangles.max(1) as f64;
            row(
                "Without partner",
                format!(
                    "{} of {} triangles ({lost:.1} %)",
                    outcome.lost, outcome.triangles
                ),
            );
            row(
                "Partners apart",
                format!("{:.2} % of size", 100.0 * outcome.residual),
            );
            if let Some((vertices, [before, after])) = outcome.feet {
                row(
                    "Feet slide",
                    format!(
                        "{:.2} % of size, {:.2} % unheld ({vertices} vertices)",
                        100.0 * after,
                        100.0 * before
                    ),
                );
            }
            if let Some([before, after]) = outcome.tangled {
                row(
                    "Cut themselves",
                    format!("{after} frames, {before} before parting"),
                );
            }
        });
    for problem in &outcome.problems {
        ui.colored_label(ui.visuals().warn_fg_color, problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_take_leaves_the_rate_of_keys_as_it_is() {
        let take = Take {
            frame_count: 61,
            ..Take::made("walk", "specimen:tapir", &[], 30.0)
        };
        let mut timeline = Timeline::default();
        make_room(&mut timeline, &take);
        assert_eq!(
            (timeline.frames_per_second, timeline.last_frame),
            (30.0, 60)
        );
        let mut timeline = Timeline {
            frames_per_second: 48.0,
            last_frame: 10,
            ..Timeline::default()
        };
        timeline.set_key("smile", 5, 1.0);
        make_room(&mut timeline, &take);
        assert_eq!(
            (timeline.frames_per_second, timeline.last_frame),
            (48.0, 96),
            "two seconds"
        );
    }
}
