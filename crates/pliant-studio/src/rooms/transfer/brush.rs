//! A brush that scribbles regions on the target.

use std::sync::Arc;

use eframe::egui::{Color32, Stroke as Line, Ui};
use pliant::transfer::{TransferError, stroke_triangles};

use super::setup::RegionSetup;
use super::stage::Actor;
use crate::command::{Command, Notice};
use crate::document::Document;
use crate::history::Edit;
use crate::rooms::{Cx, On};
use crate::work::{Inbox, Latest, Outbox, Wake};

/// A stroke under way.
#[derive(Debug, Clone)]
struct Stroke {
    target: Arc<Actor>,
    gesture: u64,
    region: String,
    erases: bool,
    /// Half its width.
    radius: f64,
    vertices: Vec<u32>,
    /// The faces of the region before it.
    before: Arc<Vec<u32>>,
}

/// A stroke, and the faces of its region after it.
type Painted = (Stroke, Arc<Vec<u32>>);

/// The brush.
pub(super) struct Brush {
    /// Its radius, as a part of the target's diagonal.
    pub(super) radius: f64,
    /// Whether it takes away.
    pub(super) erases: bool,
    stroke: Option<Stroke>,
    worker: Option<Latest<Stroke, Painted>>,
}

impl Default for Brush {
    fn default() -> Self {
        Self {
            radius: 0.05,
            erases: false,
            stroke: None,
            worker: None,
        }
    }
}

impl Brush {
    /// Whether paint is still to dry.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// Puts what was painted into the document.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        let (stroke, faces) = match self.worker.as_ref().and_then(Latest::answer) {
            None => return,
            Some(Err(sentence)) => return cx.tell(Notice::trouble(sentence)),
            Some(Ok(painted)) => painted,
        };
        let label = if stroke.erases {
            "Erase region"
        } else {
            "Paint region"
        };
        let (gesture, now) = (Some(stroke.gesture), stroke.gesture == cx.gesture);
        let change = move |document: &mut Document| {
            if let Some(region) = document
                .transfer
                .regions
                .iter_mut()
                .find(|region| region.name == stroke.region)
            {
                region.faces = faces;
            }
        };
        let edit = Edit {
            label: label.into(),
            gesture,
            change: Box::new(change),
        };
        // After the next press, which may be an undo, it belongs to a step that is there, or
        // nowhere.
        cx.command(if now {
            Command::Edit(edit)
        } else {
            Command::Amend(edit)
        });
    }

    /// Paints on the target and shows how far the brush reaches.
    pub(super) fn canvas_ui(
        &mut self,
        on: &On<'_>,
        target: &Arc<Actor>,
        region: &RegionSetup,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        let (down, modifiers) = ui.input(|input| (input.pointer.primary_down(), input.modifiers));
        let hit = on.canvas.pointer().and_then(|pointer| on.pick(pointer));
        let begins = on.canvas.response.is_pointer_button_down_on()
            && down
            && !modifiers.alt
            && !on.canvas.navigating;
        if self.stroke.is_none()
            && begins
            && let Some(start) = on
                .canvas
                .press_origin()
                .and_then(|pointer| on.pick(pointer))
        {
            self.stroke = Some(Stroke {
                target: target.clone(),
                gesture: cx.gesture,
                region: region.name.clone(),
                erases: self.erases != modifiers.command,
                radius: self.radius * target.diagonal(),
                vertices: Vec::new(),
                before: region.faces.clone(),
            });
            self.go_on(start.vertex, cx.wake);
        }
        if let Some(hit) = hit.filter(|_| self.stroke.is_some()) {
            self.go_on(hit.vertex, cx.wake);
        }
        if let Some((hit, at)) =
            hit.and_then(|hit| Some((hit, on.canvas.view.project(hit.position)?)))
        {
            let radius = self.radius * target.diagonal()
                / on.canvas
                    .view
                    .world_per_pixel(hit.position)
                    .max(f64::MIN_POSITIVE);
            let [red, green, blue] = region.color;
            on.canvas.painter.circle_stroke(
                at,
                radius as f32,
                Line::new(2.0, Color32::from_rgb(red, green, blue)),
            );
            on.canvas.painter.circle_stroke(
                at,
                radius as f32 + 1.5,
                Line::new(1.0, Color32::from_white_alpha(160)),
            );
        }
        let used = self.stroke.is_some();
        if self
            .stroke
            .as_ref()
            .is_some_and(|stroke| !down || stroke.gesture != cx.gesture)
        {
            self.stroke = None;
        }
        used
    }

    fn go_on(&mut self, vertex: u32, wake: &Wake) {
        let Some(stroke) = &mut self.stroke else {
            return;
        };
        if stroke.vertices.last() != Some(&vertex) {
            stroke.vertices.push(vertex);
            self.worker
                .get_or_insert_with(|| start(wake.clone()))
                .ask(stroke.clone());
        }
    }
}

fn start(wake: Wake) -> Latest<Stroke, Painted> {
    Latest::new(
        "The brush",
        wake,
        |inbox: &Inbox<Stroke>, outbox: &Outbox<Painted>| {
            while let Some(stroke) = inbox.next() {
                let answer = painted(&stroke).map_err(|error| error.to_string());
                outbox.put(answer.map(|faces| (stroke, Arc::new(faces))));
            }
        },
    )
}

/// The faces of the region after the stroke, ascending. A stroke that jumps between parts of the
/// mesh is one on each.
fn painted(stroke: &Stroke) -> Result<Vec<u32>, TransferError> {
    let mesh = &stroke.target.mesh;
    let mut inside = vec![false; mesh.face_count()];
    for &face in stroke.before.iter() {
        if let Some(inside) = inside.get_mut(face as usize) {
            *inside = true;
        }
    }
    let parts = mesh.topology().component_of_vertex();
    for line in stroke
        .vertices
        .chunk_by(|&a, &b| parts[a as usize] == parts[b as usize])
    {
        let covered = stroke_triangles(mesh, line, 2.0 * stroke.radius)?;
        for (&face, _) in mesh
            .triangle_faces()
            .iter()
            .zip(covered)
            .filter(|(_, covered)| *covered)
        {
            inside[face as usize] = !stroke.erases;
        }
    }
    Ok((0..inside.len() as u32)
        .filter(|&face| inside[face as usize])
        .collect())
}
