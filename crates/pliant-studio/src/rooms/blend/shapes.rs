//! The shapes of a blend and their weights.

use eframe::egui::{Button, DragValue, Slider, Ui};

use super::triangle::{triangle_ui, with_weight};
use crate::engine::blend::arrivals::{ALL_SHAPES, ONE_SHAPE};
use crate::engine::blend::equilibrium::Source;
use crate::engine::command::{Command, RoomFileRequest};
use crate::engine::context::Cx;
use crate::engine::file_request::FileRequest;
use crate::engine::library::AssetState;
use crate::model::blend::{Setup, ShapeMark};
use crate::widgets::field::LeftLabel as _;
use crate::widgets::field::list_ui;
use crate::widgets::{AssetField, asset_field_ui, asset_kinds};

/// What shapes are called in lists.
const LETTERS: [&str; Setup::MOST_SHAPES] = ["A", "B", "C"];
/// Shapes that need no file.
const BUILT_IN: [&str; 3] = ["specimen:bar", "specimen:bar#bend@24", "specimen:head"];

/// Whether the shapes are there.
#[derive(Debug)]
pub(super) enum Sources {
    /// All of them.
    Ready(Vec<Source>),
    /// They are in progress.
    Coming,
    /// One is missing; the message says why and what to do.
    Missing(String),
}

/// Where the shapes of the document come from.
pub(super) fn sources(cx: &mut Cx<'_>) -> Sources {
    let setup = &cx.document.blend;
    if setup.shapes.len() < 2 {
        return Sources::Missing("Choose two shapes to blend, on the right.".into());
    }

    let mut found = Vec::new();
    for shape in &setup.shapes {
        // A shape without an asset is a target of the character.
        let rig = if shape.asset.is_empty() {
            match (cx.posed, cx.document.character.asset.is_empty()) {
                (Some(posed), _) => posed.rig.clone(),
                (None, false) => return Sources::Coming,
                (None, true) => {
                    return Sources::Missing(
                        "There is no character yet. Open a rig, or choose files as shapes.".into(),
                    );
                }
            }
        } else {
            match cx.library.get(&shape.asset) {
                AssetState::Ready(loaded) => loaded.rig.clone(),
                AssetState::Loading => return Sources::Coming,
                AssetState::Failed(message) => return Sources::Missing(message),
            }
        };

        if !shape.target.is_empty() && rig.slider_named(&shape.target).is_err() {
            return Sources::Missing(format!(
                "The rig has no target '{}'. Choose another shape.",
                shape.target
            ));
        }

        found.push(Source {
            rig,
            target: shape.target.clone(),
        });
    }

    Sources::Ready(found)
}

/// Text fields that are being typed into.
#[derive(Debug, Default)]
pub(super) struct Chooser {
    typed: [Option<String>; Setup::MOST_SHAPES],
}

impl Chooser {
    /// Fields show the files that the shapes have.
    pub(super) fn clear_typed(&mut self) {
        self.typed = Default::default();
    }

    /// The shapes, each a choice.
    pub(super) fn shapes_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.strong("Shapes");
        let mut shapes = cx.document.blend.shapes.clone();
        if shapes.is_empty() {
            first_shapes_ui(ui, cx, &mut shapes);
        }
        for (k, (typed, shape)) in self.typed.iter_mut().zip(&mut shapes).enumerate() {
            shape_ui(ui, cx, k, typed, shape);
        }

        ui.horizontal(|ui| {
            if shapes.len() == 2
                && ui
                    .button("Add third shape")
                    .on_hover_text("Blend three shapes; the new shape has weight 0")
                    .clicked()
            {
                let third = next_shape(cx, &shapes);
                shapes.push(third);
            }
            if shapes.len() == 3
                && ui
                    .button("Remove shape C")
                    .on_hover_text("Blend two shapes")
                    .clicked()
            {
                shapes.pop();
            }
        });

        if shapes != cx.document.blend.shapes {
            // The text fields show the new shapes.
            self.typed = Default::default();
            cx.edit("Choose shape", move |document| {
                document.blend.choose(shapes)
            });
        }
    }
}

/// Where shapes may come from while there are none.
fn first_shapes_ui(ui: &mut Ui, cx: &mut Cx<'_>, shapes: &mut Vec<ShapeMark>) {
    ui.weak("Blend two or three poses of one mesh: targets of the character, files, or frames of clips.");
    let able = !cx.document.character.asset.is_empty();
    let targets = ui.add_enabled(able, Button::new("Blend targets of the character"));
    let targets =
        targets.on_disabled_hover_text("There is no character yet: open one, or blend files.");

    if targets.clicked() {
        // The neutral shape and the first target make a blend at once.
        *shapes = vec![ShapeMark::neutral()];
        shapes.push(next_shape(cx, shapes));
    }

    if ui
        .button("Blend files…")
        .on_hover_text("Choose two or three files that are poses of one mesh")
        .clicked()
    {
        let title = "Choose two or three shapes".into();
        let action = "Blend".into();
        let request = FileRequest {
            title,
            action,
            kinds: asset_kinds(),
            ..FileRequest::default()
        };

        cx.command(Command::AskFiles(RoomFileRequest {
            what: ALL_SHAPES,
            request,
        }));
    }

    if ui
        .button("Blend a bar")
        .on_hover_text("Try the built-in example: a bending bar")
        .clicked()
    {
        *shapes = vec![
            ShapeMark::asset("specimen:bar"),
            ShapeMark::asset("specimen:bar#bend@24"),
        ];
    }
}

fn shape_ui(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    k: usize,
    typed: &mut Option<String>,
    shape: &mut ShapeMark,
) {
    let letter = LETTERS[k];
    let targets = targets_of(cx, shape);
    let chosen = shape.name().to_owned();
    list_ui(ui, &format!("Shape {letter}"), chosen, |ui| {
        // A shape without a target is the mesh itself.
        let still = if shape.asset.is_empty() {
            "Neutral"
        } else {
            "As in the file"
        };

        ui.selectable_value(&mut shape.target, String::new(), still);
        for target in targets {
            ui.selectable_value(&mut shape.target, target.clone(), target);
        }

        ui.separator();
        if shape.asset.is_empty() {
            if ui.button("From a file …").clicked() {
                *shape = ShapeMark::asset(BUILT_IN[0]);
            }
        } else if ui.button("From the character").clicked() {
            *shape = ShapeMark::neutral();
        }
    });

    if !shape.asset.is_empty() {
        file_ui(ui, cx, k, typed, shape);
    }
}

/// The file of a shape: typed, browsed for, or built in.
fn file_ui(
    ui: &mut Ui,
    cx: &mut Cx<'_>,
    k: usize,
    typed: &mut Option<String>,
    shape: &mut ShapeMark,
) {
    let name = format!("File of shape {}", LETTERS[k]);
    let field = AssetField {
        name: &name,
        hint: "bent.obj, walk.glb@12 or specimen:bar",
        help: "A file or specimen; @12 is frame 12 of its clip.",
        built_in: &BUILT_IN,
        what: ONE_SHAPE[k],
        kinds: asset_kinds,
    };

    let text = typed.get_or_insert_with(|| shape.asset.clone());
    if let Some(chosen) = asset_field_ui(ui, &field, text, cx) {
        *shape = ShapeMark {
            asset: cx.locator(&chosen),
            target: String::new(),
        };
        *typed = None;
    } else if !ui.ctx().egui_wants_keyboard_input() {
        // Abandoned text is replaced by the value of the document, also after undo.
        *typed = None;
    }
}

fn targets_of(cx: &mut Cx<'_>, shape: &ShapeMark) -> Vec<String> {
    let rig = match &*shape.asset {
        "" => cx.posed.map(|posed| posed.rig.clone()),
        asset => cx.library.ready(asset).map(|loaded| loaded.rig.clone()),
    };
    rig.map_or(Vec::new(), |rig| {
        rig.targets()
            .iter()
            .map(|target| target.name.clone())
            .collect()
    })
}

/// The next shape that the last one's rig offers: a target that is not blended yet, or the rig in
/// its current state.
fn next_shape(cx: &mut Cx<'_>, shapes: &[ShapeMark]) -> ShapeMark {
    let last = shapes.last().cloned().unwrap_or_default();
    let targets = targets_of(cx, &last);
    let after = targets
        .iter()
        .position(|target| *target == last.target)
        .map_or(0, |at| at + 1);

    let (before, behind) = targets.split_at(after);
    let mark = |target: &String| ShapeMark {
        asset: last.asset.clone(),
        target: target.clone(),
    };

    // The next target in the order of the rig, starting again at the first.
    let free = behind
        .iter()
        .chain(before)
        .map(mark)
        .find(|mark| !shapes.contains(mark));

    free.unwrap_or(ShapeMark {
        target: String::new(),
        ..last
    })
}

/// How much of each shape: a slider for two, a triangle for three.
pub(super) fn weights_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let setup = &cx.document.blend;
    ui.strong("Blend");
    // Two shapes have a slider, three a triangle.
    let moved = match setup.weights[..] {
        [_, b] => slider_ui(ui, setup, b),
        [a, b, c] => triangle_of_three_ui(ui, setup, [a, b, c]),
        _ => None,
    };

    if let Some(weights) = moved {
        cx.edit_continuously("Blend shapes", move |document| {
            document.blend.weights = weights
        });
    }
}

fn slider_ui(ui: &mut Ui, setup: &Setup, b: f64) -> Option<Vec<f64>> {
    let mut percent = 100.0 * b;
    let slider = Slider::new(&mut percent, 0.0..=100.0)
        .suffix(" %")
        .fixed_decimals(0)
        .left_label("Weight");

    let moved = ui
        .add(slider)
        .on_hover_text("From the first shape to the second")
        .changed();
    let [first, second, ..] = &setup.shapes[..] else {
        return None;
    };

    // Buttons for the ends and the middle.
    let jumps = [
        (0.0, first.name()),
        (50.0, "Half way"),
        (100.0, second.name()),
    ];
    let mut jumped = false;

    ui.horizontal(|ui| {
        for (goal, name) in jumps {
            if ui
                .small_button(name)
                .on_hover_text(format!("{goal:.0} %"))
                .clicked()
            {
                (percent, jumped) = (goal, true);
            }
        }
    });

    (moved || jumped).then(|| vec![1.0 - percent / 100.0, percent / 100.0])
}

fn triangle_of_three_ui(ui: &mut Ui, setup: &Setup, weights: [f64; 3]) -> Option<Vec<f64>> {
    let names = [0, 1, 2].map(|k| setup.shapes.get(k).map_or("", ShapeMark::name));
    let mut moved = ui
        .vertical_centered(|ui| triangle_ui(ui, "Blend of three shapes", names, weights))
        .inner
        .map(|w| w.to_vec());

    ui.horizontal_wrapped(|ui| {
        for (k, name) in names.into_iter().enumerate() {
            let mut percent = 100.0 * weights[k];
            let field = DragValue::new(&mut percent)
                .range(0.0..=100.0)
                .speed(0.5)
                .prefix(format!("{name} "))
                .suffix(" %")
                .fixed_decimals(0);

            let field = ui.add(field).on_hover_text(format!("Weight of {name}"));
            let info = || eframe::egui::WidgetInfo {
                label: Some(format!("Weight of {name}")),
                ..eframe::egui::WidgetInfo::drag_value(true, percent)
            };

            field.widget_info(info);
            if field.changed() {
                // The other two share the rest in their present ratio.
                moved = Some(with_weight(&weights, k, percent / 100.0));
            }
        }
    });
    moved
}
