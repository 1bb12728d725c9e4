//! A blend as a scene has it: big meshes on a cage, obstacles in the way, in one call.
//!
//! **Problem.** Cage, balance and contact are parts by themselves; whoever blends shapes of any
//! size among obstacles needs them put together, in the same way by every program.
//!
//! **Method.** The shapes, or their [`Cage`] where they have one, are joined to a [`Blend`], which
//! goes among the obstacles as a [`ContactBlend`]. Each frame is balanced there and, with a cage,
//! carried to the full mesh.
//!
//! **Ours.** Without a cage, obstacles and self-contact a frame is that of [`Blend::at`] to the
//! bit.

use pliant_mesh::{Mesh, Progress, ProgressPart};

use crate::error::go_on;
use crate::{
    Blend, BlendOptions, Cage, CageSize, ContactBlend, ContactFrame, ContactOptions, Obstacle,
    ObstacleMotion, PhysicsError,
};

/// What a scene asks of a blend.
#[derive(Debug, Clone, Default)]
pub struct SceneOptions {
    blend: BlendOptions,
    cage: CageSize,
    contact: ContactOptions,
    obstacles: Vec<(Obstacle, ObstacleMotion)>,
}

impl SceneOptions {
    /// What holds the shapes and how balance is found, in vertices of the full mesh.
    #[must_use]
    pub fn with_blend(self, blend: BlendOptions) -> Self {
        Self { blend, ..self }
    }

    /// Whether big meshes are blended on a cage. Default: [`CageSize::Auto`].
    #[must_use]
    pub fn with_cage(self, cage: CageSize) -> Self {
        Self { cage, ..self }
    }

    /// How obstacles, and parts of the surface, meet.
    #[must_use]
    pub fn with_contact(self, contact: ContactOptions) -> Self {
        Self { contact, ..self }
    }

    /// Adds what is in the way.
    #[must_use]
    pub fn with_obstacle(mut self, obstacle: Obstacle, motion: ObstacleMotion) -> Self {
        self.obstacles.push((obstacle, motion));
        self
    }
}

/// Shapes ready to be blended in a scene.
///
/// ```
/// use pliant_mesh::{glam::DVec3, shapes};
/// use pliant_physics::{CageSize, Obstacle, ObstacleMotion, SceneBlend, SceneOptions};
///
/// // A ball becomes an egg; a smaller ball is in its way.
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
    notes: Vec<String>,
}

/// What a user should know where a cage meets obstacles.
const OBSTACLE_NOTE: &str = "obstacles push the cage; vertices of the full mesh that still reach into one are put on its surface";

/// What a user should know where parts of a cage meet.
const SELF_CONTACT_NOTE: &str =
    "parts of the cage keep out of each other; details of the full mesh may still touch";

impl SceneBlend {
    /// Builds the cage, if there is to be one, fills the shapes, joins them by springs and puts
    /// them among the obstacles.
    ///
    /// # Errors
    /// As [`Blend::new`] and [`ContactBlend::new`].
    pub fn new(shapes: &[Mesh], options: &SceneOptions) -> Result<Self, PhysicsError> {
        Self::joined(shapes, options, &())
    }

    /// As [`new`](Self::new) and [`prepare_walk`](Self::prepare_walk), watched: `progress` hears of
    /// the cage, the inside, the springs and every sample of the way.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`PhysicsError::Stopped`] if `progress` asks for it.
    pub fn ready_for_walk(
        shapes: &[Mesh],
        options: &SceneOptions,
        frames: usize,
        progress: &dyn Progress,
    ) -> Result<Self, PhysicsError> {
        // Ours: on a head, sampling takes about as long as joining.
        let mut scene = Self::joined(
            shapes,
            options,
            &ProgressPart {
                whole: progress,
                begin: 0.0,
                size: 0.5,
            },
        )?;
        scene.contact.prepare_walk_with_progress(
            frames,
            &ProgressPart {
                whole: progress,
                begin: 0.5,
                size: 0.5,
            },
        )?;
        Ok(scene)
    }

    fn joined(
        shapes: &[Mesh],
        options: &SceneOptions,
        progress: &dyn Progress,
    ) -> Result<Self, PhysicsError> {
        go_on(progress, "Looking for a cage", 0.0)?;
        let cage = Cage::build(shapes, options.cage, &options.blend)?;
        let rest = ProgressPart {
            whole: progress,
            begin: 0.3,
            size: 0.7,
        };
        let blend = match &cage {
            Some(cage) => Blend::new_with_progress(cage.shapes(), cage.options(), &rest)?,
            None => Blend::new_with_progress(shapes, &options.blend, &rest)?,
        };
        Self::put_among(cage, blend, options.obstacles.clone(), &options.contact)
    }

    /// The same shapes among other obstacles, without filling and joining them again. The next step
    /// begins at the first shape.
    ///
    /// # Errors
    /// As [`ContactBlend::new`].
    pub fn among(
        self,
        obstacles: Vec<(Obstacle, ObstacleMotion)>,
        contact: &ContactOptions,
    ) -> Result<Self, PhysicsError> {
        Self::put_among(self.cage, self.contact.into_blend(), obstacles, contact)
    }

    fn put_among(
        cage: Option<Cage>,
        blend: Blend,
        obstacles: Vec<(Obstacle, ObstacleMotion)>,
        options: &ContactOptions,
    ) -> Result<Self, PhysicsError> {
        let obstructed = !obstacles.is_empty();
        let contact = ContactBlend::new(blend, obstacles, options)?;
        let mut notes = contact.blend().notes().to_vec();
        if let Some(cage) = &cage {
            notes.extend_from_slice(cage.notes());
            notes.extend(obstructed.then(|| OBSTACLE_NOTE.to_owned()));
            notes.extend(
                contact
                    .watches_itself()
                    .then(|| SELF_CONTACT_NOTE.to_owned()),
            );
        }
        notes.extend(contact.notes());
        Ok(Self {
            cage,
            contact,
            notes,
        })
    }

    /// Gets ready for so many frames between the first two shapes, see [`Blend::prepare_walk`].
    ///
    /// # Errors
    /// A system that cannot be factored.
    pub fn prepare_walk(&mut self, frames: usize) -> Result<(), PhysicsError> {
        self.contact.prepare_walk(frames)
    }

    /// The full mesh at `weights`, with obstacles where they are at `time`, on the way from the
    /// last step, see [`ContactBlend::step`] and [`Cage::carry_contact`].
    ///
    /// # Errors
    /// As [`Blend::at`].
    pub fn step(&mut self, weights: &[f64], time: f64) -> Result<ContactFrame, PhysicsError> {
        let frame = self.contact.step(weights, time)?;
        match &self.cage {
            Some(cage) => cage.carry_contact(&frame, &self.contact),
            None => Ok(frame),
        }
    }

    /// What is balanced: the shapes, or their cage.
    #[must_use]
    pub fn blend(&self) -> &Blend {
        self.contact.blend()
    }

    /// The cage, if the mesh has one.
    #[must_use]
    pub fn cage(&self) -> Option<&Cage> {
        self.cage.as_ref()
    }

    /// What a user should know.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
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
    fn a_scene_of_nothing_else_is_the_blend_itself() {
        let shapes = ball_and_egg();
        let mut scene = SceneBlend::new(&shapes, &SceneOptions::default()).unwrap();
        let expected = Blend::new(&shapes, &BlendOptions::default())
            .unwrap()
            .at(&[0.4, 0.6])
            .unwrap();
        assert_eq!(scene.step(&[0.4, 0.6], 0.0).unwrap().shape, expected);
        assert!(scene.cage().is_none());
        assert_eq!(scene.notes(), scene.blend().notes());
    }

    #[test]
    fn a_caged_scene_gives_all_vertices_keeps_them_out_of_obstacles_and_says_so() {
        let shapes = ball_and_egg();
        let (center, radius) = (DVec3::X * 1.9, 0.5);
        let options = SceneOptions::default()
            .with_cage(CageSize::Vertices(200))
            .with_contact(ContactOptions::default().with_self_contact(true))
            .with_obstacle(
                Obstacle::sphere(center, radius).unwrap(),
                ObstacleMotion::still(),
            );
        let mut scene = SceneBlend::new(&shapes, &options).unwrap();
        scene.prepare_walk(Blend::WORTH_SAMPLING).unwrap();
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
        for note in ["cage of 200", OBSTACLE_NOTE, SELF_CONTACT_NOTE] {
            assert!(
                scene.notes().iter().any(|said| said.contains(note)),
                "{note}: {:?}",
                scene.notes()
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
    fn joining_stops_at_every_stage_and_what_is_done_only_grows() {
        let (shapes, options) = (ball_and_egg(), SceneOptions::default());
        let ready = |stage| {
            let watch = StopAt(stage, std::sync::Mutex::new(Vec::new()));
            let scene =
                SceneBlend::ready_for_walk(&shapes, &options, Blend::WORTH_SAMPLING, &watch);
            let seen = watch.1.into_inner().unwrap();
            assert!(
                seen.is_sorted() && seen.iter().all(|done| (0.0..=1.0).contains(done)),
                "{stage}: {seen:?}"
            );
            scene
        };
        for stage in [
            "Looking for a cage",
            "Filling the inside",
            "Joining springs",
            "Sampling the way",
        ] {
            assert!(
                matches!(ready(stage), Err(PhysicsError::Stopped)),
                "{stage}"
            );
        }
        let mut expected = SceneBlend::new(&shapes, &options).unwrap();
        expected.prepare_walk(Blend::WORTH_SAMPLING).unwrap();
        let watched = ready("").unwrap().step(&[0.3, 0.7], 0.0).unwrap();
        assert_eq!(
            watched,
            expected.step(&[0.3, 0.7], 0.0).unwrap(),
            "to watch changes nothing"
        );
    }

    #[test]
    fn other_obstacles_give_the_frames_of_a_scene_that_was_made_with_them() {
        let shapes = ball_and_egg();
        let ball_at = |x: f64| Obstacle::sphere(DVec3::X * x, 0.5).unwrap();
        let scene =
            |x: f64| SceneOptions::default().with_obstacle(ball_at(x), ObstacleMotion::still());
        let mut made_anew = SceneBlend::new(&shapes, &scene(1.7)).unwrap();
        let mut moved = SceneBlend::new(&shapes, &scene(1.9)).unwrap();
        moved.step(&[0.2, 0.8], 0.0).unwrap();
        let mut moved = moved
            .among(
                vec![(ball_at(1.7), ObstacleMotion::still())],
                &ContactOptions::default(),
            )
            .unwrap();
        let (frame, expected) = (
            moved.step(&[0.3, 0.7], 0.0).unwrap(),
            made_anew.step(&[0.3, 0.7], 0.0).unwrap(),
        );
        assert!(expected.contacts > 0);
        assert_eq!(frame, expected);
    }
}
