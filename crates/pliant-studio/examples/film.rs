//! The frames of the animated picture in the README: a drag, a press and a blend in the studio.
//!
//! Usage: `film FOLDER`. Writes `FOLDER/000.png` and so on; `docs/pictures.sh` joins them.

#[path = "../tests/journey/mod.rs"]
mod journey;

use std::error::Error;
use std::path::{Path, PathBuf};

use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Vec2, vec2};
use journey::Journey;
use pliant::mesh::glam::DVec3;
use pliant_studio::model::blend;
use pliant_studio::model::document::{Character, Document};
use pliant_studio::model::room::RoomName;
use pliant_studio::model::touch::press_a_cheek;

/// Vertices of the built-in head.
const LEFT_MOUTH_CORNER: usize = 4686;
const CHEEK: usize = 2134;

/// Pictures of each gesture.
const STEPS: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("name a folder for the frames")?;
    std::fs::create_dir_all(&folder)?;
    let mut film = Film {
        folder: folder.into(),
        frames: 0,
    };

    film.drag_a_smile()?;
    film.press_a_cheek()?;
    film.bend_a_bar()
}

/// A folder of numbered pictures.
struct Film {
    folder: PathBuf,
    frames: usize,
}

impl Film {
    fn drag_a_smile(&mut self) -> Result<(), Box<dyn Error>> {
        let mut journey = opened(head(), RoomName::Pose)?;
        journey.press(Modifiers::NONE, Key::F);
        let corner = on_screen(&journey, neutral()?[LEFT_MOUTH_CORNER]);
        self.gesture(&mut journey, corner, vec2(22.0, -44.0))
    }

    fn press_a_cheek(&mut self) -> Result<(), Box<dyn Error>> {
        let mut journey = opened(press_a_cheek(), RoomName::Touch)?;
        let cheek = on_screen(&journey, neutral()?[CHEEK]);
        self.gesture(&mut journey, cheek, vec2(-20.0, -30.0))
    }

    fn bend_a_bar(&mut self) -> Result<(), Box<dyn Error>> {
        for step in 0..=STEPS / 2 {
            let share = 2.0 * step as f64 / STEPS as f64;
            let mut document = blend::bar_around_a_cylinder();
            document.blend.weights = vec![1.0 - share, share];

            let mut journey = opened(document, RoomName::Blend)?;
            self.shoot(&mut journey, None)?;
        }

        Ok(())
    }

    /// Presses at a point, goes along a line, and takes a picture after each step.
    fn gesture(
        &mut self,
        journey: &mut Journey,
        start: Pos2,
        displacement: Vec2,
    ) -> Result<(), Box<dyn Error>> {
        journey.harness.event(Event::PointerMoved(start));
        journey.settle();
        self.shoot(journey, Some(start))?;
        journey.harness.event(button(start, true));

        for step in 1..=STEPS {
            let share = step as f32 / STEPS as f32;
            let point = start + displacement * share;
            journey.harness.event(Event::PointerMoved(point));
            journey.settle_held();
            self.shoot(journey, Some(point))?;
        }

        let end = start + displacement;
        journey.harness.event(button(end, false));
        journey.settle();
        self.shoot(journey, None)
    }

    /// Stores the window as the next picture, with a mark at the pointer.
    fn shoot(
        &mut self,
        journey: &mut Journey,
        pointer: Option<Pos2>,
    ) -> Result<(), Box<dyn Error>> {
        let mut image = journey.harness.render()?;
        if let Some(pointer) = pointer {
            for (x, y, pixel) in image.enumerate_pixels_mut() {
                let distance = (Pos2::new(x as f32, y as f32) - pointer).length();
                if (7.0..9.0).contains(&distance) {
                    pixel.0 = [255, 176, 32, 255];
                }
            }
        }

        let name = format!("{:03}.png", self.frames);
        image.save(Path::new(&self.folder).join(name))?;
        self.frames += 1;
        Ok(())
    }
}

fn opened(document: Document, room: RoomName) -> Result<Journey, Box<dyn Error>> {
    Journey::start(document, room).ok_or_else(|| "no graphics adapter on this machine".into())
}

fn head() -> Document {
    Document {
        character: Character {
            asset: "specimen:head".into(),
            ..Character::default()
        },
        ..Document::default()
    }
}

fn neutral() -> Result<Vec<DVec3>, Box<dyn Error>> {
    let rig = pliant::load("specimen:head")?.rig()?;
    Ok(rig.neutral().positions().to_vec())
}

fn on_screen(journey: &Journey, point: DVec3) -> Pos2 {
    let view = journey.view(0);
    view.project(point)
        .expect("the point is in front of the camera")
}

fn button(pos: Pos2, pressed: bool) -> Event {
    Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    }
}
