//! What is in the way: solids that are placed, sized and turned by hand.

use eframe::egui::{Color32, DragValue, Grid, Ui, WidgetInfo};
use pliant::mesh::glam::{DQuat, DVec3, EulerRot};
use pliant::physics::{Obstacle, PhysicsError};
use serde::{Deserialize, Serialize};

use crate::rooms::{Cx, On};
use crate::view::{Model, Paint, Solids, gizmo_ui};

/// A solid in the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObstacleMark {
    /// Its form.
    pub form: Form,
    /// Its middle.
    pub center: [f64; 3],
    /// Radius of what is round.
    pub radius: f64,
    /// Length of a cylinder or of a capsule's straight part, along its own z.
    pub length: f64,
    /// Sides of a box.
    pub sides: [f64; 3],
    /// How it is turned about x, then y, then z, in degrees.
    pub turned_deg: [f64; 3],
}

/// The form of a solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A ball.
    #[default]
    Sphere,
    /// A bar with round ends.
    Capsule,
    /// A bar with flat ends.
    Cylinder,
    /// A box.
    Box,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sphere, Self::Capsule, Self::Cylinder, Self::Box];

    /// What it is called.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Sphere => "Sphere",
            Self::Capsule => "Capsule",
            Self::Cylinder => "Cylinder",
            Self::Box => "Box",
        }
    }
}

impl Default for ObstacleMark {
    fn default() -> Self {
        Self {
            form: Form::default(),
            center: [0.0; 3],
            radius: 1.0,
            length: 2.0,
            sides: [1.0; 3],
            turned_deg: [0.0; 3],
        }
    }
}

impl ObstacleMark {
    /// One that is easily seen beside a shape of some size.
    #[must_use]
    pub fn beside(form: Form, center: DVec3, size: f64) -> Self {
        let radius = 0.1 * size;
        Self {
            form,
            center: center.to_array(),
            radius,
            length: 4.0 * radius,
            sides: [2.0 * radius; 3],
            turned_deg: [0.0; 3],
        }
    }

    fn rotation(&self) -> DQuat {
        let [x, y, z] = self.turned_deg.map(f64::to_radians);
        DQuat::from_euler(EulerRot::ZYX, z, y, x)
    }

    /// Its middle.
    #[must_use]
    pub fn middle(&self) -> DVec3 {
        DVec3::from_array(self.center)
    }

    fn ends(&self) -> [DVec3; 2] {
        let half = self.rotation() * DVec3::Z * (0.5 * self.length);
        [self.middle() - half, self.middle() + half]
    }

    /// What shapes do not enter.
    ///
    /// # Errors
    /// A size that no solid has.
    pub fn solid(&self) -> Result<Obstacle, PhysicsError> {
        let [start, end] = self.ends();
        match self.form {
            Form::Sphere => Obstacle::sphere(self.middle(), self.radius),
            Form::Capsule => Obstacle::capsule(start, end, self.radius),
            Form::Cylinder => Obstacle::cylinder(start, end, self.radius),
            Form::Box => Obstacle::cuboid(
                self.middle(),
                0.5 * DVec3::from_array(self.sides),
                self.rotation(),
            ),
        }
    }

    /// What is seen of it.
    #[must_use]
    pub fn model(&self) -> Model {
        let ([start, end], solids) = (self.ends(), Solids::shared());
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

/// Slate: darker than clay, so that a shape stands out before it.
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
                    .on_hover_text(format!("Put a {what} beside the shape"))
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
            ui.weak("Nothing is in the way yet.");
            return;
        }
        for (k, mark) in marks.iter().enumerate() {
            let chosen = self.selected == Some(k);
            if ui
                .selectable_label(chosen, name_of(k, mark))
                .on_hover_text("Select; drag its arrows in the view")
                .clicked()
            {
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
        let speed = size * 1e-3;
        let least = size * 1e-3;
        Grid::new("obstacle").num_columns(2).show(ui, |ui| {
            triple_ui(ui, "Place", ["x", "y", "z"], &mut mark.center, |value| {
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
                    "Turned",
                    ["about x", "about y", "about z"],
                    &mut mark.turned_deg,
                    |value| DragValue::new(value).speed(0.5).suffix("°").max_decimals(1),
                );
            }
        });
        if mark != before {
            cx.edit_by_hand("Change obstacle", move |document| {
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

    /// The arrows of the selected one; says whether a hand is on them.
    pub(super) fn gizmo_ui(&mut self, on: &On<'_>, ui: &Ui, cx: &mut Cx<'_>) -> bool {
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
        cx.edit_by_hand("Move obstacle", move |document| {
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
    fn what_is_seen_is_what_is_in_the_way() {
        for form in Form::ALL {
            let mark = ObstacleMark {
                turned_deg: [20.0, 30.0, -50.0],
                ..ObstacleMark::beside(form, DVec3::new(1.0, 2.0, 3.0), 8.0)
            };
            let (solid, model) = (mark.solid().unwrap(), mark.model());
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
    fn a_turn_about_x_lays_a_cylinder_along_y() {
        let mark = ObstacleMark {
            form: Form::Cylinder,
            turned_deg: [90.0, 0.0, 0.0],
            ..ObstacleMark::default()
        };
        let [start, end] = mark.ends();
        assert!((end - start - DVec3::NEG_Y * 2.0).length() < 1e-12);
    }
}
