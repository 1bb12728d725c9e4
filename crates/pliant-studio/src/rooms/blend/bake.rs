//! Takes of a blend: a sweep through the shapes, or along keys.

use std::sync::Arc;

use eframe::egui::{ComboBox, DragValue, Ui};
use pliant::mesh::Progress as _;
use pliant::mesh::glam::DVec3;
use pliant::rig::Target;

use super::balance::{Balanced, Bench, Question, Source};
use super::setup::{Bake, BlendKey, Setup, Way};
use crate::command::Notice;
use crate::document::{AddedTarget, Document, Locator};
use crate::rooms::Cx;
use crate::timeline::{Take, Timeline};
use crate::work::{Task, Watch};

/// How many frames a take has: those of [`way_of`], without making them.
fn frame_count(setup: &Setup) -> usize {
    let steps = steps_of(setup) as usize * setup.shapes.len().saturating_sub(1);
    match setup.bake.way {
        Way::There => steps + 1,
        Way::AndBack => 2 * steps + 1,
        Way::Keys => setup.keys.len().min(1) + setup.keys.windows(2).map(|pair| steps_between(&pair[0], &pair[1]) as usize).sum::<usize>(),
    }
}

fn steps_of(setup: &Setup) -> u32 {
    setup.bake.steps.clamp(1, Bake::MOST_STEPS)
}

fn steps_between(from: &BlendKey, to: &BlendKey) -> u32 {
    to.frame.saturating_sub(from.frame).min(Timeline::MAX_FRAME)
}

/// The weights of every frame of a take.
fn way_of(setup: &Setup) -> Vec<Vec<f64>> {
    match setup.bake.way {
        Way::There => sweep(setup.shapes.len(), steps_of(setup)),
        Way::AndBack => {
            let there = sweep(setup.shapes.len(), steps_of(setup));
            let back: Vec<Vec<f64>> = there.iter().rev().skip(1).cloned().collect();
            [there, back].concat()
        }
        Way::Keys => along(&setup.keys),
    }
}

/// From the first shape over the others to the last.
fn sweep(shapes: usize, steps: u32) -> Vec<Vec<f64>> {
    let frames = steps * (shapes.max(1) as u32 - 1);
    let weights = |frame: u32| {
        let (from, share) = ((frame / steps) as usize, f64::from(frame % steps) / f64::from(steps));
        (0..shapes)
            .map(|shape| {
                if shape == from {
                    1.0 - share
                } else if shape == from + 1 {
                    share
                } else {
                    0.0
                }
            })
            .collect()
    };
    (0..=frames).map(weights).collect()
}

/// From key to key, one after another.
fn along(keys: &[BlendKey]) -> Vec<Vec<f64>> {
    let mut frames: Vec<Vec<f64>> = keys.first().map(|key| key.weights.clone()).into_iter().collect();
    for pair in keys.windows(2) {
        let steps = steps_between(&pair[0], &pair[1]);
        for step in 1..=steps {
            let share = f64::from(step) / f64::from(steps);
            frames.push(pair[0].weights.iter().zip(&pair[1].weights).map(|(a, b)| a * (1.0 - share) + b * share).collect());
        }
    }
    frames
}

/// The asset whose vertices are blended.
#[must_use]
pub(super) fn asset_of(document: &Document) -> Locator {
    let first = document.blend.shapes.first().map_or("", |shape| &shape.asset);
    if first.is_empty() { document.character.asset.clone() } else { first.to_owned() }
}

/// Takes on their way.
#[derive(Debug, Default)]
pub(super) struct Baker {
    task: Option<Task<Take>>,
}

impl Baker {
    /// Whether one is on its way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// Puts a take that is done into the document.
    pub(super) fn fetch(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.task) {
            None => {}
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
            Some(Ok(take)) => {
                cx.tell(Notice::done(format!("Baked {} frames; press Play to see them.", take.frame_count)));
                cx.edit("Bake blend", move |document| {
                    let last = take.frame_count.saturating_sub(1);
                    let name = document.timeline.add_take(take);
                    document.timeline.last_frame = document.timeline.last_frame.max(last);
                    document.timeline.playing_take = Some(name);
                });
            }
        }
    }

    /// Way, keys, and the button.
    pub(super) fn bake_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, sources: Option<&[Source]>) {
        ui.strong("Take");
        let (mut bake, before) = (cx.document.blend.bake, cx.document.blend.bake);
        ComboBox::from_label("Way").selected_text(way_label(bake.way)).show_ui(ui, |ui| {
            for way in [Way::There, Way::AndBack, Way::Keys] {
                ui.selectable_value(&mut bake.way, way, way_label(way));
            }
        });
        if bake.way == Way::Keys {
            keys_ui(ui, cx);
        } else {
            let field = DragValue::new(&mut bake.steps).range(1..=Bake::MOST_STEPS).suffix(" frames");
            ui.horizontal(|ui| {
                let label = ui.label("From shape to shape");
                ui.add(field).labelled_by(label.id);
            });
        }
        if bake != before {
            cx.edit_by_hand("Change take", move |document| document.blend.bake = bake);
        }
        let count = frame_count(&cx.document.blend);
        let able = sources.is_some() && count > 1 && self.task.is_none();
        let button = ui.add_enabled(able, eframe::egui::Button::new(format!("Bake {count} frames")));
        let button = button.on_hover_text("Balance every frame and keep them as a take on the timeline");
        if let Some(sources) = sources.filter(|_| button.clicked()) {
            self.start(cx, sources);
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>, sources: &[Source]) {
        let question = Question { number: 0, sources: sources.to_vec(), setup: cx.document.blend.clone() };
        let (of, fps) = (asset_of(cx.document), cx.document.timeline.frames_per_second);
        self.task = Some(cx.start("Baking the blend", move |watch| {
            let frames = balance_all(&question, &way_of(&question.setup), watch)?;
            Ok(Take::made("Blend", of, &frames, fps))
        }));
    }
}

fn way_label(way: Way) -> &'static str {
    match way {
        Way::There => "From first to last",
        Way::AndBack => "There and back",
        Way::Keys => "Along keys",
    }
}

/// Every frame in its turn, each on the way from the one before.
fn balance_all(question: &Question, weights: &[Vec<f64>], watch: &Watch) -> Result<Vec<Vec<DVec3>>, String> {
    let stopped = || "The take was cancelled.".to_owned();
    if watch.report("Joining springs", 0.0).is_break() {
        return Err(stopped());
    }
    let mut bench = Bench::for_question(None, question)?;
    let mut frames = Vec::with_capacity(weights.len());
    for (k, weights) in weights.iter().enumerate() {
        if watch.report("Balancing", k as f64 / frames.capacity() as f64).is_break() {
            return Err(stopped());
        }
        frames.push(bench.frame(weights).map_err(|error| question.sentence(&error))?);
    }
    Ok(frames)
}

fn keys_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let frame = cx.clock.frame.round().max(0.0) as u32;
    ui.horizontal(|ui| {
        if ui.button("Set key").on_hover_text(format!("Keep these weights at frame {frame}")).clicked() {
            cx.edit("Set blend key", move |document| document.blend.set_key(frame));
        }
        let some = !cx.document.blend.keys.is_empty();
        if ui.add_enabled(some, eframe::egui::Button::new("Clear keys")).clicked() {
            cx.edit("Clear blend keys", |document| document.blend.keys.clear());
        }
    });
    if cx.document.blend.keys.is_empty() {
        ui.weak("Move the timeline and set keys at two frames or more.");
    }
    for key in &cx.document.blend.keys {
        let weights: Vec<String> = key.weights.iter().map(|weight| format!("{:.0}", 100.0 * weight)).collect();
        ui.weak(format!("Frame {}: {} %", key.frame, weights.join(", ")));
    }
}

/// A button that keeps the blend as a target of the character.
pub(super) fn keep_ui(ui: &mut Ui, cx: &mut Cx<'_>, balanced: Option<&Arc<Balanced>>) {
    let neutral = cx.posed.map(|posed| posed.rig.neutral());
    let fits = balanced.zip(neutral).filter(|(balanced, neutral)| balanced.ground.mesh.same_surface(neutral));
    let button = ui.add_enabled(fits.is_some(), eframe::egui::Button::new("Keep as target"));
    let button = button.on_hover_text("Add the shape that is shown to the character's sliders");
    let button = button.on_disabled_hover_text("The shapes are no poses of the character");
    let Some((balanced, neutral)) = fits.filter(|_| button.clicked()) else { return };
    let places = balanced.physical.positions.iter().zip(neutral.positions());
    let target = Target::from_dense(free_name(cx, &balanced.weights), places.map(|(to, from)| (*to - *from).as_vec3()));
    let added = AddedTarget {
        name: target.name.clone(),
        vertices: Arc::new(target.vertices),
        deltas: Arc::new(target.deltas.iter().map(|delta| delta.to_array()).collect()),
    };
    cx.tell(Notice::done(format!("Kept as the slider '{}'.", target.name)));
    cx.edit("Keep blend as target", move |document| document.character.added.push(added));
}

/// A name that no slider has.
fn free_name(cx: &Cx<'_>, weights: &[f64]) -> String {
    let parts: Vec<String> = weights.iter().skip(1).map(|weight| format!("{:.0}", 100.0 * weight)).collect();
    let name = format!("blend {}", parts.join(" "));
    let taken = |name: &str| cx.posed.is_some_and(|posed| posed.rig.targets().iter().any(|target| target.name == name));
    crate::names::free_name(&name, taken)
}

#[cfg(test)]
mod tests {
    use super::super::setup::ShapeMark;
    use super::*;

    #[test]
    fn a_take_goes_through_all_shapes_and_back() {
        let bake = Bake { way: Way::AndBack, steps: 2 };
        let setup = Setup { shapes: vec![ShapeMark::neutral(); 3], bake, ..Setup::default() };
        let way = way_of(&setup);
        let expected = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]];
        assert_eq!(way[..5], expected.map(Vec::from));
        assert_eq!((way.len(), &way[5], &way[8]), (9, &way[3], &way[0]));
    }

    #[test]
    fn a_take_along_keys_has_a_frame_for_each_of_the_timeline_and_passes_the_keys() {
        let key = |frame, b| BlendKey { frame, weights: vec![1.0 - b, b] };
        let bake = Bake { way: Way::Keys, steps: 2 };
        let setup = Setup { keys: vec![key(3, 0.0), key(7, 1.0), key(9, 0.5)], bake, ..Setup::default() };
        let shares: Vec<f64> = way_of(&setup).iter().map(|weights| weights[1]).collect();
        assert_eq!(shares, [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5]);
    }

    #[test]
    fn frames_are_counted_as_they_are_made() {
        let key = |frame| BlendKey { frame, weights: vec![1.0, 0.0] };
        let keys = [vec![], vec![key(3)], vec![key(3), key(7), key(5), key(6)]];
        for (shapes, keys) in [0, 1, 2, 3].into_iter().flat_map(|shapes| keys.iter().map(move |keys| (shapes, keys))) {
            for (way, steps) in [(Way::There, 0), (Way::There, 5), (Way::AndBack, 7), (Way::Keys, 1)] {
                let (shapes, keys, bake) = (vec![ShapeMark::neutral(); shapes], keys.clone(), Bake { way, steps });
                let setup = Setup { shapes, keys, bake, ..Setup::default() };
                assert_eq!(frame_count(&setup), way_of(&setup).len(), "{setup:?}");
            }
        }
    }
}
