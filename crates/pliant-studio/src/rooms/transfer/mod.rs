//! The Transfer room: animations of other meshes on a target mesh.
//!
//! Sources are shown in the left pane, the target mesh in the right one. Marker pairs define
//! corresponding points, regions define which clip moves which part, layers define when. A task
//! computes the take, which the target then plays.
//!
//! - `assets`, `panes`: sources, target mesh and their viewports.
//! - `markers`, `marker_list`: marker pairs. `regions`, `brush`: regions and rotations.
//! - `layers`: clips over time. `options`, `figures`: run, correspondence, results.

mod assets;
mod brush;
mod figures;
mod layers;
mod marker_list;
mod markers;
mod options;
mod panes;
mod regions;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::{self, Align2, FontId, Ui};

use self::assets::Chooser;
use self::brush::Brush;
use self::layers::LayerPanel;
use self::marker_list::MarkerSuggestion;
use self::markers::{MarkerTool, pairs_of};
use self::regions::RegionPanel;
use super::{Pane, PaneCanvas, Room};
use crate::engine::context::Cx;
use crate::engine::export::rig_jobs::transferred_shapes;
use crate::engine::export::{Exportable, take_asset};
use crate::engine::transfer::actor::{Actor, ActorCache};
use crate::engine::transfer::arrivals::{self, Arrivals, FileRole};
use crate::engine::transfer::maps::{MapKey, Maps};
use crate::engine::transfer::marker_pairs::{MarkerChecker, Marks};
use crate::engine::transfer::player::Player;
use crate::engine::transfer::preview::{MappedSource, Preview, PreviewRequest, Previewer};
use crate::engine::transfer::recipe_file::{self, RecipeFile};
use crate::engine::transfer::run::Run;
use crate::model::transfer::{Setup, SourceSetup};

/// Action of the left button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tool {
    #[default]
    Markers,
    Regions,
    Rotate,
}

/// What colours say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Colors {
    #[default]
    Clay,
    Flexibility,
    Map,
    Regions,
}

/// The room.
#[derive(Default)]
pub struct TransferRoom {
    tool: Tool,
    colors: Colors,
    hides_result: bool,
    chooser: Chooser,
    stage: ActorCache,
    players: [Player; 2],
    marker_tool: MarkerTool,
    marker_checker: MarkerChecker,
    marks: Arc<Marks>,
    suggesting: MarkerSuggestion,
    maps: Maps,
    brush: Brush,
    regions: RegionPanel,
    previewer: Previewer,
    preview: Option<Preview>,
    layers: LayerPanel,
    run: Run,
    recipe_file: RecipeFile,
    arrivals: Arrivals,
    /// The pane under the pointer: a file that is dropped belongs there.
    under_pointer: Option<usize>,
    actors: Actors,
}

/// The actors of this frame.
#[derive(Default)]
struct Actors {
    sources: Vec<Result<Arc<Actor>, String>>,
    target: Option<Result<Arc<Actor>, String>>,
}

impl Actors {
    fn source(&self, k: usize) -> Option<&Arc<Actor>> {
        self.sources.get(k)?.as_ref().ok()
    }

    fn target(&self) -> Option<&Arc<Actor>> {
        self.target.as_ref()?.as_ref().ok()
    }

    /// Input of the map of a source.
    fn key(&self, k: usize, setup: &Setup) -> Option<MapKey> {
        Some(MapKey::of(
            setup.sources.get(k)?,
            self.source(k)?,
            self.target()?,
        ))
    }

    /// Input of the maps of all sources, once all are loaded.
    fn keys(&self, setup: &Setup) -> Option<Vec<MapKey>> {
        (0..setup.sources.len())
            .map(|k| self.key(k, setup))
            .collect()
    }
}

impl Room for TransferRoom {
    fn update(&mut self, cx: &mut Cx<'_>) {
        let document = cx.document;
        let setup = &document.transfer;
        self.actors.sources = setup
            .sources
            .iter()
            .map(|source| self.stage.actor(&source.clip, cx))
            .collect();

        self.actors.target =
            (!setup.target.is_empty()).then(|| self.stage.actor(&setup.target, cx));
        self.maps.update(cx);
        self.suggesting.update(|k| self.actors.key(k, setup), cx);
        self.brush.update(cx);
        self.run.update(&mut self.maps, cx);
        self.recipe_file.update(cx);
        self.chooser.source = self.arrivals.update(cx).unwrap_or(self.chooser.source);
        // What follows needs the actors and the results of this frame.
        self.update_marks(setup, cx);
        self.request_maps(setup, cx);
        self.update_preview(setup, cx);
    }

    fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.chooser.assets_ui(ui, cx);
        ui.add_space(8.0);
        ui.strong("Tool");
        self.tool_ui(ui);
        ui.add_space(8.0);
        ui.strong("Colours");

        for (colors, label, hint) in COLORS {
            ui.radio_value(&mut self.colors, colors, label)
                .on_hover_text(hint);
        }

        ui.add_space(8.0);
        let result = cx.document.transfer.outcome.is_some();
        let mut shows = !self.hides_result;

        if ui
            .add_enabled(result, egui::Checkbox::new(&mut shows, "Play result"))
            .on_hover_text("On the target")
            .changed()
        {
            self.hides_result = !shows;
        }
    }

    fn options_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let setup = &cx.document.transfer;
        let source = self.chooser.source(setup);
        self.run_ui(ui, cx);
        ui.separator();

        let Self {
            tool,
            marker_tool,
            suggesting,
            marks,
            actors,
            regions,
            brush,
            preview,
            ..
        } = self;

        match tool {
            Tool::Markers => {
                let actors = actors
                    .source(source)
                    .zip(actors.target())
                    .map(|(a, b)| [a, b]);
                marker_list::markers_ui(marker_tool, suggesting, marks, source, actors, ui, cx);
            }
            Tool::Regions => {
                let name = cx
                    .document
                    .transfer
                    .sources
                    .get(source)
                    .map_or_else(String::new, |source| source.name.clone());
                regions.regions_ui(brush, &name, preview.as_ref(), ui, cx);
            }
            Tool::Rotate => regions.rotations_ui(preview.as_ref(), ui, cx),
        }

        ui.separator();
        self.map_ui(source, ui, cx);
        ui.separator();

        // The layers panel needs the length of each clip.
        let names: Vec<(String, usize)> = clip_lengths(&cx.document.transfer, &self.actors);
        let frames = move |name: &str| {
            names
                .iter()
                .find(|(known, _)| known == name)
                .map_or(0, |(_, frames)| *frames)
        };

        self.layers.layers_ui(&frames, ui, cx);
        ui.separator();
        let keys = self
            .actors
            .keys(&cx.document.transfer)
            .filter(|keys| !keys.is_empty());

        self.recipe_file.recipe_ui(keys.is_some(), ui, cx);
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        self.under_pointer = None;
        vec![self.source_pane(cx), self.target_pane(cx)]
    }

    fn canvas_ui(&mut self, on: &PaneCanvas<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        // A dropped file goes to the pane under the pointer.
        if on.canvas.response.contains_pointer() {
            self.under_pointer = Some(on.pane);
        }

        let source = self.chooser.source(&cx.document.transfer);
        let used = match self.tool {
            Tool::Markers => self.marker_tool.canvas_ui(on, &self.marks, source, ui, cx),
            Tool::Regions if on.pane == 1 => self.brush_ui(on, ui, cx),
            Tool::Rotate if on.pane == 1 => self.rotation_tool_ui(on, ui, cx),
            Tool::Regions | Tool::Rotate => false,
        };

        if self.tool == Tool::Markers {
            self.marker_tool.paint(on, &self.marks, ui);
        }

        if !on.scene.models.is_empty()
            && let Some(hint) = self.hint(on.pane, cx)
        {
            let at = on.canvas.response.rect.left_top() + egui::vec2(14.0, 36.0);
            on.canvas.painter.text(
                at,
                Align2::LEFT_TOP,
                hint,
                FontId::proportional(13.0),
                ui.visuals().text_color(),
            );
        }
        used
    }

    fn drop_hint(&self) -> &'static str {
        "Drop clips as sources on the left, and the target mesh on the right"
    }

    fn accept(&mut self, path: &Path, _cx: &mut Cx<'_>) -> bool {
        // The pane under the pointer decides between source and target.
        let place = match self.under_pointer {
            Some(0) => FileRole::Source,
            Some(_) => FileRole::Target,
            None => FileRole::Unsaid,
        };
        let known = arrivals::is_known(path);

        if known {
            self.arrivals.take(path.to_owned(), place);
        }
        known
    }

    fn take_files(&mut self, what: &'static str, paths: Vec<PathBuf>, cx: &mut Cx<'_>) {
        let place = match what {
            assets::SOURCE => FileRole::Source,
            assets::TARGET => FileRole::Target,
            _ => FileRole::Unsaid,
        };

        if what == recipe_file::SAVE {
            if let (Some(path), Some(keys)) = (
                paths.into_iter().next(),
                self.actors.keys(&cx.document.transfer),
            ) {
                self.recipe_file.save(keys, path, cx);
            }
            return;
        }

        for path in paths {
            self.arrivals.take(path, place);
        }
    }

    fn exports(&mut self, cx: &mut Cx<'_>) -> Vec<Exportable> {
        let setup = cx.document.transfer.clone();
        let folder = cx.library.folder().to_owned();
        let take = setup
            .outcome
            .as_ref()
            .and_then(|outcome| cx.document.timeline.take(&outcome.take))
            .cloned();

        let result = take.map(|take| {
            Exportable::new(format!("Take {}", take.name), move || {
                take_asset(&take, &folder)
            })
        });
        let keys = self.actors.keys(&setup).filter(|keys| !keys.is_empty());

        let recipe = keys.map(|keys| {
            let make = move |path: &Path| recipe_file::recipe_files(&setup, &keys, path);
            Exportable::files("Recipe of the transfer", recipe_file::recipe_kind(), make)
        });

        result
            .into_iter()
            .chain(recipe)
            .chain(self.shapes(cx))
            .collect()
    }

    fn busy(&self) -> bool {
        self.stage.busy()
            || self.players.iter().any(Player::busy)
            || self.marker_checker.busy()
            || self.suggesting.busy()
            || self.maps.busy()
            || self.brush.busy()
            || self.previewer.busy()
            || self.run.busy()
            || self.recipe_file.busy()
            || self.arrivals.busy()
    }
}

impl TransferRoom {
    /// The targets of the source on the target mesh, if it has any.
    fn shapes(&self, cx: &mut Cx<'_>) -> Option<Exportable> {
        let setup = &cx.document.transfer;
        let source = setup.sources.first()?;
        let (from, to, pairs) = (
            source.clip.clone(),
            setup.target.clone(),
            source.pairs.clone(),
        );
        let has_targets = cx
            .library
            .ready(&from)
            .is_some_and(|loaded| !loaded.rig.targets().is_empty());
        let folder = cx.library.folder().to_owned();
        (has_targets && !to.is_empty()).then(|| {
            Exportable::new("Targets of the source on the target mesh", move || {
                transferred_shapes(&from, &to, &pairs, &folder)
            })
        })
    }
}

/// The keys of the room, for the list of shortcuts.
pub const SHORTCUTS: &[crate::widgets::ShortcutGroup] = &[(
    "Transfer",
    &[
        (
            "Click",
            "Place a marker, then its partner on the other side",
        ),
        ("Drag a marker", "Move it over the surface"),
        ("Del", "Delete the selected pair"),
        ("Esc", "Cancel a marker without a partner"),
        ("Ctrl+brush", "Erase a region; paint while Erase is chosen"),
        ("Drag a ring", "Rotate a region; Ctrl: steps of 15°"),
    ],
)];

const COLORS: [(Colors, &str, &str); 4] = [
    (Colors::Clay, "Materials", "The materials of the meshes"),
    (
        Colors::Flexibility,
        "Flexibility",
        "Where the clip bends: markers matter there",
    ),
    (
        Colors::Map,
        "Match distance",
        "Distance of corresponding triangles; grey: no correspondence",
    ),
    (Colors::Regions, "Regions", "Regions and their clips"),
];

impl TransferRoom {
    /// The tool, with the colours that serve it.
    fn tool_ui(&mut self, ui: &mut Ui) {
        let tools = [
            (
                Tool::Markers,
                "Markers",
                "Click the same point on source and target",
            ),
            (
                Tool::Regions,
                "Paint regions",
                "Brush over parts of the target",
            ),
            (
                Tool::Rotate,
                "Rotate regions",
                "Rotate parts of the target's rest pose",
            ),
        ];
        for (tool, label, hint) in tools {
            if ui
                .selectable_label(self.tool == tool, label)
                .on_hover_text(hint)
                .clicked()
            {
                self.tool = tool;
                // Region tools are of no use without the colours of regions.
                self.colors = if tool == Tool::Markers {
                    Colors::Clay
                } else {
                    Colors::Regions
                };
            }
        }
    }

    fn update_marks(&mut self, setup: &Setup, cx: &Cx<'_>) {
        let source = self.chooser.source(setup);
        let pairs = pairs_of(cx.document, source);
        // Undo may have removed the selected pair.
        self.marker_tool.selected = self
            .marker_tool
            .selected
            .filter(|&pair| pair < pairs.len().max(1));
        self.marks = match (self.actors.source(source), self.actors.target()) {
            (Some(a), Some(b)) => {
                let mirrored = setup
                    .sources
                    .get(source)
                    .is_some_and(|source| source.mirrored);
                self.marker_checker.marks([a, b], &pairs, mirrored, cx.wake)
            }
            _ => Arc::new(Marks::placed(&pairs)),
        };
    }

    /// Starts the maps that what is shown needs.
    fn request_maps(&mut self, setup: &Setup, cx: &mut Cx<'_>) {
        // Blend weights and rotations need to know which parts are rigid.
        let regions = !setup.regions.is_empty()
            && (self.colors == Colors::Regions && self.regions.refined
                || self.tool == Tool::Rotate);
        let shown = self.chooser.source(setup);

        for (k, source) in setup.sources.iter().enumerate() {
            let colored = k == shown && matches!(self.colors, Colors::Map | Colors::Flexibility);
            let used = setup
                .regions
                .iter()
                .any(|region| region.source == source.name);

            let lowest = setup
                .layers
                .first()
                .is_some_and(|layer| layer.source == source.name);

            // One correspondence at a time, and none while a marker still moves.
            if let Some(key) = self.actors.key(k, setup).filter(|_| {
                !self.maps.busy()
                    && !self.marker_tool.drags()
                    && (colored || regions && (used || lowest))
            }) {
                self.maps.request(&key, &source.name, cx);
            }
        }
    }

    fn update_preview(&mut self, setup: &Setup, cx: &Cx<'_>) {
        let wanted = self.colors == Colors::Regions || self.tool == Tool::Rotate;
        let Some(target) = self
            .actors
            .target()
            .filter(|_| wanted && !setup.regions.is_empty())
        else {
            self.preview = None;
            return;
        };

        // Sources without a correspondence are shown as painted.
        let mapped = |(k, source): (usize, &SourceSetup)| {
            let map = self.maps.get(&self.actors.key(k, setup)?)?;
            Some(MappedSource {
                name: source.name.clone(),
                source: self.actors.source(k)?.clone(),
                map,
            })
        };

        let mapped = setup
            .sources
            .iter()
            .enumerate()
            .filter_map(mapped)
            .collect();

        let request = PreviewRequest {
            setup: setup.clone(),
            target: target.clone(),
            mapped,
            refined: self.regions.refined,
        };

        self.preview = self.previewer.preview(request, cx.wake).cloned();
    }

    fn rotation_tool_ui(&self, on: &PaneCanvas<'_>, ui: &Ui, cx: &mut Cx<'_>) -> bool {
        self.actors
            .target()
            .is_some_and(|target| self.regions.rotation_on_canvas_ui(on, target, ui, cx))
    }

    fn brush_ui(&mut self, on: &PaneCanvas<'_>, ui: &Ui, cx: &mut Cx<'_>) -> bool {
        let document = cx.document;
        let (Some(target), Some(region)) = (
            self.actors.target(),
            self.regions.region(&document.transfer),
        ) else {
            return false;
        };
        self.brush.canvas_ui(on, target, region, ui, cx)
    }

    /// What to do next, in a pane.
    fn hint(&self, pane: usize, cx: &Cx<'_>) -> Option<&'static str> {
        let ready = self.actors.target().is_some() && !cx.document.transfer.sources.is_empty();
        match (self.tool, pane, self.marker_tool.pending) {
            (Tool::Markers, 1, Some((0, _))) => Some("Click the same point here"),
            (Tool::Markers, 0, Some((1, _))) => Some("Click the same point here"),
            (Tool::Markers, 0, None) if ready && self.marks.marks.is_empty() => {
                Some("Click a point, such as the nose")
            }
            (Tool::Regions, 1, _) if cx.document.transfer.regions.is_empty() => {
                Some("Add a region, then paint it here")
            }
            _ => None,
        }
    }
}

fn clip_lengths(setup: &Setup, actors: &Actors) -> Vec<(String, usize)> {
    let length = |(k, source): (usize, &SourceSetup)| {
        Some((
            source.name.clone(),
            actors.source(k)?.clip()?.frames().len(),
        ))
    };
    setup
        .sources
        .iter()
        .enumerate()
        .filter_map(length)
        .collect()
}
