//! Baking of a blend to a take, along the shapes or along keys.

use std::sync::Arc;

use eframe::egui::{Button, DragValue, Ui};
use pliant::io::Animation;
use pliant::mesh::Progress;
use pliant::mesh::glam::DVec3;
use pliant::physics::WeightPath;
use pliant::rig::Target;

use crate::engine::blend::equilibrium::{BlendRequest, BlendResult, EquilibriumSolver, Source};
use crate::engine::character::free_target_name;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::export::Exportable;
use crate::engine::library;
use crate::engine::work::Task;
use crate::model::blend::{Bake, BakePath, Setup};
use crate::model::document::{AddedTarget, Document, Locator};
use crate::model::names::to_message;
use crate::model::timeline::Take;
use crate::widgets::field::{ChoiceField, no_hint};

/// The path of a take through the weights.
fn weight_path(setup: &Setup) -> WeightPath {
    let shapes = setup.shapes.len();
    let steps = setup.bake.steps.clamp(1, Bake::MOST_STEPS);
    match setup.bake.path {
        BakePath::There => WeightPath::OneWay { shapes, steps },
        BakePath::AndBack => WeightPath::RoundTrip { shapes, steps },
        BakePath::Keys => WeightPath::Keys(setup.keys.clone()),
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

/// Takes in progress.
#[derive(Debug, Default)]
pub(super) struct Baker {
    task: Option<Task<Take>>,
}

impl Baker {
    /// Whether one is in progress.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// Puts a take that is done into the document.
    pub(super) fn fetch(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.task) {
            None => {}
            Some(Err(message)) => cx.notify(Notice::error(message)),
            Some(Ok(take)) => {
                cx.notify(Notice::done(format!(
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

    /// Path, keys, and the button.
    pub(super) fn bake_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, sources: Option<&[Source]>) {
        ui.strong("Take");
        let mut bake = cx.document.blend.bake;
        let before = cx.document.blend.bake;
        ChoiceField {
            name: "Path",
            options: &[BakePath::There, BakePath::AndBack, BakePath::Keys],
            label: path_label,
            hint: no_hint,
        }
        .show(ui, &mut bake.path);

        if bake.path == BakePath::Keys {
            keys_ui(ui, cx);
        } else {
            let field = DragValue::new(&mut bake.steps)
                .range(1..=Bake::MOST_STEPS)
                .suffix(" frames");
            ui.horizontal(|ui| {
                let label = ui.label("Between two shapes");
                ui.add(field).labelled_by(label.id);
            });
        }

        if bake != before {
            cx.edit_continuously("Change take", move |document| document.blend.bake = bake);
        }

        let count = weight_path(&cx.document.blend).frame_count();
        // A disabled button explains itself in its tooltip.
        let reason = self.no_bake_reason(cx, sources.is_some(), count);
        let button = ui.add_enabled(
            reason.is_none(),
            Button::new(format!("Bake {count} frames")),
        );

        let button = button
            .on_hover_text("Solve every frame and store the result as a take on the timeline");
        let button = button.on_disabled_hover_text(reason.unwrap_or_default());

        if let Some(sources) = sources.filter(|_| button.clicked()) {
            self.start(cx, sources);
        }
    }

    /// Why nothing can be baked now; `None` where it can.
    fn no_bake_reason(&self, cx: &Cx<'_>, ready: bool, frames: usize) -> Option<&'static str> {
        if self.task.is_some() {
            Some("A take is being baked; the progress is shown at the bottom of the window.")
        } else if !ready {
            Some("The shapes are not ready; see the message above.")
        } else if frames < 2 && cx.document.blend.bake.path == BakePath::Keys {
            Some("The path along keys is empty; set keys at two or more frames.")
        } else if frames < 2 {
            Some("The path is empty; choose two or more shapes.")
        } else {
            None
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>, sources: &[Source]) {
        let request = BlendRequest {
            number: 0,
            sources: sources.to_vec(),
            setup: cx.document.blend.clone(),
        };

        let of = asset_of(cx.document);
        let fps = cx.document.timeline.frames_per_second;

        self.task = Some(cx.start("Baking the blend", move |watch| {
            let frames = balance_all(&request, &weight_path(&request.setup), watch)?;
            Ok(Take::made("Blend", of, &frames, fps))
        }));
    }
}

fn path_label(path: BakePath) -> &'static str {
    match path {
        BakePath::There => "From first to last",
        BakePath::AndBack => "From first to last and back",
        BakePath::Keys => "Along keys",
    }
}

/// Solves every frame in order, each starting from the one before.
fn balance_all(
    request: &BlendRequest,
    path: &WeightPath,
    watch: &dyn Progress,
) -> Result<Vec<Vec<DVec3>>, String> {
    let stopped = || "The take was cancelled.".to_owned();
    let mut solver = EquilibriumSolver::for_question(None, request, watch)?;
    let mut frames = Vec::with_capacity(path.frame_count());

    // Each frame starts from the one before: among obstacles the path matters.
    for (k, weights) in path.frames().enumerate() {
        if watch
            .report("Solving", k as f64 / path.frame_count() as f64)
            .is_break()
        {
            return Err(stopped());
        }
        frames.push(
            solver
                .frame(&weights)
                .map_err(|error| request.message(&error))?,
        );
    }
    Ok(frames)
}

fn keys_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    // Keys are at whole frames.
    let frame = cx.clock.frame.round().max(0.0) as u32;
    ui.horizontal(|ui| {
        if ui
            .button("Set key")
            .on_hover_text(format!("Store these weights at frame {frame}"))
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
        ui.weak("Go to different frames and set keys at two or more of them.");
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

/// The exports: the shown blend, and the whole path as a clip.
pub(super) fn exports(
    cx: &Cx<'_>,
    blend_result: &Arc<BlendResult>,
    sources: &[Source],
) -> Vec<Exportable> {
    let of = asset_of(cx.document);
    let folder = cx.library.folder().to_owned();
    let setup = cx.document.blend.clone();
    let path = weight_path(&setup);
    let fps = cx.document.timeline.frames_per_second;
    let still = move |positions: &[DVec3]| {
        library::load(&of, &folder)?
            .asset
            .posed(positions)
            .map_err(to_message)
    };

    let shown = blend_result.clone();
    let shape = still.clone();
    let mut all = vec![Exportable::new("Blend", move || {
        shape(&shown.physical.positions)
    })];

    if path.frame_count() > 1 {
        let request = BlendRequest {
            number: 0,
            sources: sources.to_vec(),
            setup,
        };
        let first = blend_result.ground.mesh.positions().to_vec();

        // The clip is solved when it is exported, by the worker.
        all.push(Exportable::new("Blend as a clip", move || {
            let frames = balance_all(&request, &path, &())?;
            let mut clip = Animation::new("Blend", frames.len());
            clip.frames_per_second = fps;
            still(&first)?
                .with_point_clip(clip, &frames)
                .map_err(to_message)
        }));
    }
    all
}

/// A button that keeps the blend as a target of the character.
pub(super) fn keep_ui(ui: &mut Ui, cx: &mut Cx<'_>, blend_result: Option<&Arc<BlendResult>>) {
    let neutral = cx.posed.map(|posed| posed.rig.neutral());
    // Only a pose of the character can become one of its targets.
    let fits = blend_result
        .zip(neutral)
        .filter(|(blend_result, neutral)| blend_result.ground.mesh.same_surface(neutral));
    let button = ui.add_enabled(fits.is_some(), Button::new("Add as target"));
    let button = button.on_hover_text("Add the shape that is shown to the character's sliders");

    let button = button.on_disabled_hover_text("The shapes are not poses of the character.");
    let Some((blend_result, neutral)) = fits.filter(|_| button.clicked()) else {
        return;
    };

    let places = blend_result
        .physical
        .positions
        .iter()
        .zip(neutral.positions());
    let target = Target::from_dense(
        free_name(cx, &blend_result.weights),
        places.map(|(to, from)| (*to - *from).as_vec3()),
    );

    let added = AddedTarget {
        name: target.name.clone(),
        vertices: Arc::new(target.vertices),
        deltas: Arc::new(target.deltas.iter().map(|delta| delta.to_array()).collect()),
    };

    cx.notify(Notice::done(format!("Added the slider '{}'.", target.name)));
    cx.edit("Add blend as target", move |document| {
        document.character.added.push(added)
    });
}

/// A name that no slider has.
fn free_name(cx: &Cx<'_>, weights: &[f64]) -> String {
    let parts: Vec<String> = weights
        .iter()
        // The weight of the first shape follows from the others.
        .skip(1)
        .map(|weight| format!("{:.0}", 100.0 * weight))
        .collect();
    let name = format!("blend {}", parts.join(" "));

    match cx.posed {
        Some(posed) => free_target_name(&name, &posed.rig, &[]),
        None => name,
    }
}
