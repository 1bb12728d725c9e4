//! The two pictures: straight lines on the left, balance on the right.

use std::sync::Arc;

use eframe::egui::{Color32, ComboBox, Ui};

use super::bake::asset_of;
use super::balance::{Balanced, Ground, Side};
use super::brush::Tool;
use super::strain_scale::{StrainScale, most_strain};
use crate::blob::Blob;
use crate::rooms::{Cx, Pane, RoomName};
use crate::shared::Shared;
use crate::timeline::{TakeFrames, made_frame};
use crate::view::{Camera, Heat, HeatMap, Model, Paint, Scene, Vertices};
use crate::work::{Inbox, Latest, Outbox};

/// Which pictures there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Layout {
    #[default]
    SideBySide,
    Linear,
    Physical,
}

/// What the shapes are coloured by.
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
    strain: Option<(Arc<Balanced>, f32)>,
    /// The frame of a take that is shown, and the one that is wanted.
    played: Option<(PlayedFrame, Arc<Vertices>)>,
    wanted: Option<PlayedFrame>,
    player: Option<Player>,
}

/// Shades frames of takes beside the window.
type Player = Latest<(PlayedFrame, Arc<Ground>), (PlayedFrame, Arc<Vertices>)>;

/// A frame of a take that was made here.
#[derive(Debug, Clone, PartialEq)]
struct PlayedFrame {
    blob: Blob,
    frame: usize,
}

impl Default for Picture {
    fn default() -> Self {
        let (layout, colors, scale, cameras) = (
            Layout::default(),
            Colors::default(),
            StrainScale::default(),
            Vec::new(),
        );
        let (fixed, stiffness, strain, played, wanted, player) =
            (None, None, None, None, None, None);
        Self {
            layout,
            colors,
            scale,
            linked: true,
            cameras,
            fixed,
            stiffness,
            strain,
            played,
            wanted,
            player,
        }
    }
}

/// The colour of fixed vertices.
const FIXED: Color32 = Color32::from_rgb(70, 140, 240);

impl Picture {
    /// Pictures, colours and cameras.
    pub(super) fn look_ui(&mut self, ui: &mut Ui) {
        ui.strong("View");
        ComboBox::from_label("Pictures")
            .selected_text(layout_label(self.layout))
            .show_ui(ui, |ui| {
                for layout in [Layout::SideBySide, Layout::Linear, Layout::Physical] {
                    ui.selectable_value(&mut self.layout, layout, layout_label(layout));
                }
            });
        let mut strain = self.colors == Colors::Strain;
        ui.checkbox(&mut strain, "Strain colours")
            .on_hover_text("Red is stretched, blue is pressed together");
        self.colors = if strain { Colors::Strain } else { Colors::Clay };
        if strain {
            self.scale.scale_ui(ui);
        }
        ui.checkbox(&mut self.linked, "Same camera")
            .on_hover_text("Both pictures turn together");
    }

    /// Lets the camera that was moved take the other along.
    pub(super) fn link_cameras(&mut self, cx: &mut Cx<'_>) {
        let Some([first, second]) = cx
            .desk
            .cameras
            .get_mut(&RoomName::Blend)
            .map(|seen| &mut seen[..])
        else {
            return;
        };
        let moved =
            |k: usize, camera: &Camera| self.cameras.get(k).is_some_and(|before| before != camera);
        if self.linked && self.layout == Layout::SideBySide {
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

    /// What a pane shows.
    #[must_use]
    pub(super) fn side<'a>(&self, pane: usize, balanced: &'a Balanced) -> &'a Side {
        if self.is_physical(pane) {
            &balanced.physical
        } else {
            &balanced.linear
        }
    }

    /// The pictures, with obstacles in them.
    pub(super) fn panes(
        &mut self,
        cx: &Cx<'_>,
        shown: Option<&Arc<Balanced>>,
        tool: Tool,
        obstacles: &[Model],
        empty: &str,
    ) -> Vec<Pane> {
        let count = if self.layout == Layout::SideBySide {
            2
        } else {
            1
        };
        let subject = format!("{} {:?}", asset_of(cx.document), cx.document.blend.shapes);
        let played = self.played_frame(cx, shown);
        let paints = shown.map(|balanced| self.paints(cx, balanced, tool));
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
            if let Some((balanced, [linear, physical])) = shown.zip(paints.as_ref()) {
                let side = self.side(k, balanced);
                let take = played.clone().filter(|_| self.is_physical(k));
                let own = if self.is_physical(k) {
                    physical
                } else {
                    linear
                };
                let paint = if take.is_some() {
                    Paint::Plain(Model::CLAY)
                } else {
                    own.clone()
                };
                let model = Model::new(
                    balanced.ground.surface.clone(),
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
    fn paints(&mut self, cx: &Cx<'_>, balanced: &Arc<Balanced>, tool: Tool) -> [Paint; 2] {
        let (setup, count) = (&cx.document.blend, balanced.linear.positions.len());
        match tool {
            Tool::Fix => {
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
                    .filter(|(of, _)| Arc::ptr_eq(of, balanced));
                let (_, most) = self
                    .strain
                    .insert(known.unwrap_or_else(|| (balanced.clone(), most_strain(balanced))));
                self.scale.fit(*most);
                [&balanced.linear, &balanced.physical]
                    .map(|side| strain_paint(side, self.scale.range()))
            }
            Tool::Select | Tool::Anchor => [const { Paint::Plain(Model::CLAY) }; 2],
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
        shown: Option<&Arc<Balanced>>,
    ) -> Option<Arc<Vertices>> {
        // A frame that cannot be read is not shown: the take's own panel says why.
        if let Some(Ok(played)) = self.player.as_ref().and_then(Latest::answer) {
            self.played = Some(played);
        }
        let (timeline, ground) = (&cx.document.timeline, &shown?.ground);
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
            worker.ask((wanted.clone(), ground.clone()));
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
fn play(inbox: &Inbox<(PlayedFrame, Arc<Ground>)>, outbox: &Outbox<(PlayedFrame, Arc<Vertices>)>) {
    while let Some((wanted, ground)) = inbox.next() {
        let positions = made_frame(&wanted.blob, wanted.frame, ground.mesh.vertex_count());
        let positions =
            positions.map(|positions| positions.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>());
        let vertices = positions.map(|positions| Vertices::of(&ground.mesh, &positions));
        outbox.put(
            vertices
                .map(|vertices| (wanted, vertices))
                .ok_or_else(|| "The take is of another mesh.".to_owned()),
        );
    }
}

fn fixed_paint(fixed: &[u32], count: usize) -> Paint {
    let mut colors = vec![Model::CLAY; count];
    fixed.iter().for_each(|&vertex| {
        if let Some(color) = colors.get_mut(vertex as usize) {
            *color = FIXED;
        }
    });
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

fn strain_paint(side: &Side, range: [f32; 2]) -> Paint {
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
