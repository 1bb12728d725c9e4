//! A brush that paints regions on the target mesh.

use std::sync::Arc;

use eframe::egui::{Color32, Stroke as Line, Ui};
use pliant::mesh::glam::DVec3;
use pliant::transfer::{TransferError, stroke_triangles};

use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::transfer::actor::Actor;
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::document::Document;
use crate::model::names::to_message;
use crate::model::transfer::RegionSetup;
use crate::rooms::PaneCanvas;

/// A stroke in progress.
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
    /// Whether a stroke is still computed.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// Writes the painted values into the document.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        let (stroke, faces) = match self.worker.as_ref().and_then(Latest::result) {
            None => return,
            Some(Err(message)) => return cx.notify(Notice::error(message)),
            Some(Ok(painted)) => painted,
        };

        let label = if stroke.erases {
            "Erase region"
        } else {
            "Paint region"
        };
        let gesture = stroke.gesture;

        let change = move |document: &mut Document| {
            // The region may have been renamed or removed meanwhile.
            if let Some(region) = document
                .transfer
                .regions
                .iter_mut()
                .find(|region| region.name == stroke.region)
            {
                region.faces = faces;
            }
        };

        cx.edit_or_amend(gesture, label, change);
    }

    /// Paints on the target and shows how far the brush reaches.
    pub(super) fn canvas_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        target: &Arc<Actor>,
        region: &RegionSetup,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        let down = ui.input(|input| input.pointer.primary_down());
        let hit = on.canvas.pointer().and_then(|pointer| on.pick(pointer));
        self.begin(on, target, region, ui, cx);
        if let Some(hit) = hit {
            self.continue_stroke(hit.vertex.get(), cx.wake);
            self.paint_ring(on, target, region, hit.position);
        }

        // A press of another button or key ends the stroke, because it begins another gesture.
        let used = self.stroke.is_some();
        self.stroke
            .take_if(|stroke| !down || stroke.gesture != cx.gesture);
        used
    }

    /// Starts a stroke where the button went down on the target.
    fn begin(
        &mut self,
        on: &PaneCanvas<'_>,
        target: &Arc<Actor>,
        region: &RegionSetup,
        ui: &Ui,
        cx: &Cx<'_>,
    ) {
        let (down, modifiers) = ui.input(|input| (input.pointer.primary_down(), input.modifiers));
        let on_canvas = on.canvas.response.is_pointer_button_down_on() && !on.canvas.navigating;
        if self.stroke.is_some() || !on_canvas || !down || modifiers.alt {
            return;
        }

        let origin = on.canvas.press_origin();
        let Some(start) = origin.and_then(|pointer| on.pick(pointer)) else {
            return;
        };
        self.stroke = Some(Stroke {
            target: target.clone(),
            gesture: cx.gesture,
            region: region.name.clone(),
            erases: self.erases != modifiers.command,
            radius: self.radius * target.diagonal(),
            vertices: Vec::new(),
            before: region.faces.clone(),
        });
        self.continue_stroke(start.vertex.get(), cx.wake);
    }

    /// The outline of the brush in the colour of the region.
    fn paint_ring(
        &self,
        on: &PaneCanvas<'_>,
        target: &Actor,
        region: &RegionSetup,
        position: DVec3,
    ) {
        let Some(at) = on.canvas.view.project(position) else {
            return;
        };
        let radius = on.points_of_length(position, self.radius * target.diagonal());
        let [red, green, blue] = region.color;
        let painter = &on.canvas.painter;
        painter.circle_stroke(
            at,
            radius,
            Line::new(2.0, Color32::from_rgb(red, green, blue)),
        );
        painter.circle_stroke(
            at,
            radius + 1.5,
            Line::new(1.0, Color32::from_white_alpha(160)),
        );
    }

    fn continue_stroke(&mut self, vertex: u32, wake: &Wake) {
        let Some(stroke) = &mut self.stroke else {
            return;
        };
        if stroke.vertices.last() != Some(&vertex) {
            stroke.vertices.push(vertex);
            self.worker
                .get_or_insert_with(|| start(wake.clone()))
                .send(stroke.clone());
        }
    }
}

fn start(wake: Wake) -> Latest<Stroke, Painted> {
    Latest::new(
        "The brush",
        wake,
        |inbox: &Inbox<Stroke>, outbox: &Outbox<Painted>| {
            while let Some(stroke) = inbox.next() {
                let answer = painted(&stroke).map_err(to_message);
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

    // A geodesic line cannot cross from one component to another.
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
