//! Mirror pairs of vertices, found once per rig by a worker.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;
use pliant::rig::{Aim, MirrorPlane, VertexMirror};

use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::work::Task;
use crate::model::document::Locator;

/// The mirror map of the character.
#[derive(Default)]
pub(crate) struct Mirror {
    of: Locator,
    task: Option<Task<VertexMirror>>,
    found: Option<Arc<VertexMirror>>,
}

impl Mirror {
    /// Looks for the map where one is requested.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) {
        let asset = &cx.document.character.asset;
        // The mirror map is computed when mirroring is first used on a character.
        if cx.document.pose.mirrored && *asset != self.of {
            let Some(loaded) = cx.library.ready(asset) else {
                return;
            };

            (self.of, self.found) = (asset.clone(), None);
            self.task = Some(cx.start("Finding mirror pairs", move |_| {
                let mesh = loaded.rig.neutral();
                let plane = MirrorPlane::find(mesh);
                let plane = plane.ok_or_else(|| {
                    format!(
                        "{}: no symmetry plane was found; pins act on one side only.",
                        loaded.locator
                    )
                })?;

                Ok(VertexMirror::by_position(mesh, plane))
            }));
        }

        match Task::finished(&mut self.task) {
            Some(Ok(mirror)) => self.found = Some(Arc::new(mirror)),
            Some(Err(message)) => cx.notify(Notice::error(message)),
            None => {}
        }
    }

    /// The map, where mirroring is on and it is known.
    pub(crate) fn get(&self, cx: &Cx<'_>) -> Option<Arc<VertexMirror>> {
        self.found
            .clone()
            .filter(|_| cx.document.pose.mirrored && self.of == cx.document.character.asset)
    }

    /// Whether the map is being made.
    pub(crate) fn busy(&self) -> bool {
        self.task.is_some()
    }
}

/// The vertex on the other side; none on the middle line.
pub(crate) fn partner(mirror: &VertexMirror, vertex: u32) -> Option<u32> {
    mirror
        .partners()
        .get(vertex as usize)
        .copied()
        .flatten()
        .filter(|&partner| partner != vertex)
}

/// A direction that matters, seen from the other side.
pub(crate) fn mirrored_aim(mirror: &VertexMirror, aim: &Aim) -> Aim {
    let reflect = |d: &DVec3| mirror.plane().mirror_vector(*d);
    match aim {
        Aim::Across(n) => Aim::Across(reflect(n)),
        Aim::Along(n) => Aim::Along(reflect(n)),
        Aim::Point | Aim::Curve(_) => Aim::Point,
    }
}
