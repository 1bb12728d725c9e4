//! A virtual screen with a pointer: Xvfb and xdotool.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a window may take to appear or to follow, on a slow and busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A screen of 1440 × 900 points.
pub(crate) struct Screen {
    server: Child,
    display: String,
    folder: TempDir,
}

/// What is on a screen: rows of red, green, blue.
pub(crate) struct Picture {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<[u8; 3]>,
}

impl Screen {
    /// Starts one; without the programs a test is skipped and says so, or fails where they are
    /// required.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub(crate) fn start_or_skip() -> Option<Self> {
        let there = |program: &str| {
            Command::new(program)
                .arg("-version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok()
        };

        if !there("Xvfb") || !there("xdotool") {
            assert!(
                std::env::var_os("PLIANT_REQUIRE_ADAPTER").is_none(),
                "no Xvfb or xdotool; install xvfb and xdotool"
            );
            eprintln!("skipped: no Xvfb or xdotool on this machine");
            return None;
        }

        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("Xvfb");
        server
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1440x900x24",
                "-nolisten",
                "tcp",
                "-fbdir",
            ])
            .arg(folder.path());

        let mut server = server
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();

        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();

        Some(Self {
            server,
            display: format!(":{}", number.trim()),
            folder,
        })
    }

    /// A program on this screen.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("DISPLAY", &self.display)
            .env_remove("WAYLAND_DISPLAY");
        command
    }

    /// Moves the pointer, presses and types.
    pub(crate) fn xdotool(&self, arguments: &[&str]) {
        let done = self.command("xdotool").args(arguments).status().unwrap();
        assert!(done.success(), "xdotool {arguments:?}");
    }

    /// Drags with the left button along a way.
    pub(crate) fn drag(&self, way: &[[f32; 2]]) {
        let to = |[x, y]: [f32; 2]| {
            self.xdotool(&["mousemove", &x.round().to_string(), &y.round().to_string()])
        };
        to(way[0]);
        sleep(Duration::from_millis(200));
        self.xdotool(&["mousedown", "1"]);

        for &place in &way[1..] {
            to(place);
            sleep(Duration::from_millis(40));
        }

        sleep(Duration::from_millis(600));
        self.xdotool(&["mouseup", "1"]);
        sleep(Duration::from_millis(300));
    }

    /// Clicks.
    pub(crate) fn click(&self, [x, y]: [f32; 2]) {
        self.xdotool(&["mousemove", &x.round().to_string(), &y.round().to_string()]);
        sleep(Duration::from_millis(200));
        self.xdotool(&["click", "1"]);
        sleep(Duration::from_millis(300));
    }

    /// Presses keys, such as `ctrl+s`.
    pub(crate) fn press(&self, keys: &str) {
        self.xdotool(&["key", keys]);
        sleep(Duration::from_millis(300));
    }

    /// What is on the screen: X's own dump, header and colours before 32 bits per point.
    pub(crate) fn picture(&self) -> Picture {
        let bytes = fs::read(self.folder.path().join("Xvfb_screen0")).unwrap();
        let field =
            |k: usize| u32::from_be_bytes(bytes[4 * k..4 * k + 4].try_into().unwrap()) as usize;
        let header = field(0);
        let width = field(4);
        let height = field(5);
        let row = field(12);
        let colors = field(19);
        let begin = header + 12 * colors;

        let point = |y: usize, x: usize| {
            let at = begin + y * row + 4 * x;
            [bytes[at + 2], bytes[at + 1], bytes[at]]
        };

        let rgb = (0..height)
            .flat_map(|y| (0..width).map(move |x| (y, x)))
            .map(|(y, x)| point(y, x))
            .collect();

        Picture { width, height, rgb }
    }

    /// Waits until the screen says so.
    pub(crate) fn wait_until(&self, what: &str, fine: impl Fn(&Picture) -> bool) -> Picture {
        let started = Instant::now();
        loop {
            let picture = self.picture();
            if fine(&picture) {
                return picture;
            }
            assert!(started.elapsed() < PATIENCE, "{what} did not come");
            sleep(Duration::from_millis(200));
        }
    }
}

impl Picture {
    /// How many points differ visibly from another picture's.
    pub(crate) fn differences(&self, other: &Self) -> usize {
        let far = |(a, b): (&[u8; 3], &[u8; 3])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 24);
        self.rgb
            .iter()
            .zip(&other.rgb)
            .filter(|pair| far(*pair))
            .count()
    }

    /// How many points are lighter or more colourful than panels and background: those of a model.
    pub(crate) fn highlighted(&self) -> usize {
        let highlighted =
            |[r, g, b]: &[u8; 3]| r.max(g).max(b) > &130 || r.max(g).max(b) - r.min(g).min(b) > 40;
        self.rgb.iter().filter(|point| highlighted(point)).count()
    }

    /// Keeps it for the user to look at, where `PLIANT_PICTURES` names a folder.
    pub(crate) fn keep(&self, name: &str) {
        let Some(folder) = std::env::var_os("PLIANT_PICTURES") else {
            return;
        };

        let file =
            fs::File::create(std::path::Path::new(&folder).join(format!("{name}.png"))).unwrap();
        let mut encoder = png::Encoder::new(file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder
            .write_header()
            .unwrap()
            .write_image_data(self.rgb.as_flattened())
            .unwrap();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
