//! Takes of a blend: a sweep through the shapes, or along keys.

use std::sync::Arc;

use eframe::egui::{Button, ComboBox, DragValue, Ui};
use pliant::io::Animation;
use pliant::mesh::Progress;
use pliant::mesh::glam::DVec3;
use pliant::physics::WeightWay;
use pliant::rig::Target;

use super::balance::{Balanced, Bench, Question, Source};
use super::setup::{Bake, Setup, Way};
use crate::command::Notice;
use crate::document::{AddedTarget, Document, Locator};
use crate::export::Exportable;
use crate::library;
use crate::rooms::Cx;
use crate::timeline::Take;
use crate::work::Task;

/// The way of a take through the weights.
fn way_of(setup: &Setup) -> WeightWay {
    let (shapes, steps) = (
        setup.shapes.len(),
        setup.bake.steps.clamp(1, Bake::MOST_STEPS),
    );
    match setup.bake.way {
        Way::There => WeightWay::There { shapes, steps },
        Way::AndBack => WeightWay::AndBack { shapes, steps },
        Way::Keys => WeightWay::Keys(setup.keys.clone()),
    }
}

/// The asset whose vertices are blended.
#[must_use]
pub(super) fn asset_of(document: &Document) -> Locator {
    let first = document
        .blend
        .shapes
        .first()
        .map_or("", |shape| &shape.asset);
    if first.is_empty() {
        document.character.asset.clone()
    } else {
        first.to_owned()
    }
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
                cx.tell(Notice::done(format!(
                    "Baked {} frames; press Play to see them.",
                    take.frame_count
                )));
                cx.edit("Bake blend", move |document| {
                    let name = document.timeline.add_take(take);
                    document.timeline.playing_take = Some(name);
                });
            }
        }
    }

    /// Way, keys, and the button.
    pub(super) fn bake_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, sources: Option<&[Source]>) {
        ui.strong("Take");
        let (mut bake, before) = (cx.document.blend.bake, cx.document.blend.bake);
        ComboBox::from_label("Way")
            .selected_text(way_label(bake.way))
            .show_ui(ui, |ui| {
                for way in [Way::There, Way::AndBack, Way::Keys] {
                    ui.selectable_value(&mut bake.way, way, way_label(way));
                }
            });
        if bake.way == Way::Keys {
            keys_ui(ui, cx);
        } else {
            let field = DragValue::new(&mut bake.steps)
                .range(1..=Bake::MOST_STEPS)
                .suffix(" frames");
            ui.horizontal(|ui| {
                let label = ui.label("From shape to shape");
                ui.add(field).labelled_by(label.id);
            });
        }
        if bake != before {
            cx.edit_by_hand("Change take", move |document| document.blend.bake = bake);
        }
        let count = way_of(&cx.document.blend).frame_count();
        let why_not = self.why_no_bake(cx, sources.is_some(), count);
        let button = ui.add_enabled(
            why_not.is_none(),
            Button::new(format!("Bake {count} frames")),
        );
        let button =
            button.on_hover_text("Balance every frame and keep them as a take on the timeline");
        let button = button.on_disabled_hover_text(why_not.unwrap_or_default());
        if let Some(sources) = sources.filter(|_| button.clicked()) {
            self.start(cx, sources);
        }
    }

    /// Why nothing can be baked now; `None` where it can.
    fn why_no_bake(&self, cx: &Cx<'_>, ready: bool, frames: usize) -> Option<&'static str> {
        if self.task.is_some() {
            Some("A take is being baked; its bar is at the bottom of the window.")
        } else if !ready {
            Some("The shapes are not there yet: see above what is missing.")
        } else if frames < 2 && cx.document.blend.bake.way == Way::Keys {
            Some("There is no way along the keys yet: set keys at two frames or more.")
        } else if frames < 2 {
            Some("There is no way yet: choose two shapes or more.")
        } else {
            None
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>, sources: &[Source]) {
        let question = Question {
            number: 0,
            sources: sources.to_vec(),
            setup: cx.document.blend.clone(),
        };
        let (of, fps) = (
            asset_of(cx.document),
            cx.document.timeline.frames_per_second,
        );
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
fn balance_all(
    question: &Question,
    way: &WeightWay,
    watch: &dyn Progress,
) -> Result<Vec<Vec<DVec3>>, String> {
    let stopped = || "The take was cancelled.".to_owned();
    let mut bench = Bench::for_question(None, question, watch)?;
    let mut frames = Vec::with_capacity(way.frame_count());
    for (k, weights) in way.frames().enumerate() {
        if watch
            .report("Balancing", k as f64 / way.frame_count() as f64)
            .is_break()
        {
            return Err(stopped());
        }
        frames.push(
            bench
                .frame(&weights)
                .map_err(|error| question.sentence(&error))?,
        );
    }
    Ok(frames)
}

fn keys_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let frame = cx.clock.frame.round().max(0.0) as u32;
    ui.horizontal(|ui| {
        if ui
            .button("Set key")
            .on_hover_text(format!("Keep these weights at frame {frame}"))
            .clicked()
        {
            cx.edit("Set blend key", move |document| {
                document.blend.set_key(frame)
            });
        }
        let some = !cx.document.blend.keys.is_empty();
        let clear = ui
            .add_enabled(some, Button::new("Clear keys"))
            .on_disabled_hover_text("There are no keys yet.");
        if clear.clicked() {
            cx.edit("Clear blend keys", |document| document.blend.keys.clear());
        }
    });
    if cx.document.blend.keys.is_empty() {
        ui.weak("Move the timeline and set keys at two frames or more.");
    }
    for key in &cx.document.blend.keys {
        let weights: Vec<String> = key
            .weights
            .iter()
            .map(|weight| format!("{:.0}", 100.0 * weight))
            .collect();
        ui.weak(format!("Frame {}: {} %", key.frame, weights.join(", ")));
    }
}

/// What goes to files: the blend that is shown, and the whole way as a clip.
pub(super) fn exports(
    cx: &Cx<'_>,
    balanced: &Arc<Balanced>,
    sources: &[Source],
) -> Vec<Exportable> {
    let (of, folder) = (asset_of(cx.document), cx.library.folder().to_owned());
    let setup = cx.document.blend.clone();
    let (way, fps) = (way_of(&setup), cx.document.timeline.frames_per_second);
    let still = move |positions: &[DVec3]| {
        library::load(&of, &folder)?
            .asset
            .posed(positions)
            .map_err(|error| error.to_string())
    };
    let (shown, shape) = (balanced.clone(), still.clone());
    let mut all = vec![Exportable::new("Blend", move || {
        shape(&shown.physical.positions)
    })];
    if way.frame_count() > 1 {
        let question = Question {
            number: 0,
            sources: sources.to_vec(),
            setup,
        };
        let first = balanced.ground.mesh.positions().to_vec();
        all.push(Exportable::new("Blend as a clip", move || {
            let frames = balance_all(&question, &way, &())?;
            let mut clip = Animation::new("Blend", frames.len());
            clip.frames_per_second = fps;
            still(&first)?
                .with_point_clip(clip, &frames)
                .map_err(|error| error.to_string())
        }));
    }
    all
}

/// A button that keeps the blend as a target of the character.
pub(super) fn keep_ui(ui: &mut Ui, cx: &mut Cx<'_>, balanced: Option<&Arc<Balanced>>) {
    let neutral = cx.posed.map(|posed| posed.rig.neutral());
    let fits = balanced
        .zip(neutral)
        .filter(|(balanced, neutral)| balanced.ground.mesh.same_surface(neutral));
    let button = ui.add_enabled(fits.is_some(), Button::new("Keep as target"));
    let button = button.on_hover_text("Add the shape that is shown to the character's sliders");
    let button = button.on_disabled_hover_text(
        "The shapes are no poses of the character, whose slider it would be.",
    );
    let Some((balanced, neutral)) = fits.filter(|_| button.clicked()) else {
        return;
    };
    let places = balanced.physical.positions.iter().zip(neutral.positions());
    let target = Target::from_dense(
        free_name(cx, &balanced.weights),
        places.map(|(to, from)| (*to - *from).as_vec3()),
    );
    let added = AddedTarget {
        name: target.name.clone(),
        vertices: Arc::new(target.vertices),
        deltas: Arc::new(target.deltas.iter().map(|delta| delta.to_array()).collect()),
    };
    cx.tell(Notice::done(format!(
        "Kept as the slider '{}'.",
        target.name
    )));
    cx.edit("Keep blend as target", move |document| {
        document.character.added.push(added)
    });
}

/// A name that no slider has.
fn free_name(cx: &Cx<'_>, weights: &[f64]) -> String {
    let parts: Vec<String> = weights
        .iter()
        .skip(1)
        .map(|weight| format!("{:.0}", 100.0 * weight))
        .collect();
    let name = format!("blend {}", parts.join(" "));
    let taken = |name: &str| {
        cx.posed
            .is_some_and(|posed| posed.rig.targets().iter().any(|target| target.name == name))
    };
    crate::names::free_name(&name, taken)
}
