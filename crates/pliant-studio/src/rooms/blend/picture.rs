//! The two viewports of a blend: linear on the left, physical on the right.

use std::sync::Arc;

use eframe::egui::Ui;

use super::bake::asset_of;
use super::brush::Tool;
use super::strain_scale::{StrainScale, most_strain};
use crate::engine::blend::equilibrium::{BlendBase, BlendResult, BlendSide};
use crate::engine::color::Srgba;
use crate::engine::context::Cx;
use crate::engine::heat::{Heat, HeatMap};
use crate::engine::surface::Vertices;
use crate::engine::work::{Inbox, Latest, Outbox};
use crate::model::blob::Blob;
use crate::model::camera::Camera;
use crate::model::room::RoomName;
use crate::model::shared::Shared;
use crate::model::timeline::{TakeFrames, made_frame};
use crate::rooms::Pane;
use crate::view::{Model, Paint, Scene};
use crate::widgets::field::{ChoiceField, no_hint};

/// Which pictures there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Layout {
    #[default]
    SideBySide,
    Linear,
    Physical,
}

/// Quantity shown as colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Colors {
    #[default]
    Strain,
    Clay,
}

/// How the shapes are looked at.
pub(super) struct Picture {
    layout: Layout,
    colors: Colors,
    scale: StrainScale,
    linked: bool,
    cameras: Vec<Camera>,
    fixed: Option<(Arc<Vec<u32>>, usize, Paint)>,
    stiffness: Option<(Shared<Vec<f32>>, usize, Paint)>,
    strain: Option<(Arc<BlendResult>, f32)>,
    /// The frame of a take that is shown, and the one that is requested.
    played: Option<(PlayedFrame, Arc<Vertices>)>,
    wanted: Option<PlayedFrame>,
    player: Option<Player>,
}

/// Shades frames of takes by a worker.
type Player = Latest<(PlayedFrame, Arc<BlendBase>), (PlayedFrame, Arc<Vertices>)>;

/// A frame of a take that was made in the studio.
#[derive(Debug, Clone, PartialEq)]
struct PlayedFrame {
    blob: Blob,
    frame: usize,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            colors: Colors::default(),
            scale: StrainScale::default(),
            linked: true,
            cameras: Vec::new(),
            fixed: None,
            stiffness: None,
            strain: None,
            played: None,
            wanted: None,
            player: None,
        }
    }
}

/// The colour of fixed vertices.
const FIXED: Srgba = Srgba::from_rgb(70, 140, 240);

impl Picture {
    /// Pictures, colours and cameras.
    pub(super) fn look_ui(&mut self, ui: &mut Ui) {
        ui.strong("View");
        ChoiceField {
            name: "Layout",
            options: &[Layout::SideBySide, Layout::Linear, Layout::Physical],
            label: layout_label,
            hint: no_hint,
        }
        .show(ui, &mut self.layout);

        let mut strain = self.colors == Colors::Strain;
        ui.checkbox(&mut strain, "Strain colours")
            .on_hover_text("Red is stretched, blue is compressed");
        self.colors = if strain { Colors::Strain } else { Colors::Clay };

        if strain {
            self.scale.scale_ui(ui);
        }

        ui.checkbox(&mut self.linked, "Same camera")
            .on_hover_text("Links the cameras of both viewports");
    }

    /// Lets the camera that was moved take the other along.
    pub(super) fn link_cameras(&mut self, cx: &mut Cx<'_>) {
        let Some([first, second]) = cx
            .view_state
            .cameras
            .get_mut(&RoomName::Blend)
            .map(|seen| &mut seen[..])
        else {
            return;
        };

        let moved =
            |k: usize, camera: &Camera| self.cameras.get(k).is_some_and(|before| before != camera);
        if self.linked && self.layout == Layout::SideBySide {
            // The camera that was moved in the last frame leads the other.
            if moved(1, &second.camera) && !moved(0, &first.camera) {
                first.camera = second.camera;
            } else {
                second.camera = first.camera;
            }
        }

        self.cameras = vec![first.camera, second.camera];
    }

    /// Whether a pane shows the shape in balance.
    #[must_use]
    pub(super) fn is_physical(&self, pane: usize) -> bool {
        self.layout == Layout::Physical || (self.layout == Layout::SideBySide && pane == 1)
    }

    /// Contents of a pane.
    #[must_use]
    pub(super) fn side<'a>(&self, pane: usize, blend_result: &'a BlendResult) -> &'a BlendSide {
        if self.is_physical(pane) {
            &blend_result.physical
        } else {
            &blend_result.linear
        }
    }

    /// The pictures, with obstacles in them.
    pub(super) fn panes(
        &mut self,
        cx: &Cx<'_>,
        shown: Option<&Arc<BlendResult>>,
        tool: Tool,
        obstacles: &[Model],
        empty: &str,
    ) -> Vec<Pane> {
        let count = if self.layout == Layout::SideBySide {
            2
        } else {
            1
        };
        // Other shapes are another subject, which the camera frames again.
        let subject = format!("{} {:?}", asset_of(cx.document), cx.document.blend.shapes);
        let played = self.played_frame(cx, shown);
        let paints = shown.map(|blend_result| self.paints(cx, blend_result, tool));

        let pane = |k: usize| {
            let title = if self.is_physical(k) {
                "Physical"
            } else {
                "Linear"
            };

            let mut pane = Pane {
                title: title.into(),
                subject: subject.clone(),
                empty: empty.into(),
                ..Pane::default()
            };

            if let Some((blend_result, [linear, physical])) = shown.zip(paints.as_ref()) {
                let side = self.side(k, blend_result);
                // A playing take replaces the physical blend.
                let take = played.clone().filter(|_| self.is_physical(k));
                let own = if self.is_physical(k) {
                    physical
                } else {
                    linear
                };

                let paint = if take.is_some() {
                    Paint::Own
                } else {
                    own.clone()
                };

                let model = Model::new(
                    blend_result.ground.surface.clone(),
                    take.unwrap_or_else(|| side.vertices.clone()),
                )
                .with_paint(paint);

                pane.scene = Scene {
                    models: std::iter::once(model)
                        .chain(obstacles.iter().cloned())
                        .collect(),
                };
            }

            pane
        };

        (0..count).map(pane).collect()
    }

    /// The colours of both sides, made when what they show changes.
    fn paints(&mut self, cx: &Cx<'_>, blend_result: &Arc<BlendResult>, tool: Tool) -> [Paint; 2] {
        let setup = &cx.document.blend;
        let count = blend_result.linear.positions.len();
        match tool {
            Tool::Fix => {
                // Colour arrays are kept while their input is the same, so that they are uploaded
                // once.
                let known = self
                    .fixed
                    .take()
                    .filter(|(of, size, _)| Arc::ptr_eq(of, &setup.fixed) && *size == count);
                let (.., paint) = self.fixed.insert(known.unwrap_or_else(|| {
                    (setup.fixed.clone(), count, fixed_paint(&setup.fixed, count))
                }));
                [paint.clone(), paint.clone()]
            }
            Tool::Stiffness => {
                let known = self
                    .stiffness
                    .take()
                    .filter(|(of, size, _)| of.is(&setup.stiffness) && *size == count);

                let make = || {
                    (
                        setup.stiffness.clone(),
                        count,
                        stiffness_paint(&setup.stiffness, count),
                    )
                };

                let (.., paint) = self.stiffness.insert(known.unwrap_or_else(make));
                [paint.clone(), paint.clone()]
            }
            Tool::Select | Tool::Anchor if self.colors == Colors::Strain => {
                let known = self
                    .strain
                    .take()
                    .filter(|(of, _)| Arc::ptr_eq(of, blend_result));
                let (_, most) = self.strain.insert(
                    known.unwrap_or_else(|| (blend_result.clone(), most_strain(blend_result))),
                );

                self.scale.fit(*most);
                [&blend_result.linear, &blend_result.physical]
                    .map(|side| strain_paint(side, self.scale.range()))
            }
            Tool::Select | Tool::Anchor => [const { Paint::Own }; 2],
        }
    }

    /// Whether a frame of a take is still to come.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.player.as_ref().is_some_and(Latest::busy)
    }

    /// The frame of the take that plays, if it is one of these shapes; the one before it until it
    /// is ready.
    fn played_frame(
        &mut self,
        cx: &Cx<'_>,
        shown: Option<&Arc<BlendResult>>,
    ) -> Option<Arc<Vertices>> {
        // A frame that cannot be read is not shown: the take's own panel says why.
        if let Some(Ok(played)) = self.player.as_ref().and_then(Latest::result) {
            self.played = Some(played);
        }

        let timeline = &cx.document.timeline;
        let ground = &shown?.ground;
        let take = timeline
            .take(timeline.playing_take.as_deref()?)
            .filter(|take| take.of == asset_of(cx.document))?;
        let TakeFrames::Made(blob) = &take.frames else {
            return None;
        };
        if !cx.clock.playing || take.frame_count == 0 {
            return None;
        }

        let frame = (cx.clock.frame.max(0.0) as usize).min(take.frame_count as usize - 1);
        let wanted = PlayedFrame {
            blob: blob.clone(),
            frame,
        };

        if self.wanted.as_ref() != Some(&wanted) {
            let worker = self
                .player
                .get_or_insert_with(|| Latest::new("Playing", cx.wake.clone(), play));
            worker.send((wanted.clone(), ground.clone()));
            self.wanted = Some(wanted);
        }

        let fits = |(of, vertices): &&(PlayedFrame, Arc<Vertices>)| {
            of.blob == *blob && vertices.positions.len() == ground.mesh.vertex_count()
        };

        self.played
            .as_ref()
            .filter(fits)
            .map(|(_, vertices)| vertices.clone())
    }
}

/// Shades frames, the newest first.
fn play(
    inbox: &Inbox<(PlayedFrame, Arc<BlendBase>)>,
    outbox: &Outbox<(PlayedFrame, Arc<Vertices>)>,
) {
    while let Some((wanted, ground)) = inbox.next() {
        let positions = made_frame(&wanted.blob, wanted.frame, ground.mesh.vertex_count());
        let positions =
            positions.map(|positions| positions.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>());
        let vertices = positions.map(|positions| Vertices::of(&ground.mesh, &positions));

        outbox.put(
            vertices
                .map(|vertices| (wanted, vertices))
                .ok_or_else(|| "The take belongs to another mesh.".to_owned()),
        );
    }
}

fn fixed_paint(fixed: &[u32], count: usize) -> Paint {
    let mut colors = vec![Srgba::CLEAR; count];
    for &vertex in fixed {
        if let Some(color) = colors.get_mut(vertex as usize) {
            *color = FIXED;
        }
    }
    Paint::Colors(Arc::new(colors))
}

fn stiffness_paint(stiffness: &[f32], count: usize) -> Paint {
    let exponents: Vec<f64> = (0..count)
        .map(|v| stiffness.get(v).map_or(0.0, |k| f64::from(k.log10())))
        .collect();
    Paint::Heat(
        Heat::new(&exponents, HeatMap::Diverging, "Stiffness", "log 10").with_range([-1.0, 1.0]),
    )
}

fn strain_paint(side: &BlendSide, range: [f32; 2]) -> Paint {
    Paint::Heat(Heat {
        values: side.strains.clone(),
        range,
        label: "Strain".into(),
        unit: "%".into(),
        map: HeatMap::Diverging,
    })
}

fn layout_label(layout: Layout) -> &'static str {
    match layout {
        Layout::SideBySide => "Side by side",
        Layout::Linear => "Linear",
        Layout::Physical => "Physical",
    }
}
