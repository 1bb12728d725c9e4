//! One moment of an animation, shaded beside the window.

use std::sync::Arc;

use pliant::mesh::glam::DVec3;

use super::stage::Actor;
use crate::blob::Blob;
use crate::timeline::made_frame;
use crate::view::Vertices;
use crate::work::{Inbox, Latest, Outbox, Wake};

/// What is to be seen of an actor.
#[derive(Debug, Clone)]
pub(super) enum Moment {
    /// It at rest.
    Rest,
    /// A frame of its own clip.
    Clip(usize),
    /// A frame of a take.
    Take(Blob, usize),
    /// A pose.
    Pose(Arc<Vec<DVec3>>),
}

impl PartialEq for Moment {
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

type Asked = (Arc<Actor>, Moment);

/// Shows moments, the newest first.
#[derive(Default)]
pub(super) struct Player {
    worker: Option<Latest<Asked, (Asked, Arc<Vertices>)>>,
    asked: Option<Asked>,
    shown: Option<(Asked, Arc<Vertices>)>,
}

fn same(a: &Asked, b: &Asked) -> bool {
    Arc::ptr_eq(&a.0, &b.0) && a.1 == b.1
}

impl Player {
    /// What to draw: the moment itself, or the one before it until it is ready.
    pub(super) fn vertices(
        &mut self,
        actor: &Arc<Actor>,
        moment: Moment,
        wake: &Wake,
    ) -> Arc<Vertices> {
        if let Some(Ok(answer)) = self.worker.as_ref().and_then(Latest::answer) {
            self.shown = Some(answer);
        }
        if moment == Moment::Rest {
            (self.asked, self.shown) = (None, None);
            return actor.rest.clone();
        }
        let asked = (actor.clone(), moment);
        if self.asked.as_ref().is_none_or(|last| !same(last, &asked)) {
            self.worker
                .get_or_insert_with(|| start(wake.clone()))
                .ask(asked.clone());
            self.asked = Some(asked);
        }
        let shown = self
            .shown
            .as_ref()
            .filter(|((of, _), _)| Arc::ptr_eq(of, actor));
        shown.map_or_else(|| actor.rest.clone(), |(_, vertices)| vertices.clone())
    }

    /// Whether another moment is on its way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }
}

fn start(wake: Wake) -> Latest<Asked, (Asked, Arc<Vertices>)> {
    Latest::new(
        "Playing",
        wake,
        |inbox: &Inbox<Asked>, outbox: &Outbox<(Asked, Arc<Vertices>)>| {
            while let Some(asked) = inbox.next() {
                let vertices = shaded(&asked.0, &asked.1);
                outbox.put(Ok((asked, vertices)));
            }
        },
    )
}

/// The actor in a moment; at rest where there is no such moment.
fn shaded(actor: &Actor, moment: &Moment) -> Arc<Vertices> {
    let count = actor.mesh.vertex_count();
    let shade = |positions: &[DVec3]| Vertices::of(&actor.mesh, positions);
    match moment {
        Moment::Rest => None,
        Moment::Clip(frame) => actor
            .clip()
            .and_then(|clip| clip.frames().get(*frame))
            .map(|positions| shade(positions)),
        Moment::Pose(positions) => Some(&**positions)
            .filter(|positions| positions.len() == count)
            .map(|positions| shade(positions)),
        Moment::Take(blob, frame) => made_frame(blob, *frame, count)
            .map(|positions| shade(&positions.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>())),
    }
    .unwrap_or_else(|| actor.rest.clone())
}
