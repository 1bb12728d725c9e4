//! Transfer: animations of other meshes on this one.
//!
//! Sources stand in the left pane, the target in the right one. Marker pairs say which spots are
//! the same, regions say what follows which clip, layers say when; a task makes the take that the
//! target then plays.

mod arrivals;
mod assets;
mod brush;
mod layers;
mod maps;
mod marker_list;
mod marker_pairs;
mod markers;
mod options;
mod paint;
mod panes;
mod player;
mod preview;
mod recipe_file;
mod recipe_setup;
mod regions;
mod run;
mod setup;
mod stage;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::{self, Align2, FontId, Ui};

pub use setup::{
    LayerSetup, Outcome, Pairs, RegionSetup, Setup, SourceSetup, TurnSetup, short_name,
};

use self::arrivals::{Arrivals, Place};
use self::assets::Chooser;
use self::brush::Brush;
use self::layers::LayerDesk;
use self::maps::{MapKey, Maps};
use self::marker_list::Suggesting;
use self::marker_pairs::{Judge, Marks};
use self::markers::{MarkerHand, pairs_of};
use self::player::Player;
use self::preview::{Mapped, Preview, Previewer, Question};
use self::recipe_file::RecipeFile;
use self::regions::RegionDesk;
use self::run::Run;
use self::stage::{Actor, Stage};
use super::{Cx, Example, On, Pane, Room};
use crate::document::Document;
use crate::export::{Exportable, take_asset};
use crate::timeline::Timeline;

/// What the left button does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tool {
    #[default]
    Markers,
    Regions,
    Turn,
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
    stage: Stage,
    players: [Player; 2],
    hand: MarkerHand,
    judge: Judge,
    marks: Arc<Marks>,
    suggesting: Suggesting,
    maps: Maps,
    brush: Brush,
    regions: RegionDesk,
    previewer: Previewer,
    preview: Option<Preview>,
    layers: LayerDesk,
    run: Run,
    recipe_file: RecipeFile,
    arrivals: Arrivals,
    /// The pane under the pointer: a file that is dropped belongs there.
    under_pointer: Option<usize>,
    cast: Cast,
}

/// Who is there in this frame.
#[derive(Default)]
struct Cast {
    sources: Vec<Result<Arc<Actor>, String>>,
    target: Option<Result<Arc<Actor>, String>>,
}

impl Cast {
    fn source(&self, k: usize) -> Option<&Arc<Actor>> {
        self.sources.get(k)?.as_ref().ok()
    }

    fn target(&self) -> Option<&Arc<Actor>> {
        self.target.as_ref()?.as_ref().ok()
    }

    /// What the map of a source depends on.
    fn key(&self, k: usize, setup: &Setup) -> Option<MapKey> {
        Some(MapKey::of(
            setup.sources.get(k)?,
            self.source(k)?,
            self.target()?,
        ))
    }

    /// What the maps of all sources depend on, once all are there.
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
        self.cast.sources = setup
            .sources
            .iter()
            .map(|source| self.stage.actor(&source.clip, cx))
            .collect();
        self.cast.target = (!setup.target.is_empty()).then(|| self.stage.actor(&setup.target, cx));
        self.maps.update(cx);
        self.suggesting.update(|k| self.cast.key(k, setup), cx);
        self.brush.update(cx);
        self.run.update(&mut self.maps, cx);
        self.recipe_file.update(cx);
        self.chooser.source = self.arrivals.update(cx).unwrap_or(self.chooser.source);
        self.update_marks(setup, cx);
        self.want_maps(setup, cx);
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
            hand,
            suggesting,
            marks,
            cast,
            regions,
            brush,
            preview,
            ..
        } = self;
        match tool {
            Tool::Markers => {
                let actors = cast.source(source).zip(cast.target()).map(|(a, b)| [a, b]);
                marker_list::markers_ui(hand, suggesting, marks, source, actors, ui, cx);
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
            Tool::Turn => regions.turns_ui(preview.as_ref(), ui, cx),
        }
        ui.separator();
        self.map_ui(source, ui, cx);
        ui.separator();
        let names: Vec<(String, usize)> = clip_lengths(&cx.document.transfer, &self.cast);
        let frames = move |name: &str| {
            names
                .iter()
                .find(|(known, _)| known == name)
                .map_or(0, |(_, frames)| *frames)
        };
        self.layers.layers_ui(&frames, ui, cx);
        ui.separator();
        let keys = self
            .cast
            .keys(&cx.document.transfer)
            .filter(|keys| !keys.is_empty());
        self.recipe_file.recipe_ui(keys.is_some(), ui, cx);
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        self.under_pointer = None;
        vec![self.source_pane(cx), self.target_pane(cx)]
    }

    fn canvas_ui(&mut self, on: &On<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        if on.canvas.response.contains_pointer() {
            self.under_pointer = Some(on.pane);
        }
        let source = self.chooser.source(&cx.document.transfer);
        let used = match self.tool {
            Tool::Markers => self.hand.canvas_ui(on, &self.marks, source, ui, cx),
            Tool::Regions if on.pane == 1 => self.brush_ui(on, ui, cx),
            Tool::Turn if on.pane == 1 => self.turn_ui(on, ui, cx),
            Tool::Regions | Tool::Turn => false,
        };
        if self.tool == Tool::Markers {
            self.hand.paint(on, &self.marks, ui);
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
        "Drop clips as sources on the left, and the mesh that is to move on the right"
    }

    fn accept(&mut self, path: &Path, _cx: &mut Cx<'_>) -> bool {
        let place = match self.under_pointer {
            Some(0) => Place::Source,
            Some(_) => Place::Target,
            None => Place::Unsaid,
        };
        let known = arrivals::is_known(path);
        if known {
            self.arrivals.take(path.to_owned(), place);
        }
        known
    }

    fn take_files(&mut self, what: &'static str, paths: Vec<PathBuf>, cx: &mut Cx<'_>) {
        let place = match what {
            assets::SOURCE => Place::Source,
            assets::TARGET => Place::Target,
            _ => Place::Unsaid,
        };
        if what == recipe_file::SAVE {
            if let (Some(path), Some(keys)) = (
                paths.into_iter().next(),
                self.cast.keys(&cx.document.transfer),
            ) {
                self.recipe_file.save(keys, path, cx);
            }
            return;
        }
        paths
            .into_iter()
            .for_each(|path| self.arrivals.take(path, place));
    }

    fn exports(&mut self, cx: &mut Cx<'_>) -> Vec<Exportable> {
        let (setup, folder) = (cx.document.transfer.clone(), cx.library.folder().to_owned());
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
        let keys = self.cast.keys(&setup).filter(|keys| !keys.is_empty());
        let recipe = keys.map(|keys| {
            let make = move |path: &Path| recipe_file::recipe_files(&setup, &keys, path);
            Exportable::files("Recipe of the transfer", recipe_file::recipe_kind(), make)
        });
        result.into_iter().chain(recipe).collect()
    }

    fn busy(&self) -> bool {
        self.stage.busy()
            || self.players.iter().any(Player::busy)
            || self.judge.busy()
            || self.suggesting.busy()
            || self.maps.busy()
            || self.brush.busy()
            || self.previewer.busy()
            || self.run.busy()
            || self.recipe_file.busy()
            || self.arrivals.busy()
    }
}

/// The keys of the room, for the sheet.
pub const SHORTCUTS: &[crate::help::Sheet] = &[(
    "Transfer",
    &[
        (
            "Click",
            "Place a marker, then its partner on the other side",
        ),
        ("Drag a marker", "Move it over the surface"),
        ("Del", "Delete the selected pair"),
        ("Esc", "Let go of a marker that waits for its partner"),
        ("Ctrl+brush", "Erase a region; paint while Erase is chosen"),
        ("Drag a ring", "Turn a region; with Ctrl in steps of 15°"),
    ],
)];

const COLORS: [(Colors, &str, &str); 4] = [
    (Colors::Clay, "Clay", "Nothing but the shapes"),
    (
        Colors::Flexibility,
        "Flexibility",
        "Where the clip bends: markers matter there",
    ),
    (
        Colors::Map,
        "Map quality",
        "How far partners are apart; grey found none",
    ),
    (Colors::Regions, "Regions", "What follows which clip"),
];

impl TransferRoom {
    /// The tool, with the colours that serve it.
    fn tool_ui(&mut self, ui: &mut Ui) {
        let tools = [
            (
                Tool::Markers,
                "Markers",
                "Click the same spot on source and target",
            ),
            (
                Tool::Regions,
                "Scribble regions",
                "Brush over parts of the target",
            ),
            (
                Tool::Turn,
                "Turn regions",
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
        self.hand.selected = self.hand.selected.filter(|&pair| pair < pairs.len().max(1));
        self.marks = match (self.cast.source(source), self.cast.target()) {
            (Some(a), Some(b)) => {
                let mirrored = setup
                    .sources
                    .get(source)
                    .is_some_and(|source| source.mirrored);
                self.judge.marks([a, b], &pairs, mirrored, cx.wake)
            }
            _ => Arc::new(Marks::placed(&pairs)),
        };
    }

    /// Starts the maps that what is shown needs.
    fn want_maps(&mut self, setup: &Setup, cx: &mut Cx<'_>) {
        let regions = !setup.regions.is_empty()
            && (self.colors == Colors::Regions && self.regions.refined || self.tool == Tool::Turn);
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
            if let Some(key) = self.cast.key(k, setup).filter(|_| {
                !self.maps.busy() && !self.hand.drags() && (colored || regions && (used || lowest))
            }) {
                self.maps.want(&key, &source.name, cx);
            }
        }
    }

    fn update_preview(&mut self, setup: &Setup, cx: &Cx<'_>) {
        let wanted = self.colors == Colors::Regions || self.tool == Tool::Turn;
        let Some(target) = self
            .cast
            .target()
            .filter(|_| wanted && !setup.regions.is_empty())
        else {
            self.preview = None;
            return;
        };
        let mapped = |(k, source): (usize, &SourceSetup)| {
            let map = self.maps.get(&self.cast.key(k, setup)?)?;
            Some(Mapped {
                name: source.name.clone(),
                source: self.cast.source(k)?.clone(),
                map,
            })
        };
        let mapped = setup
            .sources
            .iter()
            .enumerate()
            .filter_map(mapped)
            .collect();
        let question = Question {
            setup: setup.clone(),
            target: target.clone(),
            mapped,
            refined: self.regions.refined,
        };
        self.preview = self.previewer.preview(question, cx.wake).cloned();
    }

    fn turn_ui(&self, on: &On<'_>, ui: &Ui, cx: &mut Cx<'_>) -> bool {
        self.cast
            .target()
            .is_some_and(|target| self.regions.turn_on_canvas_ui(on, target, ui, cx))
    }

    fn brush_ui(&mut self, on: &On<'_>, ui: &Ui, cx: &mut Cx<'_>) -> bool {
        let document = cx.document;
        let (Some(target), Some(region)) =
            (self.cast.target(), self.regions.region(&document.transfer))
        else {
            return false;
        };
        self.brush.canvas_ui(on, target, region, ui, cx)
    }

    /// What to do next, in a pane.
    fn hint(&self, pane: usize, cx: &Cx<'_>) -> Option<&'static str> {
        let ready = self.cast.target().is_some() && !cx.document.transfer.sources.is_empty();
        match (self.tool, pane, self.hand.pending) {
            (Tool::Markers, 1, Some((0, _))) => Some("Click the same spot here"),
            (Tool::Markers, 0, Some((1, _))) => Some("Click the same spot here"),
            (Tool::Markers, 0, None) if ready && self.marks.marks.is_empty() => {
                Some("Click a spot, such as the nose")
            }
            (Tool::Regions, 1, _) if cx.document.transfer.regions.is_empty() => {
                Some("Add a region, then brush over it here")
            }
            _ => None,
        }
    }
}

fn clip_lengths(setup: &Setup, cast: &Cast) -> Vec<(String, usize)> {
    let length = |(k, source): (usize, &SourceSetup)| {
        Some((source.name.clone(), cast.source(k)?.clip()?.frames().len()))
    };
    setup
        .sources
        .iter()
        .enumerate()
        .filter_map(length)
        .collect()
}

/// The examples of the room.
#[must_use]
pub fn examples() -> Vec<Example> {
    vec![
        ("The tapir walks like the hound", walking_tapir),
        ("Hound and tapir, without markers", hound_and_tapir),
    ]
}

/// The hound's walk for the tapir, with markers.
#[must_use]
pub fn walking_tapir() -> Document {
    let mut document = hound_and_tapir();
    document.transfer.sources[0].pairs = Arc::new(pliant::specimens::markers());
    document
}

/// The hound's walk for the tapir, to place markers oneself.
#[must_use]
pub fn hound_and_tapir() -> Document {
    let mut transfer = Setup::default();
    transfer.set_target("specimen:tapir".into());
    transfer.add_source("specimen:hound#walk".into());
    let timeline = Timeline {
        frames_per_second: 30.0,
        last_frame: 31,
        ..Timeline::default()
    };
    Document {
        timeline,
        transfer,
        ..Document::default()
    }
}
