//! Propagation of windows over the surface in the order of their distance.

use std::f64::consts::PI;

use super::bucket_queue::BucketQueue;
use super::unfolding::{Bend, Unfolding, following, preceding};
use super::window::{Beam, TIE, length};
use crate::{Progress, Stopped, Topology};

/// Windows narrower than this part of their edge are rounding, not light.
const NARROW: f64 = 1e-14;
/// Width of a bucket of the queue, relative to the mean edge length. Measured with the bench
/// `exact_disc`: a third of it or three times as much costs up to 5 % more; at one edge length an
/// eighth more windows are crossed.
const BUCKET_WIDTH: f64 = 0.1;
/// Shadows are taken wider by this angle, in radians: light too much is only work.
const SHADOW_ROUNDING: f64 = 1e-6;

/// An entry of the queue.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A beam that enters a triangle through `side`; it last bent at the vertex `root`, or
    /// [`Topology::NONE`].
    Window { beam: Beam, side: u32, root: u32 },
    /// A vertex from which light spreads.
    Vertex {
        vertex: u32,
        distance: f64,
        arrival: Option<Arrival>,
    },
}

/// A ray that reaches the apex of a triangle through a point of `side`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) side: u32,
    pub(super) entry: f64,
}

/// A triangle seen from one end of the side that a window entered: that end at the origin, the
/// third vertex `base` along, the apex above.
#[derive(Clone, Copy)]
struct Frame {
    near: u32,
    third: u32,
    base: f64,
    apex: [f64; 2],
}

/// The best ray so far from one side of a triangle to its apex.
#[derive(Debug, Clone, Copy)]
struct Splitter {
    distance: f64,
    entry: f64,
}

const UNLIT: Splitter = Splitter {
    distance: f64::INFINITY,
    entry: 0.0,
};

/// State of a sweep. Between sweeps all distances are infinite and the lists are empty, so that a
/// cost of a sweep depends only on the region that it reaches.
#[derive(Debug, Clone)]
pub(super) struct Wavefront {
    distances: Vec<f64>,
    splitters: Vec<Splitter>,
    reached: Vec<u32>,
    split: Vec<u32>,
    queue: BucketQueue<Event>,
}

impl Wavefront {
    pub(super) fn new(unfolding: &Unfolding, vertices: usize) -> Self {
        Self {
            distances: vec![f64::INFINITY; vertices],
            splitters: vec![UNLIT; unfolding.sides().len()],
            reached: Vec::new(),
            split: Vec::new(),
            queue: BucketQueue::new(BUCKET_WIDTH * unfolding.mean_length()),
        }
    }

    pub(super) fn distance(&self, vertex: u32) -> f64 {
        self.distances[vertex as usize]
    }

    /// Vertices with a finite distance, in the order of their discovery.
    pub(super) fn reached(&self) -> &[u32] {
        &self.reached
    }

    /// Makes ready for the next sweep after one that did not end.
    pub(super) fn abandon(&mut self) {
        self.queue.clear();
        self.clear();
    }

    /// Makes ready for the next sweep.
    pub(super) fn clear(&mut self) {
        for v in self.reached.drain(..) {
            self.distances[v as usize] = f64::INFINITY;
        }
        for s in self.split.drain(..) {
            self.splitters[s as usize] = UNLIT;
        }
    }
}

/// One sweep over one pose, no further than `limit`.
pub(super) struct Sweep<'a> {
    pub(super) unfolding: &'a Unfolding,
    pub(super) topology: &'a Topology,
    pub(super) front: &'a mut Wavefront,
    pub(super) limit: f64,
}

/// Limits on the events of a sweep; more of them mean coincident surfaces. Scans of 200k vertices
/// take a few hundred per vertex.
const MIN_EVENT_LIMIT: usize = 1_000_000;
const EVENTS_PER_VERTEX: usize = 10_000;

/// Events between two reports of progress. *Chosen*: about a millisecond.
const EVENTS_PER_REPORT: usize = 4096;

impl Sweep<'_> {
    /// Takes windows and vertices in the order of their distance until none is left; `false` where
    /// their number exceeds the limit, as on coincident surfaces.
    pub(super) fn run(&mut self, progress: &dyn Progress) -> Result<bool, Stopped> {
        let vertices = self.front.distances.len();
        let mut events = 0;
        while let Some(event) = self.front.queue.pop() {
            if events % EVENTS_PER_REPORT == 0 {
                let reached = self.front.reached.len();
                progress.proceed("measuring distances", reached as f64 / vertices as f64)?;
            }
            events += 1;
            if events > MIN_EVENT_LIMIT + EVENTS_PER_VERTEX * self.front.reached.len() {
                return Ok(false);
            }

            match event {
                Event::Window { beam, side, root } => self.cross(beam, side, root),
                Event::Vertex {
                    vertex,
                    distance,
                    arrival,
                } => self.propagate_from_vertex(vertex, distance, arrival),
            }
        }

        Ok(true)
    }

    /// Gives `vertex`, the apex of the triangle into which `arrival` leads, a distance if it is
    /// shorter.
    pub(super) fn arrive(&mut self, vertex: u32, distance: f64, arrival: Arrival) {
        if self.improve(vertex, distance) {
            self.enqueue(
                distance,
                Event::Vertex {
                    vertex,
                    distance,
                    arrival: Some(arrival),
                },
            );
        }
    }

    /// Gives `vertex` a distance if it is shorter, and lets light spread from it in all directions.
    pub(super) fn add_source(&mut self, vertex: u32, distance: f64) {
        if self.improve(vertex, distance) {
            self.enqueue(
                distance,
                Event::Vertex {
                    vertex,
                    distance,
                    arrival: None,
                },
            );
        }
    }

    fn improve(&mut self, vertex: u32, distance: f64) -> bool {
        let known = &mut self.front.distances[vertex as usize];
        if distance >= *known {
            return false;
        }
        if known.is_infinite() {
            self.front.reached.push(vertex);
        }
        *known = distance;
        true
    }

    fn enqueue(&mut self, distance: f64, event: Event) {
        if distance <= self.limit {
            self.front.queue.push(distance, event);
        }
    }

    /// Light from a vertex: along its edges, which bounds the error of windows by rounding among
    /// needles, and, where paths may bend, into its shadow or all its triangles.
    fn propagate_from_vertex(&mut self, vertex: u32, travelled: f64, arrival: Option<Arrival>) {
        if self.front.distance(vertex) < travelled {
            return; // A shorter path was found since; that event is in the queue.
        }

        let around = self.topology.vertex_triangles().row(vertex as usize);
        for &triangle in around {
            let opposite = self.unfolding.side_opposite(triangle, vertex);
            let (before, after) = (preceding(opposite), following(opposite));
            let ends = *self.unfolding.side(opposite);
            let [to_start, to_end] = [before, after].map(|side| self.unfolding.side(side).length);

            // Seen from the end, the vertex is the start of the side across; seen from the start,
            // the end of it.
            self.arrive(
                ends.end,
                travelled + to_end,
                Arrival {
                    side: before,
                    entry: 0.0,
                },
            );

            self.arrive(
                ends.start,
                travelled + to_start,
                Arrival {
                    side: after,
                    entry: to_end,
                },
            );
        }

        // Light spreads from sources and, past a vertex that was reached by a ray, only where the
        // shortest path may bend.
        match (arrival, self.unfolding.bend(vertex, self.topology)) {
            (Some(_), Bend::Never) => {}
            (Some(arrival), Bend::Shadow { around }) => {
                self.propagate_into_shadow(vertex, travelled, arrival, around)
            }
            _ => {
                for &triangle in around {
                    let side = self.unfolding.side_opposite(triangle, vertex);
                    self.leave_whole(side, self.unfolding.side(side).apex, travelled, vertex);
                }
            }
        }
    }

    /// Light from a vertex into the directions that are at least π away, on both sides, from the
    /// ray that came. In other directions the path would not be straight on its shorter side.
    fn propagate_into_shadow(
        &mut self,
        vertex: u32,
        travelled: f64,
        arrival: Arrival,
        around: f64,
    ) {
        // The angle at the apex between the side's start and the ray, from the cross and dot
        // products.
        let [x, y] = self.unfolding.side(arrival.side).apex;
        let from_start = (y * arrival.entry).atan2(y * y + x * (x - arrival.entry));
        let corner = self.unfolding.angle(preceding(arrival.side));
        self.sweep_shadow(
            vertex,
            travelled,
            preceding(arrival.side),
            from_start,
            around,
        );

        // An open fan has no second path around the vertex, so that its other part is swept
        // separately.
        if around.is_infinite() {
            self.sweep_shadow(
                vertex,
                travelled,
                following(arrival.side),
                corner - from_start,
                around,
            );
        }
    }

    /// Walks around the vertex from `side`, which is `angle` away from the ray that came.
    fn sweep_shadow(
        &mut self,
        vertex: u32,
        travelled: f64,
        mut side: u32,
        mut angle: f64,
        around: f64,
    ) {
        while let Some(wedge) = self.unfolding.wedge_beyond(vertex, side) {
            // The part of this wedge that lies in the shadow, by angles from its first side.
            let begin = PI - SHADOW_ROUNDING - angle;
            let end = around - PI + SHADOW_ROUNDING - angle;
            if end < 0.0 {
                return;
            }

            if begin < wedge.angle {
                let edge = self.unfolding.side(wedge.opposite).length;
                let from = if begin > 0.0 {
                    wedge.meet(begin).min(edge)
                } else {
                    0.0
                };
                let to = if end < wedge.angle {
                    wedge.meet(end).min(edge)
                } else {
                    edge
                };

                let beam = Beam {
                    from,
                    to,
                    along: wedge.seen.along,
                    depth: wedge.seen.depth,
                    travelled,
                };

                if !self.is_dominated(&beam, wedge.seen.near, wedge.seen.far, edge) {
                    self.leave(wedge.opposite, wedge.seen.near, beam, vertex);
                }
            }

            angle += wedge.angle;
            side = wedge.left;
        }
    }

    /// Light from a point of the triangle, given in the frame of `side`, through all of that side.
    pub(super) fn leave_whole(
        &mut self,
        side: u32,
        [along, depth]: [f64; 2],
        travelled: f64,
        root: u32,
    ) {
        let edge = self.unfolding.side(side);
        let beam = Beam {
            from: 0.0,
            to: edge.length,
            along,
            depth,
            travelled,
        };

        if !self.is_dominated(&beam, edge.start, edge.end, edge.length) {
            self.leave(side, edge.start, beam, root);
        }
    }

    /// Lets a window cross its triangle: it may light the apex and leave through one or both other
    /// sides.
    fn cross(&mut self, beam: Beam, side: u32, root: u32) {
        if root != Topology::NONE && self.front.distance(root) < beam.travelled {
            return; // The vertex became nearer and was propagated again.
        }

        // The ray to the apex divides the window; either part may be empty.
        let entered = self.unfolding.side(side);
        let (entry, slack) = beam.entry_to(entered.apex, entered.length);
        let (mut left, mut right) = (entry > beam.from, entry < beam.to);

        // The window reaches the apex itself.
        if entry >= beam.from - slack && entry <= beam.to + slack {
            let distance = beam.distance_to(entered.apex);
            self.arrive(entered.opposite, distance, Arrival { side, entry });
            let (keep_left, keep_right) = self.split(side, distance, entry, slack);
            (left, right) = (left && keep_left, right && keep_right);
        }

        // The part left of the apex leaves through the preceding side …
        if left {
            let frame = Frame {
                near: entered.start,
                third: entered.end,
                base: entered.length,
                apex: entered.apex,
            };

            let lit = Beam {
                to: beam.to.min(entry),
                ..beam
            };

            self.leave_beside(
                preceding(side),
                entered.opposite,
                frame,
                lit,
                entry <= beam.to,
                root,
            );
        }

        // … the part right of it through the following one, in mirrored coordinates.
        if right {
            let apex = [entered.length - entered.apex[0], entered.apex[1]];
            let frame = Frame {
                near: entered.end,
                third: entered.start,
                base: entered.length,
                apex,
            };

            let lit = Beam {
                from: beam.from.max(entry),
                ..beam
            }
            .mirrored(entered.length);

            self.leave_beside(
                following(side),
                entered.opposite,
                frame,
                lit,
                entry >= beam.from,
                root,
            );
        }
    }

    /// Which children a window that lights the apex keeps: both if no window reached the apex
    /// through this side by a shorter path, else the one on its own side of that path, for the
    /// other would have to cross it.
    fn split(&mut self, side: u32, distance: f64, entry: f64, slack: f64) -> (bool, bool) {
        let best = &mut self.front.splitters[side as usize];
        if distance < best.distance {
            if best.distance.is_infinite() {
                self.front.split.push(side);
            }
            *best = Splitter { distance, entry };
            return (true, true);
        }

        // Ties within rounding keep both children.
        let tied = distance * (1.0 - TIE) <= best.distance;
        (
            tied || entry < best.entry + slack,
            tied || entry > best.entry - slack,
        )
    }

    /// Sends `lit` through the side from the frame's near vertex to its apex, the vertex `far`.
    #[inline(always)]
    fn leave_beside(
        &mut self,
        side: u32,
        far: u32,
        frame: Frame,
        lit: Beam,
        ends_at_apex: bool,
        root: u32,
    ) {
        let edge = self.unfolding.side(side);

        // On a boundary no triangle lies beyond.
        if edge.across == side {
            return;
        }

        let mut beam = lit.on_edge_to(frame.apex, edge.length, ends_at_apex);
        if self.is_dominated(&beam, frame.near, far, edge.length) {
            return;
        }

        // The parts of the window that the ends of the edge reach by shorter paths are cut off.
        beam.from = beam
            .from
            .max(beam.dominated_up_to(self.front.distance(frame.near)));
        beam.to = beam.to.min(
            edge.length
                - beam
                    .mirrored(edge.length)
                    .dominated_up_to(self.front.distance(far)),
        );

        // Every ray crosses the line from the third vertex to the beam's start.
        let fraction = beam.from / edge.length;
        let [x, y] = frame.apex;
        let line = length(frame.base - fraction * x, fraction * y);

        if !beam.is_longer(beam.from, self.front.distance(frame.third) + line) {
            self.leave(side, frame.near, beam, root);
        }
    }

    /// Sends `beam` (counted from `near`) through `side` into all other triangles of its edge.
    #[inline(always)]
    fn leave(&mut self, side: u32, near: u32, beam: Beam, root: u32) {
        let edge = self.unfolding.side(side);
        let visible = beam.to - beam.from > NARROW * edge.length && beam.depth > 0.0;
        let nearest = beam.least_distance();
        if !visible || nearest > self.limit {
            return; // `visible` is also false where rounding has swapped the ends.
        }

        // Each triangle beyond measures lengths from the start of its own side.
        let mut beyond = edge.across;
        while beyond != side {
            let entered = self.unfolding.side(beyond);
            let beam = if entered.start == near {
                beam
            } else {
                beam.mirrored(entered.length)
            };

            self.front.queue.push(
                nearest,
                Event::Window {
                    beam,
                    side: beyond,
                    root,
                },
            );

            beyond = entered.across;
        }
    }

    /// Whether paths from the ends of the edge are shorter at every lit place.
    #[inline(always)]
    fn is_dominated(&self, beam: &Beam, near: u32, far: u32, edge: f64) -> bool {
        beam.is_longer(beam.to, self.front.distance(near) + beam.to)
            || beam.is_longer(beam.from, self.front.distance(far) + (edge - beam.from))
    }
}
