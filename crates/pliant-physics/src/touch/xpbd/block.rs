//! Time steps of the particles of one block.
//!
//! **Equation.** See [`soft_body`](crate::touch::xpbd::soft_body). The foundation of a node holds
//! it at its goal `g`, its rest position unless a pull moves it, with the compliance `α = s / (K
//! m)`, divided by the relative stiffness of a pull:
//!
//! ```text
//! Δλ = (g − x − α̃ λ) / (w + α̃)        Δx = w Δλ
//! ```

use pliant_linalg::portable;
use pliant_linalg::simd::{Kernel, run_vectorized};
use pliant_mesh::glam::DVec3;

use super::cluster::Cluster;
use super::soft_body::{SoftNodes, TimeSteps};
use crate::touch::projection::connections::Connections;
use crate::touch::projection::particle::{Particle, particle, place_of, put};
use crate::touch::xpbd::pull::{PullHold, PulledNode};

/// Neighbouring nodes with the constraints among them. Soft nodes come first.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    cluster: Cluster,
    soft_count: usize,
    /// Particles before the substep.
    before: Vec<Particle>,
    velocities: Vec<Particle>,
    accelerations: Vec<Particle>,
    /// Displacement of the rest shape in this frame.
    rest_displacement: Vec<DVec3>,
    /// The largest number of particles that were pushed in a substep of this frame.
    contacts: usize,
    inverse_masses: Vec<f64>,
    foundations: Vec<Foundation>,
    pulled: Vec<PulledParticle>,
    /// `e^(−ch)/h`: the factor from a displacement in a substep to the next velocity.
    velocity_factors: Vec<f64>,
}

/// The elastic foundation of a node.
#[derive(Debug, Clone, Copy)]
struct Foundation {
    goal: Particle,
    multiplier: Particle,
    compliance: f64,
    /// Relative stiffness where a pull holds the node.
    firmness: f64,
    /// `α̃` in the substeps of a frame.
    scaled_compliance: f64,
    /// `1/(w + α̃)` in the substeps of a frame.
    response: f64,
}

/// A particle that moves to the goal of a pull.
#[derive(Debug, Clone, Copy)]
struct PulledParticle {
    particle: usize,
    from: DVec3,
    to: DVec3,
}

impl Block {
    /// The soft nodes `group` and their connections.
    pub(crate) fn new(group: &[u32], connections: &Connections, body: &SoftNodes<'_>) -> Self {
        // Soft particles come first in the cluster.
        let cluster = Cluster::new(group, connections, body);
        let foundation = |&node: &u32| Foundation {
            goal: particle(body.rest[node as usize], 0.0),
            multiplier: [0.0; 4],
            compliance: body.softness[node as usize]
                / (body.constants[node as usize].foundation * body.masses[node as usize]),
            firmness: 1.0,
            scaled_compliance: 0.0,
            response: 0.0,
        };

        Self {
            soft_count: group.len(),
            before: vec![[0.0; 4]; group.len()],
            velocities: vec![[0.0; 4]; group.len()],
            accelerations: vec![[0.0; 4]; group.len()],
            rest_displacement: vec![DVec3::ZERO; group.len()],
            contacts: 0,
            inverse_masses: cluster.particles[..group.len()]
                .iter()
                .map(|p| p[3])
                .collect(),
            foundations: group.iter().map(foundation).collect(),
            pulled: Vec::new(),
            velocity_factors: vec![0.0; group.len()],
            cluster,
        }
    }

    pub(crate) fn particle(&self, place: usize) -> &Particle {
        &self.cluster.particles[place]
    }

    /// The position of a particle before the substep.
    pub(crate) fn place_before(&self, place: usize) -> DVec3 {
        place_of(&self.before[place])
    }

    pub(crate) fn particle_mut(&mut self, place: usize) -> &mut Particle {
        &mut self.cluster.particles[place]
    }

    /// Moves a particle to a position, where it is at rest: a particle deep inside another part
    /// would otherwise be ejected, and skin between two parts without room would vibrate.
    pub(crate) fn push(&mut self, place: usize, to: DVec3) {
        if place_of(&self.cluster.particles[place]) != to {
            put(&mut self.before[place], to);
            put(&mut self.cluster.particles[place], to);
        }
    }

    /// Moves a particle to a position and takes its velocity, after the end of a frame.
    pub(crate) fn stop(&mut self, place: usize, to: DVec3) {
        self.push(place, to);
        self.velocities[place] = [0.0; 4];
    }

    /// The largest number of particles that were pushed in a substep of this frame.
    pub(crate) fn contacts(&self) -> usize {
        self.contacts
    }

    /// Sets another rest shape, by node; particles move by the difference.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        for (k, &node) in self.cluster.nodes.iter().enumerate() {
            let old = self.cluster.rest[k];
            let new = rest[node as usize];
            let rest_displacement = new + (place_of(&self.cluster.particles[k]) - old);
            put(&mut self.cluster.particles[k], rest_displacement);
            if k < self.soft_count {
                self.rest_displacement[k] = new - old;
            }
        }
        self.cluster.measure(rest);
    }

    /// Keeps the rest shape for this frame.
    pub(crate) fn keep_rest(&mut self) {
        self.rest_displacement.fill(DVec3::ZERO);
    }

    /// Sets the accelerations of the next frame, by node; pinned particles have none.
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

    /// Releases all pulls.
    pub(crate) fn release_pulls(&mut self) {
        for PulledParticle { particle, .. } in self.pulled.drain(..) {
            self.cluster.particles[particle][3] = self.inverse_masses[particle];
        }
        for (foundation, rest) in self.foundations.iter_mut().zip(&self.cluster.rest) {
            (foundation.goal, foundation.firmness) = (particle(*rest, 0.0), 1.0);
        }
    }

    /// A pull holds the particle at `place`.
    pub(crate) fn pull_node(&mut self, place: usize, pulled_node: &PulledNode) {
        let goal = self.cluster.rest[place] + pulled_node.offset;
        self.foundations[place].goal = particle(goal, 0.0);
        match pulled_node.hold {
            PullHold::Spring { firmness } => self.foundations[place].firmness = firmness,
            PullHold::Fixed => {
                let from = place_of(&self.cluster.particles[place]);
                self.cluster.particles[place][3] = 0.0;
                self.pulled.push(PulledParticle {
                    particle: place,
                    from,
                    to: goal,
                });
            }
        }
    }

    /// Computes the constants of the substeps of a frame.
    pub(crate) fn prepare(&mut self, substep_secs: f64) {
        self.contacts = 0;

        // The exponential is reused between nodes of one damping rate.
        let mut last = (f64::NAN, 0.0);
        for (velocity_factors, constants) in self
            .velocity_factors
            .iter_mut()
            .zip(&self.cluster.constants)
        {
            // Neighbours usually have one material.
            if constants.damping_rate != last.0 {
                // A step of the foundation alone has amplification factors with the product
                // e^(−ch) / (1 + K h²): without the denominator, c is all of the damping.
                let kept = 1.0 + constants.foundation * substep_secs * substep_secs;
                let decay = portable::exp(-constants.damping_rate * substep_secs);
                last = (constants.damping_rate, kept * decay / substep_secs);
            }
            *velocity_factors = last.1;
        }

        for (foundation, particle) in self.foundations.iter_mut().zip(&self.cluster.particles) {
            foundation.scaled_compliance =
                foundation.compliance / (foundation.firmness * substep_secs * substep_secs);
            foundation.response = 1.0 / (particle[3] + foundation.scaled_compliance);
        }
    }

    /// Starts a substep and projects all constraints once.
    pub(crate) fn advance(&mut self, steps: TimeSteps, substep: usize) {
        run_vectorized(Substep {
            block: self,
            steps,
            substep: Some(substep),
        });
    }

    /// Projects all constraints once more.
    pub(crate) fn sweep(&mut self, steps: TimeSteps) {
        run_vectorized(Substep {
            block: self,
            steps,
            substep: None,
        });
    }

    /// Whether a strain limit is so tight that it needs sweeps of its own.
    pub(crate) fn has_tight_limit(&self) -> bool {
        self.cluster.has_tight_limit()
    }

    /// Projects the strain limits once.
    pub(crate) fn limit_strain(&mut self) {
        run_vectorized(LimitSweep(&mut self.cluster));
    }

    /// Moves soft particles to the positions `meet(from, to)` for their displacements in a substep.
    pub(crate) fn collide(
        &mut self,
        substep: usize,
        substeps: usize,
        meet: impl Fn(DVec3, DVec3) -> Option<DVec3>,
    ) {
        // Particles move with the shape at the end of the frame; their true positions lag behind by
        // the rest of its displacement.
        let ahead = |substep: usize| 1.0 - substep as f64 / substeps as f64;
        let first = ahead(substep);
        let last = if substep + 1 == substeps {
            0.0
        } else {
            ahead(substep + 1)
        };

        let mut contacts = 0;
        for k in 0..self.soft_count {
            let particle = &mut self.cluster.particles[k];
            if particle[3] == 0.0 {
                continue;
            }

            let displacement = self.rest_displacement[k];
            let place = place_of(particle);
            let to = place - displacement * last;
            if let Some(met) = meet(place_of(&self.before[k]) - displacement * first, to) {
                put(particle, if last == 0.0 { met } else { place + (met - to) });
                contacts += 1;
            }
        }

        self.contacts = self.contacts.max(contacts);
    }

    /// Computes the velocities from the last substep, at the end of a frame.
    pub(crate) fn update_velocities(&mut self) {
        for k in 0..self.soft_count {
            for c in 0..4 {
                self.velocities[k][c] =
                    (self.cluster.particles[k][c] - self.before[k][c]) * self.velocity_factors[k];
            }
        }
    }

    /// Moves soft particles by the velocities of the last frame; pinned ones have none.
    #[inline(always)]
    fn predict(&mut self, substep_secs: f64) {
        for k in 0..self.soft_count {
            let particle = &mut self.cluster.particles[k];
            let velocity = self.velocities[k];
            let acceleration = self.accelerations[k];

            self.before[k] = *particle;
            for c in 0..4 {
                particle[c] += (velocity[c] + acceleration[c] * substep_secs) * substep_secs;
            }
        }
    }

    /// Moves soft particles by the velocities of the last substep.
    #[inline(always)]
    fn continue_motion(&mut self, substep_secs: f64) {
        let count = self.soft_count;
        let moving = self.accelerations[..count]
            .iter()
            .zip(&self.velocity_factors[..count]);
        let places = self.cluster.particles[..count]
            .iter_mut()
            .zip(&mut self.before[..count]);

        for ((particle, before), (acceleration, velocity_factors)) in places.zip(moving) {
            let place = *particle;
            for c in 0..4 {
                particle[c] += ((place[c] - before[c]) * velocity_factors
                    + acceleration[c] * substep_secs)
                    * substep_secs;
            }
            *before = place;
        }
    }

    /// Moves pulled particles; `end` is the share of the frame at the end of the substep.
    fn pull(&mut self, end: f64) {
        for &PulledParticle { particle, from, to } in &self.pulled {
            put(
                &mut self.cluster.particles[particle],
                if end == 1.0 { to } else { from.lerp(to, end) },
            );
        }
    }

    /// Projects the foundation constraints.
    #[inline(always)]
    fn hold(&mut self) {
        for (particle, foundation) in self.cluster.particles[..self.soft_count]
            .iter_mut()
            .zip(&mut self.foundations)
        {
            let w = particle[3];
            for c in 0..3 {
                let step = (foundation.goal[c]
                    - particle[c]
                    - foundation.multiplier[c] * foundation.scaled_compliance)
                    * foundation.response;
                foundation.multiplier[c] += step;
                particle[c] += step * w;
            }
        }
    }
}

/// A sweep over the strain limits of a cluster.
pub(super) struct LimitSweep<'a>(pub(super) &'a mut Cluster);

impl Kernel for LimitSweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.limit_strain();
    }
}

struct Substep<'a> {
    block: &'a mut Block,
    steps: TimeSteps,
    /// The substep that begins.
    substep: Option<usize>,
}

impl Kernel for Substep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            block,
            steps,
            substep,
        } = self;

        if let Some(substep) = substep {
            if substep == 0 {
                block.predict(steps.substep_secs);
            } else {
                block.continue_motion(steps.substep_secs);
            }

            block.pull((substep + 1) as f64 / steps.substeps as f64);
            for foundation in &mut block.foundations {
                foundation.multiplier = [0.0; 4];
            }
            block.cluster.reset_multipliers();
        }

        block.hold();
        block.cluster.sweep(steps.substep_secs);
    }
}
