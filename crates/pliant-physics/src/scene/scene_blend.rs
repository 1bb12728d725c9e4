//! Blend of a scene: meshes of any size, cage and obstacles in one object.
//!
//! **Problem.** Cage, blend and contact are separate parts; a program that blends shapes of any
//! size among obstacles needs them combined, always in the same order.
//!
//! **Method.** The shapes, or their [`Cage`] where they have one, become a [`Blend`] and then a
//! [`ContactBlend`] with the obstacles. Each frame is solved there and, with a cage, transferred to
//! the full mesh.
//!
//! **Departures.** Without cage, obstacles and self-contact a frame is that of [`Blend::at`] to the
//! bit.

use pliant_mesh::{Mesh, Progress, ProgressPart};

use crate::{
    Blend, BlendOptions, Cage, CageSize, ContactBlend, ContactFrame, ContactOptions, Obstacle,
    ObstacleMotion, PhysicsError,
};

/// Options of a scene.
#[derive(Debug, Clone, Default)]
pub struct SceneOptions {
    blend: BlendOptions,
    cage: CageSize,
    contact: ContactOptions,
    obstacles: Vec<(Obstacle, ObstacleMotion)>,
}

impl SceneOptions {
    /// Supports, energy and solver, in vertices of the full mesh.
    #[must_use]
    pub fn with_blend(self, blend: BlendOptions) -> Self {
        Self { blend, ..self }
    }

    /// The size of the cage. Default: [`CageSize::Auto`].
    #[must_use]
    pub fn with_cage(self, cage: CageSize) -> Self {
        Self { cage, ..self }
    }

    /// The contact options.
    #[must_use]
    pub fn with_contact(self, contact: ContactOptions) -> Self {
        Self { contact, ..self }
    }

    /// Adds an obstacle.
    #[must_use]
    pub fn with_obstacle(mut self, obstacle: Obstacle, motion: ObstacleMotion) -> Self {
        self.obstacles.push((obstacle, motion));
        self
    }
}

/// Shapes of a scene, prefactored for many frames.
///
/// ```
/// use pliant_mesh::{glam::DVec3, shapes};
/// use pliant_physics::{CageSize, Obstacle, ObstacleMotion, SceneBlend, SceneOptions};
///
/// // A ball becomes an egg next to a smaller ball.
/// let ball = shapes::icosphere(4);
/// let egg = ball.posed(ball.positions().iter().map(|p| *p * DVec3::new(1.5, 1.0, 1.0)).collect())?;
/// let obstacle = Obstacle::sphere(DVec3::X * 1.8, 0.5)?;
/// let options = SceneOptions::default().with_cage(CageSize::Vertices(300)).with_obstacle(obstacle, ObstacleMotion::still());
/// let mut scene = SceneBlend::new(&[ball, egg], &options)?;
/// let frame = scene.step(&[0.1, 0.9], 0.0)?;
/// assert!(frame.contacts > 0 && frame.shape.positions.len() == 2562);
/// # Ok::<(), pliant_physics::PhysicsError>(())
/// ```
#[derive(Debug)]
pub struct SceneBlend {
    cage: Option<Cage>,
    contact: ContactBlend,
    warnings: Vec<String>,
}

/// Warning for a cage among obstacles.
const OBSTACLE_WARNING: &str = "obstacles push the cage; vertices of the full mesh that are still inside one are moved to its surface";

/// Warning for a cage with self-contact.
const SELF_CONTACT_WARNING: &str =
    "self-contact holds for the cage; details of the full mesh may still intersect";

impl SceneBlend {
    /// Builds the cage, if there is one, fills the shapes, connects them by springs and adds the
    /// obstacles.
    ///
    /// # Errors
    /// As [`Blend::new`] and [`ContactBlend::new`].
    pub fn new(shapes: &[Mesh], options: &SceneOptions) -> Result<Self, PhysicsError> {
        Self::build(shapes, options, &())
    }

    /// As [`new`](Self::new) and [`prepare_frames`](Self::prepare_frames), with reports to
    /// `progress`.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`PhysicsError::Stopped`] if `progress` stops the work.
    pub fn new_for_frames(
        shapes: &[Mesh],
        options: &SceneOptions,
        frames: usize,
        progress: &dyn Progress,
    ) -> Result<Self, PhysicsError> {
        // Chosen: on a head, sampling takes about as long as the construction.
        let mut scene = Self::build(
            shapes,
            options,
            &ProgressPart {
                whole: progress,
                begin: 0.0,
                size: 0.5,
            },
        )?;

        scene.contact.prepare_frames_with_progress(
            frames,
            &ProgressPart {
                whole: progress,
                begin: 0.5,
                size: 0.5,
            },
        )?;

        Ok(scene)
    }

    fn build(
        shapes: &[Mesh],
        options: &SceneOptions,
        progress: &dyn Progress,
    ) -> Result<Self, PhysicsError> {
        progress.proceed("Building the cage", 0.0)?;
        let cage = Cage::build(shapes, options.cage, &options.blend)?;

        // The blend takes about two thirds of the construction.
        let rest = ProgressPart {
            whole: progress,
            begin: 0.3,
            size: 0.7,
        };

        let blend = match &cage {
            Some(cage) => Blend::new_with_progress(cage.shapes(), cage.options(), &rest)?,
            None => Blend::new_with_progress(shapes, &options.blend, &rest)?,
        };

        Self::with_contact(cage, blend, options.obstacles.clone(), &options.contact)
    }

    /// The same shapes among other obstacles, without a new construction. The next step starts at
    /// the first shape.
    ///
    /// # Errors
    /// As [`ContactBlend::new`].
    pub fn with_obstacles(
        self,
        obstacles: Vec<(Obstacle, ObstacleMotion)>,
        contact: &ContactOptions,
    ) -> Result<Self, PhysicsError> {
        Self::with_contact(self.cage, self.contact.into_blend(), obstacles, contact)
    }

    fn with_contact(
        cage: Option<Cage>,
        blend: Blend,
        obstacles: Vec<(Obstacle, ObstacleMotion)>,
        options: &ContactOptions,
    ) -> Result<Self, PhysicsError> {
        // Warnings of the blend, the cage and the contacts, in this order.
        let obstructed = !obstacles.is_empty();
        let contact = ContactBlend::new(blend, obstacles, options)?;
        let mut warnings = contact.blend().warnings().to_vec();

        if let Some(cage) = &cage {
            warnings.extend_from_slice(cage.warnings());
            warnings.extend(obstructed.then(|| OBSTACLE_WARNING.to_owned()));
            warnings.extend(
                contact
                    .has_self_contact()
                    .then(|| SELF_CONTACT_WARNING.to_owned()),
            );
        }

        warnings.extend(contact.warnings());
        Ok(Self {
            cage,
            contact,
            warnings,
        })
    }

    /// Prepares frames between the first two shapes, see [`Blend::prepare_frames`].
    ///
    /// # Errors
    /// A system that cannot be factored.
    pub fn prepare_frames(&mut self, frames: usize) -> Result<(), PhysicsError> {
        self.contact.prepare_frames(frames)
    }

    /// The frames of a clip that must be stepped, in this order, so that the `selected` ones
    /// (ascending) are those of the whole clip to the bit. Frames depend on the frames before them
    /// only where there are contacts.
    #[must_use]
    pub fn steps_for(&self, selected: &[usize]) -> Vec<usize> {
        match selected.last() {
            Some(&last) if self.contact.is_history_dependent() => (0..=last).collect(),
            _ => selected.to_vec(),
        }
    }

    /// The full mesh at `weights`, with obstacles at their positions at `time`, on the path from
    /// the last step, see [`ContactBlend::step`] and [`Cage::to_full_mesh_with_contact`].
    ///
    /// # Errors
    /// As [`Blend::at`].
    pub fn step(&mut self, weights: &[f64], time: f64) -> Result<ContactFrame, PhysicsError> {
        let frame = self.contact.step(weights, time)?;
        match &self.cage {
            Some(cage) => cage.to_full_mesh_with_contact(&frame, &self.contact),
            None => Ok(frame),
        }
    }

    /// The blend that is solved: of the shapes, or of their cage.
    #[must_use]
    pub fn blend(&self) -> &Blend {
        self.contact.blend()
    }

    /// The cage, if the mesh has one.
    #[must_use]
    pub fn cage(&self) -> Option<&Cage> {
        self.cage.as_ref()
    }

    /// Warnings about shapes, cage and contact.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::shapes::icosphere;

    fn ball_and_egg() -> [Mesh; 2] {
        let ball = icosphere(3);
        let egg = ball
            .posed(
                ball.positions()
                    .iter()
                    .map(|p| *p * DVec3::new(1.6, 0.9, 0.9))
                    .collect(),
            )
            .unwrap();

        [ball, egg]
    }

    #[test]
    fn a_scene_without_cage_and_obstacles_is_the_blend() {
        let shapes = ball_and_egg();
        let mut scene = SceneBlend::new(&shapes, &SceneOptions::default()).unwrap();
        let expected = Blend::new(&shapes, &BlendOptions::default())
            .unwrap()
            .at(&[0.4, 0.6])
            .unwrap();
        assert_eq!(scene.step(&[0.4, 0.6], 0.0).unwrap().shape, expected);
        assert!(scene.cage().is_none());
        assert_eq!(scene.warnings(), scene.blend().warnings());
    }

    /// The frames of a clip, each stepped as `steps_for` says for a piece of it.
    fn clip(options: &SceneOptions, frames: usize, selected: &[usize]) -> Vec<Vec<DVec3>> {
        let mut scene = SceneBlend::new(&ball_and_egg(), options).unwrap();
        scene.prepare_frames(frames).unwrap();
        let mut found = Vec::new();
        for k in scene.steps_for(selected) {
            let alpha = k as f64 / (frames - 1) as f64;
            let frame = scene.step(&[1.0 - alpha, alpha], alpha).unwrap();
            if selected.contains(&k) {
                found.push(frame.shape.positions);
            }
        }
        found
    }

    #[test]
    fn pieces_of_a_clip_are_the_whole_clip_to_the_bit() {
        use crate::{EnergyTerms, Solver};

        let frames = 14;
        let all: Vec<usize> = (0..frames).collect();
        let sphere = Obstacle::sphere(DVec3::X * 1.7, 0.5).unwrap();
        let blend = |energy| BlendOptions::default().with_energy(energy);
        let plain = SceneOptions::default();
        let cases = [
            plain.clone(),
            plain.clone().with_blend(blend(EnergyTerms::springs())),
            plain
                .clone()
                .with_blend(blend(EnergyTerms::springs()).with_solver(Solver::Tight)),
            plain
                .clone()
                .with_blend(blend(EnergyTerms::springs()).with_solver(Solver::Newton)),
            plain
                .clone()
                .with_blend(blend(EnergyTerms::path()).with_fixed(vec![3, 5])),
            plain.clone().with_cage(CageSize::Vertices(120)),
            plain.with_obstacle(sphere, ObstacleMotion::still()),
        ];
        for (case, options) in cases.iter().enumerate() {
            let whole = clip(options, frames, &all);
            for piece in [vec![0, 1], vec![9, 10, 13], vec![6]] {
                let part = clip(options, frames, &piece);
                for (positions, &k) in part.iter().zip(&piece) {
                    assert_eq!(*positions, whole[k], "case {case}, frame {k} of {piece:?}");
                }
            }
        }
    }

    #[test]
    fn a_scene_with_a_cage_keeps_all_vertices_out_of_obstacles_and_gives_warnings() {
        let shapes = ball_and_egg();
        let center = DVec3::X * 1.9;
        let radius = 0.5;
        let options = SceneOptions::default()
            .with_cage(CageSize::Vertices(200))
            .with_contact(ContactOptions::default().with_self_contact(true))
            .with_obstacle(
                Obstacle::sphere(center, radius).unwrap(),
                ObstacleMotion::still(),
            );

        let mut scene = SceneBlend::new(&shapes, &options).unwrap();
        scene.prepare_frames(Blend::MIN_SAMPLED_FRAMES).unwrap();
        assert_eq!(
            scene.step(&[1.0, 0.0], 0.0).unwrap().shape.positions,
            shapes[0].positions()
        );

        let last = scene.step(&[0.0, 1.0], 1.0).unwrap();
        assert!(last.contacts > 0 && last.shape.positions.len() == shapes[0].vertex_count());

        let nearest = last
            .shape
            .positions
            .iter()
            .map(|p| p.distance(center))
            .fold(f64::INFINITY, f64::min);

        assert!(
            nearest > radius - 1e-5 * shapes[0].mean_edge_length(),
            "{nearest}"
        );

        for warning in ["cage of 200", OBSTACLE_WARNING, SELF_CONTACT_WARNING] {
            assert!(
                scene.warnings().iter().any(|text| text.contains(warning)),
                "{warning}: {:?}",
                scene.warnings()
            );
        }
    }

    /// Stops the work when a stage begins, and remembers how far it was.
    struct StopAt(&'static str, std::sync::Mutex<Vec<f64>>);

    impl Progress for StopAt {
        fn report(&self, stage: &str, done: f64) -> std::ops::ControlFlow<()> {
            self.1.lock().unwrap().push(done);
            if stage == self.0 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        }
    }

    #[test]
    fn construction_stops_at_every_stage_and_progress_is_monotone() {
        let shapes = ball_and_egg();
        let blend = BlendOptions::default().with_energy(crate::EnergyTerms::springs());
        let options = SceneOptions::default().with_blend(blend);
        let ready = |stage| {
            let watch = StopAt(stage, std::sync::Mutex::new(Vec::new()));
            let scene =
                SceneBlend::new_for_frames(&shapes, &options, Blend::MIN_SAMPLED_FRAMES, &watch);
            let seen = watch.1.into_inner().unwrap();

            assert!(
                seen.is_sorted() && seen.iter().all(|done| (0.0..=1.0).contains(done)),
                "{stage}: {seen:?}"
            );

            scene
        };

        for stage in [
            "Building the cage",
            "Filling the interior",
            "Connecting springs",
            "Sampling the path",
        ] {
            assert!(
                matches!(ready(stage), Err(PhysicsError::Stopped(_))),
                "{stage}"
            );
        }

        // Without reports the frames are the same.
        let mut expected = SceneBlend::new(&shapes, &options).unwrap();
        expected.prepare_frames(Blend::MIN_SAMPLED_FRAMES).unwrap();
        let watched = ready("").unwrap().step(&[0.3, 0.7], 0.0).unwrap();

        assert_eq!(
            watched,
            expected.step(&[0.3, 0.7], 0.0).unwrap(),
            "progress reports do not change the result"
        );
    }

    #[test]
    fn replaced_obstacles_give_the_frames_of_a_new_scene() {
        let shapes = ball_and_egg();
        let ball_at = |x: f64| Obstacle::sphere(DVec3::X * x, 0.5).unwrap();
        let scene =
            |x: f64| SceneOptions::default().with_obstacle(ball_at(x), ObstacleMotion::still());
        let mut made_anew = SceneBlend::new(&shapes, &scene(1.7)).unwrap();
        let mut moved = SceneBlend::new(&shapes, &scene(1.9)).unwrap();

        moved.step(&[0.2, 0.8], 0.0).unwrap();
        let mut moved = moved
            .with_obstacles(
                vec![(ball_at(1.7), ObstacleMotion::still())],
                &ContactOptions::default(),
            )
            .unwrap();

        let frame = moved.step(&[0.3, 0.7], 0.0).unwrap();
        let expected = made_anew.step(&[0.3, 0.7], 0.0).unwrap();

        assert!(expected.contacts > 0);
        assert_eq!(frame, expected);
    }
}
