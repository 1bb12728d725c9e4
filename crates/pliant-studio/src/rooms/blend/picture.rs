//! The two pictures: straight lines on the left, balance on the right.

use std::sync::Arc;

use eframe::egui::{Color32, ComboBox, Ui};

use super::bake::asset_of;
use super::balance::{Balanced, Side};
use super::brush::Tool;
use super::strain_scale::StrainScale;
use crate::rooms::{Cx, Pane, RoomName};
use crate::timeline::{TakeFrames, made_frame};
use crate::view::{Camera, Heat, HeatMap, Model, Paint, Scene, Vertices};

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
#[derive(Debug)]
pub(super) struct Picture {
    layout: Layout,
    colors: Colors,
    scale: StrainScale,
    linked: bool,
    cameras: Vec<Camera>,
    /// The frame of a take that is shown.
    played: Option<(String, usize, Arc<Vertices>)>,
}

impl Default for Picture {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            colors: Colors::default(),
            scale: StrainScale::default(),
            linked: true,
            cameras: Vec::new(),
            played: None,
        }
    }
}

/// The colour of fixed vertices.
const FIXED: Color32 = Color32::from_rgb(70, 140, 240);

impl Picture {
    /// Pictures, colours and cameras.
    pub(super) fn look_ui(&mut self, ui: &mut Ui) {
        ui.strong("View");
        ComboBox::from_label("Pictures").selected_text(layout_label(self.layout)).show_ui(ui, |ui| {
            for layout in [Layout::SideBySide, Layout::Linear, Layout::Physical] {
                ui.selectable_value(&mut self.layout, layout, layout_label(layout));
            }
        });
        let mut strain = self.colors == Colors::Strain;
        ui.checkbox(&mut strain, "Strain colours").on_hover_text("Red is stretched, blue is pressed together");
        self.colors = if strain { Colors::Strain } else { Colors::Clay };
        if strain {
            self.scale.scale_ui(ui);
        }
        ui.checkbox(&mut self.linked, "Same camera").on_hover_text("Both pictures turn together");
    }

    /// Lets the camera that was moved take the other along.
    pub(super) fn link_cameras(&mut self, cx: &mut Cx<'_>) {
        let Some([first, second]) = cx.desk.cameras.get_mut(&RoomName::Blend).map(|seen| &mut seen[..]) else { return };
        let moved = |k: usize, camera: &Camera| self.cameras.get(k).is_some_and(|before| before != camera);
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
        if self.is_physical(pane) { &balanced.physical } else { &balanced.linear }
    }

    /// The pictures, with obstacles in them.
    pub(super) fn panes(&mut self, cx: &Cx<'_>, shown: Option<&Arc<Balanced>>, tool: Tool, obstacles: &[Model], empty: &str) -> Vec<Pane> {
        let count = if self.layout == Layout::SideBySide { 2 } else { 1 };
        let subject = format!("{} {:?}", asset_of(cx.document), cx.document.blend.shapes);
        let played = self.played_frame(cx, shown);
        if let Some(balanced) = shown {
            self.scale.fit(balanced);
        }
        let pane = |k: usize| {
            let title = if self.is_physical(k) { "Physical" } else { "Linear" };
            let mut pane = Pane { title: title.into(), subject: subject.clone(), empty: empty.into(), ..Pane::default() };
            if let Some(balanced) = shown {
                let side = self.side(k, balanced);
                let take = played.clone().filter(|_| self.is_physical(k));
                let paint = if take.is_some() { Paint::Plain(Model::CLAY) } else { self.paint(cx, side, tool) };
                let model = Model::new(balanced.ground.surface.clone(), take.unwrap_or_else(|| side.vertices.clone())).with_paint(paint);
                pane.scene = Scene { models: std::iter::once(model).chain(obstacles.iter().cloned()).collect() };
            }
            pane
        };
        (0..count).map(pane).collect()
    }

    fn paint(&self, cx: &Cx<'_>, side: &Side, tool: Tool) -> Paint {
        let (setup, count) = (&cx.document.blend, side.positions.len());
        match tool {
            Tool::Fix => {
                let mut colors = vec![Model::CLAY; count];
                setup.fixed.iter().for_each(|&vertex| {
                    if let Some(color) = colors.get_mut(vertex as usize) {
                        *color = FIXED;
                    }
                });
                Paint::Colors(Arc::new(colors))
            }
            Tool::Stiffness => {
                let exponents: Vec<f64> = (0..count).map(|v| setup.stiffness.get(v).map_or(0.0, |k| f64::from(k.log10()))).collect();
                Paint::Heat(Heat::new(&exponents, HeatMap::Diverging, "Stiffness", "log 10").with_range([-1.0, 1.0]))
            }
            Tool::Select | Tool::Anchor if self.colors == Colors::Strain => Paint::Heat(Heat {
                values: side.strains.clone(),
                range: self.scale.range(),
                label: "Strain".into(),
                unit: "%".into(),
                map: HeatMap::Diverging,
            }),
            Tool::Select | Tool::Anchor => Paint::Plain(Model::CLAY),
        }
    }

    /// The frame of the take that plays, if it is one of these shapes.
    fn played_frame(&mut self, cx: &Cx<'_>, shown: Option<&Arc<Balanced>>) -> Option<Arc<Vertices>> {
        let timeline = &cx.document.timeline;
        let take = timeline.take(timeline.playing_take.as_deref()?).filter(|take| take.of == asset_of(cx.document))?;
        let (TakeFrames::Made(blob), mesh) = (&take.frames, &shown?.ground.mesh) else { return None };
        if !cx.clock.playing || take.frame_count == 0 {
            return None;
        }
        let frame = (cx.clock.frame.max(0.0) as usize).min(take.frame_count as usize - 1);
        if self.played.as_ref().is_none_or(|(name, of, _)| name != blob.name() || *of != frame) {
            let positions = made_frame(blob, frame, mesh.vertex_count())?;
            let positions: Vec<_> = positions.iter().map(|p| p.as_dvec3()).collect();
            self.played = Some((blob.name().to_owned(), frame, Vertices::of(mesh, &positions)));
        }
        self.played.as_ref().map(|(.., vertices)| vertices.clone())
    }
}

fn layout_label(layout: Layout) -> &'static str {
    match layout {
        Layout::SideBySide => "Side by side",
        Layout::Linear => "Linear",
        Layout::Physical => "Physical",
    }
}
