//! Live performances over the loopback interface: ten minutes of frames, floods and lines.

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use pliant::io::performance::live::encode_live_link;
use pliant::jobs::{LivePort, LiveSession};
use pliant::rig::SideUse;

/// Longer than any frame takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn session() -> LiveSession {
    let rig = pliant::load("specimen:head").unwrap().rig().unwrap();
    LiveSession::new(rig, None, SideUse::Own)
}

fn jaw(session: &LiveSession) -> usize {
    let sliders = session.sliders();
    sliders.iter().position(|name| name == "jawOpen").unwrap()
}

fn packet(frame: i32) -> Vec<u8> {
    let open = 0.5 - 0.5 * (frame as f32 / 10.0).cos();
    encode_live_link("phone", frame, 60, |name| match name {
        "JawOpen" => open,
        _ => 0.0,
    })
}

/// The memory of this process in bytes, where the system tells it.
fn resident_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(4096 * pages)
}

#[test]
fn ten_minutes_at_sixty_frames_lose_nothing_and_do_not_grow() {
    /// Ten minutes; the sender keeps as many frames ahead as a socket holds for certain.
    const FRAMES: i32 = 36_000;
    const AHEAD: i32 = 32;
    /// The first minute fills buffers.
    const WARM: i32 = 3600;
    const MOST_GROWTH: usize = 8 << 20;

    let port = LivePort::bind(0, false).unwrap();
    let mut session = session();
    let jaw = jaw(&session);
    let seen = AtomicI32::new(0);
    let began = Instant::now();

    std::thread::scope(|scope| {
        let address = port.address();
        let seen = &seen;
        scope.spawn(move || {
            let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
            for frame in 0..FRAMES {
                while frame - seen.load(Ordering::Acquire) > AHEAD {
                    assert!(
                        began.elapsed() < 10 * PATIENCE,
                        "frame {frame} is not taken"
                    );
                    std::thread::yield_now();
                }
                sender.send_to(&packet(frame), address).unwrap();
            }
        });

        let mut warm = None;
        for frame in 0..FRAMES {
            let arrival = port.receive(PATIENCE).expect("a packet");
            let secs = f64::from(frame) / 60.0;
            let live = session.receive(&arrival.bytes, secs).unwrap().unwrap();
            let open = 0.5 - 0.5 * (frame as f32 / 10.0).cos();
            assert!((live.weights[jaw] - f64::from(open)).abs() < 1e-6);
            seen.store(frame, Ordering::Release);
            if frame == WARM {
                warm = resident_bytes();
            }
        }
        if let (Some(warm), Some(end)) = (warm, resident_bytes()) {
            assert!(end < warm + MOST_GROWTH, "{warm} bytes grew to {end}");
        }
    });

    let counts = session.counts();
    assert_eq!(counts.frames, FRAMES as u64);
    assert_eq!((counts.lost, counts.late, counts.unreadable), (0, 0, 0));
    assert_eq!(port.dropped(), 0);
}

#[test]
fn a_flood_of_rubbish_does_not_stop_the_face() {
    let port = LivePort::bind(0, false).unwrap();
    let mut session = session();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let address = port.address();
        let over = &over;
        scope.spawn(move || {
            let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
            let mut rubbish = vec![0x2f_u8; 1400];
            for k in 0_u32.. {
                rubbish[(k % 1400) as usize] = (k % 251) as u8;
                // A full socket is the aim.
                let _ = sender.send_to(&rubbish, address);
                if over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });

        // Lines come by their own way, which the flood of packets does not fill.
        scope.spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            for k in 0.. {
                let line = format!("{{\"time\": {}, \"jawOpen\": 0.5}}\n", f64::from(k) / 60.0);
                if over.load(Ordering::Relaxed) || stream.write_all(line.as_bytes()).is_err() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });

        let began = Instant::now();
        let mut frames = 0;
        while frames < 50 {
            assert!(began.elapsed() < PATIENCE, "only {frames} frames came");
            let Some(arrival) = port.receive(PATIENCE) else {
                break;
            };
            let secs = began.elapsed().as_secs_f64();
            frames += usize::from(session.receive(&arrival.bytes, secs).unwrap().is_some());
        }
        over.store(true, Ordering::Relaxed);
        assert_eq!(frames, 50);
    });
    assert!(session.counts().unreadable > 0);
}
