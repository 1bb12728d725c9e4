//! The labels of what is on the canvas and where they are, for tests that press what a person sees.

use eframe::egui;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(js_namespace = pliant)]
extern "C" {
    /// The labels and their middles, as JSON.
    #[wasm_bindgen(js_name = labels)]
    fn report_labels(json: &str);
}

/// Reports the labels of every frame.
pub(crate) struct Labels;

impl egui::Plugin for Labels {
    fn debug_name(&self) -> &'static str {
        "labels"
    }

    fn output_hook(&mut self, _: &egui::Context, output: &mut egui::FullOutput) {
        let Some(update) = &output.platform_output.accesskit_update else {
            return;
        };
        let place = |node: &egui::accesskit::Node| {
            let label = node.label().or(node.value())?.to_owned();
            let bounds = node.bounds()?;
            let middle = [(bounds.x0 + bounds.x1) / 2.0, (bounds.y0 + bounds.y1) / 2.0];
            Some((label, middle, !node.is_disabled()))
        };
        let labels: Vec<_> = update
            .nodes
            .iter()
            .filter_map(|(_, node)| place(node))
            .collect();
        report_labels(&serde_json::to_string(&labels).unwrap_or_default());
    }
}
