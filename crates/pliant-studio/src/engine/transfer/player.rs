//! Worker that shades one frame of an animation.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;

use super::actor::Actor;
use crate::engine::surface::Vertices;
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::blob::Blob;
use crate::model::timeline::made_frame;

/// The shown state of an actor.
#[derive(Debug, Clone)]
pub(crate) enum PlayerFrame {
    /// Its rest pose.
    Rest,
    /// A frame of its own clip.
    Clip(usize),
    /// A frame of a take.
    Take(Blob, usize),
    /// A pose.
    Pose(Arc<Vec<DVec3>>),
}

impl PartialEq for PlayerFrame {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Rest, Self::Rest) => true,
            (Self::Clip(a), Self::Clip(b)) => a == b,
            (Self::Take(a, j), Self::Take(b, k)) => (a, j) == (b, k),
            (Self::Pose(a), Self::Pose(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

type PlayerQuery = (Arc<Actor>, PlayerFrame);

/// Shows moments, the newest first.
#[derive(Default)]
pub(crate) struct Player {
    worker: Option<Latest<PlayerQuery, (PlayerQuery, Arc<Vertices>)>>,
    requested: Option<PlayerQuery>,
    shown: Option<(PlayerQuery, Arc<Vertices>)>,
}

fn same(a: &PlayerQuery, b: &PlayerQuery) -> bool {
    Arc::ptr_eq(&a.0, &b.0) && a.1 == b.1
}

impl Player {
    /// What to draw: the moment itself, or the one before it until it is ready.
    pub(crate) fn vertices(
        &mut self,
        actor: &Arc<Actor>,
        moment: PlayerFrame,
        wake: &Wake,
    ) -> Arc<Vertices> {
        if let Some(Ok(answer)) = self.worker.as_ref().and_then(Latest::result) {
            self.shown = Some(answer);
        }

        // The rest pose needs no worker.
        if moment == PlayerFrame::Rest {
            (self.requested, self.shown) = (None, None);
            return actor.rest.clone();
        }

        let requested = (actor.clone(), moment);
        if self
            .requested
            .as_ref()
            .is_none_or(|last| !same(last, &requested))
        {
            self.worker
                .get_or_insert_with(|| start(wake.clone()))
                .send(requested.clone());
            self.requested = Some(requested);
        }

        let shown = self
            .shown
            .as_ref()
            .filter(|((of, _), _)| Arc::ptr_eq(of, actor));

        shown.map_or_else(|| actor.rest.clone(), |(_, vertices)| vertices.clone())
    }

    /// Whether another moment is in progress.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }
}

fn start(wake: Wake) -> Latest<PlayerQuery, (PlayerQuery, Arc<Vertices>)> {
    Latest::new(
        "Playing",
        wake,
        |inbox: &Inbox<PlayerQuery>, outbox: &Outbox<(PlayerQuery, Arc<Vertices>)>| {
            while let Some(requested) = inbox.next() {
                let vertices = shaded(&requested.0, &requested.1);
                outbox.put(Ok((requested, vertices)));
            }
        },
    )
}

/// The actor in a moment; at rest where there is no such moment.
fn shaded(actor: &Actor, moment: &PlayerFrame) -> Arc<Vertices> {
    let count = actor.mesh.vertex_count();
    let shade = |positions: &[DVec3]| Vertices::of(&actor.mesh, positions);
    match moment {
        PlayerFrame::Rest => None,
        PlayerFrame::Clip(frame) => actor
            .clip()
            .and_then(|clip| clip.frames().get(*frame))
            .map(|positions| shade(positions)),
        PlayerFrame::Pose(positions) => Some(&**positions)
            .filter(|positions| positions.len() == count)
            .map(|positions| shade(positions)),
        PlayerFrame::Take(blob, frame) => made_frame(blob, *frame, count)
            .map(|positions| shade(&positions.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>())),
    }
    // A frame that does not fit shows the rest pose.
    .unwrap_or_else(|| actor.rest.clone())
}
