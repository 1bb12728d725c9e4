//! Obstacles of a blend: list, fields and gizmo.

use eframe::egui::{Color32, DragValue, Grid, Ui, WidgetInfo};
use pliant::mesh::glam::DVec3;

use crate::engine::context::Cx;
use crate::model::blend::{Form, ObstacleMark};
use crate::rooms::PaneCanvas;
use crate::view::{Model, Paint, Solids, gizmo_ui};

impl ObstacleMark {
    /// The model that is drawn.
    #[must_use]
    pub fn model(&self) -> Model {
        let [start, end] = self.ends();
        let solids = Solids::shared();
        match self.form {
            Form::Sphere => solids.sphere(self.middle(), self.radius),
            Form::Capsule => solids.capsule(start, end, self.radius),
            Form::Cylinder => solids.cylinder(start, end, self.radius),
            Form::Box => solids.cuboid(
                self.middle(),
                0.5 * DVec3::from_array(self.sides),
                self.rotation(),
            ),
        }
    }
}

/// The colour of obstacles: darker than the shape.
const SLATE: Color32 = Color32::from_rgb(110, 132, 156);
/// That of the one which is selected.
const CHOSEN: Color32 = Color32::from_rgb(226, 150, 70);

/// Obstacles as they are seen, and which of them is selected.
#[derive(Debug, Default)]
pub(super) struct Obstacles {
    selected: Option<usize>,
    made_of: Vec<ObstacleMark>,
    models: Vec<Model>,
}

impl Obstacles {
    /// The models of all obstacles, made when they change.
    pub(super) fn models(&mut self, marks: &[ObstacleMark]) -> impl Iterator<Item = Model> {
        // Models are kept, so that their buffers stay on the graphics card.
        if self.made_of != marks {
            self.made_of = marks.to_vec();
            self.models = marks.iter().map(ObstacleMark::model).collect();
        }

        let selected = self.selected;
        let color = move |k: usize| if selected == Some(k) { CHOSEN } else { SLATE };
        self.models
            .iter()
            .enumerate()
            .map(move |(k, model)| model.clone().with_paint(Paint::Plain(color(k))))
    }

    /// Selects one, or none.
    pub(super) fn select(&mut self, obstacle: Option<usize>) {
        self.selected = obstacle;
    }

    /// Buttons that add one, the list, and the fields of the selected one. `size` is that of the
    /// shapes, `above` a place beside them.
    pub(super) fn list_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>, size: f64, above: DVec3) {
        ui.horizontal_wrapped(|ui| {
            for form in Form::ALL {
                let what = form.label().to_lowercase();
                if ui
                    .button(format!("+ {}", form.label()))
                    .on_hover_text(format!("Add a {what} beside the shape"))
                    .clicked()
                {
                    self.selected = Some(cx.document.blend.obstacles.len());
                    let mark = ObstacleMark::beside(form, above, size);
                    cx.edit(format!("Add {what}"), move |document| {
                        document.blend.obstacles.push(mark)
                    });
                }
            }
        });

        let marks = &cx.document.blend.obstacles;
        if marks.is_empty() {
            ui.weak("No obstacles yet.");
            return;
        }

        for (k, mark) in marks.iter().enumerate() {
            let chosen = self.selected == Some(k);
            if ui
                .selectable_label(chosen, name_of(k, mark))
                .on_hover_text("Select; drag its arrows in the view")
                .clicked()
            {
                // A click on the selected obstacle deselects it.
                self.selected = (!chosen).then_some(k);
            }
        }

        if let Some((k, mark)) = self.chosen(marks) {
            self.fields_ui(ui, cx, k, mark, size);
        }
    }

    fn chosen(&self, marks: &[ObstacleMark]) -> Option<(usize, ObstacleMark)> {
        self.selected.and_then(|k| Some((k, marks.get(k)?.clone())))
    }

    fn fields_ui(
        &mut self,
        ui: &mut Ui,
        cx: &mut Cx<'_>,
        k: usize,
        before: ObstacleMark,
        size: f64,
    ) {
        let mut mark = before.clone();
        // Steps and smallest sizes are relative to the shapes.
        let speed = size * 1e-3;
        let least = size * 1e-3;
        Grid::new("obstacle").num_columns(2).show(ui, |ui| {
            triple_ui(ui, "Position", ["x", "y", "z"], &mut mark.center, |value| {
                DragValue::new(value).speed(speed).max_decimals(3)
            });

            if mark.form == Form::Box {
                triple_ui(
                    ui,
                    "Sides",
                    ["width", "height", "depth"],
                    &mut mark.sides,
                    |value| {
                        DragValue::new(value)
                            .speed(speed)
                            .range(least..=f64::INFINITY)
                            .max_decimals(3)
                    },
                );
            } else {
                length_ui(ui, "Radius", &mut mark.radius, speed, least);
            }

            if matches!(mark.form, Form::Capsule | Form::Cylinder) {
                length_ui(ui, "Length", &mut mark.length, speed, least);
            }

            if mark.form != Form::Sphere {
                triple_ui(
                    ui,
                    "Rotation",
                    ["about x", "about y", "about z"],
                    &mut mark.turned_deg,
                    |value| DragValue::new(value).speed(0.5).suffix("°").max_decimals(1),
                );
            }
        });

        if mark != before {
            cx.edit_continuously("Change obstacle", move |document| {
                replace(&mut document.blend.obstacles, k, mark)
            });
        }

        if ui
            .button("Delete obstacle")
            .on_hover_text("Delete")
            .clicked()
        {
            self.delete(cx);
        }
    }

    /// Deletes the selected one.
    pub(super) fn delete(&mut self, cx: &mut Cx<'_>) {
        if let Some(k) = self
            .selected
            .take()
            .filter(|&k| k < cx.document.blend.obstacles.len())
        {
            cx.edit("Delete obstacle", move |document| {
                if k < document.blend.obstacles.len() {
                    document.blend.obstacles.remove(k);
                }
            });
        }
    }

    /// The arrows of the selected one; returns whether the user is on them.
    pub(super) fn gizmo_ui(&mut self, on: &PaneCanvas<'_>, ui: &Ui, cx: &mut Cx<'_>) -> bool {
        let Some((k, mark)) = self.chosen(&cx.document.blend.obstacles) else {
            return false;
        };

        let label = name_of(k, &mark).to_lowercase();
        let Some(place) = gizmo_ui(ui, on.canvas, k, &label, mark.middle()) else {
            return false;
        };

        let mark = ObstacleMark {
            center: place.to_array(),
            ..mark
        };

        cx.edit_continuously("Move obstacle", move |document| {
            replace(&mut document.blend.obstacles, k, mark)
        });
        true
    }
}

fn replace(marks: &mut [ObstacleMark], k: usize, mark: ObstacleMark) {
    if let Some(place) = marks.get_mut(k) {
        *place = mark;
    }
}

fn name_of(k: usize, mark: &ObstacleMark) -> String {
    format!("{} {}", mark.form.label(), k + 1)
}

fn length_ui(ui: &mut Ui, name: &str, value: &mut f64, speed: f64, least: f64) {
    let label = ui.label(name);
    ui.add(
        DragValue::new(value)
            .speed(speed)
            .range(least..=f64::INFINITY)
            .max_decimals(3),
    )
    .labelled_by(label.id);
    ui.end_row();
}

fn triple_ui(
    ui: &mut Ui,
    name: &str,
    parts: [&str; 3],
    values: &mut [f64; 3],
    field: impl Fn(&mut f64) -> DragValue<'_>,
) {
    ui.label(name);
    ui.horizontal(|ui| {
        for (value, part) in values.iter_mut().zip(parts) {
            let response = ui
                .add(field(value))
                .on_hover_text(format!("{name}, {part}"));
            let info = || WidgetInfo {
                label: Some(format!("{name}, {part}")),
                ..WidgetInfo::drag_value(true, *value)
            };
            response.widget_info(info);
        }
    });
    ui.end_row();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawn_obstacle_equals_the_solver_obstacle() {
        for form in Form::ALL {
            let mark = ObstacleMark {
                turned_deg: [20.0, 30.0, -50.0],
                ..ObstacleMark::beside(form, DVec3::new(1.0, 2.0, 3.0), 8.0)
            };
            let solid = mark.solid().unwrap();
            let model = mark.model();
            let seen: Vec<DVec3> = (0..model.vertices.positions.len())
                .map(|v| model.position(v as u32))
                .collect();

            let on_surface = solid.contacts(&seen, 1.0);
            assert_eq!(on_surface.len(), seen.len());
            assert!(
                on_surface.iter().all(|contact| contact.depth.abs() < 1e-5),
                "{form:?}"
            );
        }
    }

    #[test]
    fn a_rotation_about_x_aligns_a_cylinder_with_y() {
        let mark = ObstacleMark {
            form: Form::Cylinder,
            turned_deg: [90.0, 0.0, 0.0],
            ..ObstacleMark::default()
        };
        let [start, end] = mark.ends();
        assert!((end - start - DVec3::NEG_Y * 2.0).length() < 1e-12);
    }
}
