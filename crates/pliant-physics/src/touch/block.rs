//! Neighbouring particles of a soft body in motion.
//!
//! **Equation.** See [`soft_body`](super::soft_body). The bed of a node holds it at its goal `g`,
//! its rest place unless a pull moves it, with the compliance `α = s / (K m)` over the firmness of
//! a pull:
//!
//! ```text
//! Δλ = (g − x − α̃ λ) / (w + α̃)        Δx = w Δλ
//! ```

use pliant_linalg::portable;
use pliant_linalg::wide::{Kernel, run_wide};
use pliant_mesh::glam::DVec3;

use super::cluster::Cluster;
use super::connections::Connections;
use super::grip::{Grip, Hold};
use super::particle::{Particle, particle, place_of, put};
use super::soft_body::{Pace, SoftNodes};

/// Nodes that are neighbours, with the constraints among them. Soft nodes come first.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    cluster: Cluster,
    soft_count: usize,
    /// Before the substep.
    before: Vec<Particle>,
    velocities: Vec<Particle>,
    accelerations: Vec<Particle>,
    /// How far the rest shape went in this frame.
    carried: Vec<DVec3>,
    /// Particles that were pushed in a substep of this frame, at most.
    pressed: usize,
    inverse_masses: Vec<f64>,
    beds: Vec<Bed>,
    pulled: Vec<Pulled>,
    /// `e^(−ch)/h`: what makes a displacement in a substep the next velocity.
    kept: Vec<f64>,
}

/// What holds a node at a place.
#[derive(Debug, Clone, Copy)]
struct Bed {
    goal: Particle,
    multiplier: Particle,
    compliance: f64,
    /// How many times as firm as usual it is, where a pull holds it.
    firmness: f64,
    /// In the substeps of a frame: `α̃`, and `1/(w + α̃)`.
    scaled_compliance: f64,
    response: f64,
}

/// A particle on its way to where it is pulled.
#[derive(Debug, Clone, Copy)]
struct Pulled {
    particle: usize,
    from: DVec3,
    to: DVec3,
}

impl Block {
    /// The soft nodes `group` and what connects them.
    pub(crate) fn new(group: &[u32], connections: &Connections, body: &SoftNodes<'_>) -> Self {
        let cluster = Cluster::new(group, connections, body);
        let bed = |&node: &u32| Bed {
            goal: particle(body.rest[node as usize], 0.0),
            multiplier: [0.0; 4],
            compliance: body.softness[node as usize]
                / (body.constants[node as usize].bed * body.masses[node as usize]),
            firmness: 1.0,
            scaled_compliance: 0.0,
            response: 0.0,
        };
        Self {
            soft_count: group.len(),
            before: vec![[0.0; 4]; group.len()],
            velocities: vec![[0.0; 4]; group.len()],
            accelerations: vec![[0.0; 4]; group.len()],
            carried: vec![DVec3::ZERO; group.len()],
            pressed: 0,
            inverse_masses: cluster.particles[..group.len()]
                .iter()
                .map(|p| p[3])
                .collect(),
            beds: group.iter().map(bed).collect(),
            pulled: Vec::new(),
            kept: vec![0.0; group.len()],
            cluster,
        }
    }

    pub(crate) fn particle(&self, place: usize) -> &Particle {
        &self.cluster.particles[place]
    }

    pub(crate) fn particle_mut(&mut self, place: usize) -> &mut Particle {
        &mut self.cluster.particles[place]
    }

    /// Pushes a particle to a place, where it rests: what was found deep inside another part would
    /// else be shot out, and skin between two parts that leave it no room would shiver.
    pub(crate) fn push(&mut self, place: usize, to: DVec3) {
        if place_of(&self.cluster.particles[place]) != to {
            put(&mut self.before[place], to);
            put(&mut self.cluster.particles[place], to);
        }
    }

    /// How many particles were pushed in a substep of this frame, at most.
    pub(crate) fn pressed(&self) -> usize {
        self.pressed
    }

    /// Another rest shape, by node: particles are carried along by the difference.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        for (k, &node) in self.cluster.nodes.iter().enumerate() {
            let (old, new) = (self.cluster.rest[k], rest[node as usize]);
            let carried = new + (place_of(&self.cluster.particles[k]) - old);
            put(&mut self.cluster.particles[k], carried);
            if k < self.soft_count {
                self.carried[k] = new - old;
            }
        }
        self.cluster.measure(rest);
    }

    /// The rest shape stays in this frame.
    pub(crate) fn stay(&mut self) {
        self.carried.fill(DVec3::ZERO);
    }

    /// What pushes in the next frame, by node; pinned particles are not pushed.
    pub(crate) fn set_accelerations(&mut self, accelerations: &[DVec3]) {
        for k in 0..self.soft_count {
            let free = self.inverse_masses[k] > 0.0;
            self.accelerations[k] = if free {
                particle(accelerations[self.cluster.nodes[k] as usize], 0.0)
            } else {
                [0.0; 4]
            };
        }
    }

    /// Pulls hold nothing any more.
    pub(crate) fn let_go(&mut self) {
        for Pulled { particle, .. } in self.pulled.drain(..) {
            self.cluster.particles[particle][3] = self.inverse_masses[particle];
        }
        for (bed, rest) in self.beds.iter_mut().zip(&self.cluster.rest) {
            (bed.goal, bed.firmness) = (particle(*rest, 0.0), 1.0);
        }
    }

    /// A pull holds the particle at `place`.
    pub(crate) fn grip(&mut self, place: usize, grip: &Grip) {
        let goal = self.cluster.rest[place] + grip.offset;
        self.beds[place].goal = particle(goal, 0.0);
        match grip.hold {
            Hold::Softly { firmness } => self.beds[place].firmness = firmness,
            Hold::InPlace => {
                let from = place_of(&self.cluster.particles[place]);
                self.cluster.particles[place][3] = 0.0;
                self.pulled.push(Pulled {
                    particle: place,
                    from,
                    to: goal,
                });
            }
        }
    }

    /// What does not change in the substeps of a frame.
    pub(crate) fn prepare(&mut self, substep_secs: f64) {
        self.pressed = 0;
        let mut last = (f64::NAN, 0.0);
        for (kept, constants) in self.kept.iter_mut().zip(&self.cluster.constants) {
            // Neighbours are of one material.
            if constants.damping_rate != last.0 {
                // A substep by itself damps a swing of ω by ω²h.
                let rate = (constants.damping_rate - constants.bed * substep_secs).max(0.0);
                last = (
                    constants.damping_rate,
                    portable::exp(-rate * substep_secs) / substep_secs,
                );
            }
            *kept = last.1;
        }
        for (bed, particle) in self.beds.iter_mut().zip(&self.cluster.particles) {
            bed.scaled_compliance = bed.compliance / (bed.firmness * substep_secs * substep_secs);
            bed.response = 1.0 / (particle[3] + bed.scaled_compliance);
        }
    }

    /// Moves on by a substep and projects all constraints once.
    pub(crate) fn advance(&mut self, pace: Pace, substep: usize) {
        run_wide(Substep {
            block: self,
            pace,
            substep: Some(substep),
        });
    }

    /// Projects all constraints once more.
    pub(crate) fn sweep(&mut self, pace: Pace) {
        run_wide(Substep {
            block: self,
            pace,
            substep: None,
        });
    }

    /// Moves soft particles to where `meet(from, to)` says, for the way of each in a substep.
    pub(crate) fn press(
        &mut self,
        substep: usize,
        substeps: usize,
        meet: impl Fn(DVec3, DVec3) -> Option<DVec3>,
    ) {
        // Particles ride on the shape of the frame's end; where they are in truth, the rest of its
        // way is still ahead.
        let ahead = |substep: usize| 1.0 - substep as f64 / substeps as f64;
        let (first, last) = (
            ahead(substep),
            if substep + 1 == substeps {
                0.0
            } else {
                ahead(substep + 1)
            },
        );
        let mut pressed = 0;
        for k in 0..self.soft_count {
            let particle = &mut self.cluster.particles[k];
            if particle[3] == 0.0 {
                continue;
            }
            let (way, place) = (self.carried[k], place_of(particle));
            let to = place - way * last;
            if let Some(met) = meet(place_of(&self.before[k]) - way * first, to) {
                put(particle, if last == 0.0 { met } else { place + (met - to) });
                pressed += 1;
            }
        }
        self.pressed = self.pressed.max(pressed);
    }

    /// Takes velocities from the last substep: a frame is over.
    pub(crate) fn take_velocities(&mut self) {
        for k in 0..self.soft_count {
            for c in 0..4 {
                self.velocities[k][c] =
                    (self.cluster.particles[k][c] - self.before[k][c]) * self.kept[k];
            }
        }
    }

    /// Moves soft particles ahead by the velocities of the last frame; pinned ones have none.
    #[inline(always)]
    fn predict(&mut self, substep_secs: f64) {
        for k in 0..self.soft_count {
            let (particle, velocity, acceleration) = (
                &mut self.cluster.particles[k],
                self.velocities[k],
                self.accelerations[k],
            );
            self.before[k] = *particle;
            for c in 0..4 {
                particle[c] += (velocity[c] + acceleration[c] * substep_secs) * substep_secs;
            }
        }
    }

    /// The same by those of the last substep.
    #[inline(always)]
    fn move_on(&mut self, substep_secs: f64) {
        let count = self.soft_count;
        let moving = self.accelerations[..count].iter().zip(&self.kept[..count]);
        let places = self.cluster.particles[..count]
            .iter_mut()
            .zip(&mut self.before[..count]);
        for ((particle, before), (acceleration, kept)) in places.zip(moving) {
            let place = *particle;
            for c in 0..4 {
                particle[c] +=
                    ((place[c] - before[c]) * kept + acceleration[c] * substep_secs) * substep_secs;
            }
            *before = place;
        }
    }

    /// Takes pulled particles along; `end` is the share of the frame at the end of the substep.
    fn pull(&mut self, end: f64) {
        for &Pulled { particle, from, to } in &self.pulled {
            put(
                &mut self.cluster.particles[particle],
                if end == 1.0 { to } else { from.lerp(to, end) },
            );
        }
    }

    #[inline(always)]
    fn hold(&mut self) {
        for (particle, bed) in self.cluster.particles[..self.soft_count]
            .iter_mut()
            .zip(&mut self.beds)
        {
            let w = particle[3];
            for c in 0..3 {
                let step = (bed.goal[c] - particle[c] - bed.multiplier[c] * bed.scaled_compliance)
                    * bed.response;
                bed.multiplier[c] += step;
                particle[c] += step * w;
            }
        }
    }
}

struct Substep<'a> {
    block: &'a mut Block,
    pace: Pace,
    /// The substep that begins.
    substep: Option<usize>,
}

impl Kernel for Substep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            block,
            pace,
            substep,
        } = self;
        if let Some(substep) = substep {
            if substep == 0 {
                block.predict(pace.substep_secs);
            } else {
                block.move_on(pace.substep_secs);
            }
            block.pull((substep + 1) as f64 / pace.substeps as f64);
            block
                .beds
                .iter_mut()
                .for_each(|bed| bed.multiplier = [0.0; 4]);
            block.cluster.begin();
        }
        block.hold();
        block.cluster.sweep(pace.substep_secs);
    }
}
