//! A port at which live packets arrive: datagrams over UDP, and lines of JSON over TCP.
//!
//! **Problem.** Devices send datagrams, programs find it easier to write lines to a socket, and
//! anybody who reaches the port can send anything at any rate.
//!
//! **Method.** One thread receives datagrams, another polls the connections; both put what arrives
//! into one queue of bounded length, with the time of its arrival. A full queue drops what comes
//! next and counts it; a part of it is kept for lines, so that a flood of datagrams does not keep
//! them out. A line is at most as long as a datagram, a connection that sends a longer
//! one is closed, and connections beyond [`MOST_CLIENTS`] are refused.

use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use web_time::Instant;

/// Connections at the same time. *Chosen*: a face has one sender; the others wait for its end.
const MOST_CLIENTS: usize = 4;
/// Packets that wait. *Chosen*: eight seconds at 60 Hz.
const QUEUE: usize = 512;
/// How many of them may be datagrams.
const MOST_DATAGRAMS: usize = 384;
/// The longest datagram, and the longest line.
const LONGEST: usize = 65_536;
/// How long a thread sleeps before it looks whether it should end.
const PAUSE: Duration = Duration::from_millis(50);
/// Between two looks at open connections: half of the latency that is aimed at.
const POLL: Duration = Duration::from_micros(500);

/// A packet and when it arrived.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// When it arrived.
    pub at: Instant,
    is_datagram: bool,
}

/// An open port. It closes when it is dropped.
#[derive(Debug)]
pub struct LivePort {
    address: SocketAddr,
    accepts_lines: bool,
    arrivals: Receiver<Arrival>,
    datagrams: Arc<AtomicUsize>,
    dropped: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Where threads put packets.
#[derive(Clone)]
struct Queue {
    sender: SyncSender<Arrival>,
    /// Datagrams that wait.
    datagrams: Arc<AtomicUsize>,
    dropped: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl LivePort {
    /// Opens `port` (0 takes a free one) for this computer, or for all if `open`.
    ///
    /// # Errors
    /// A port that another program uses.
    pub fn bind(port: u16, open: bool) -> io::Result<Self> {
        let host = if open {
            Ipv4Addr::UNSPECIFIED
        } else {
            Ipv4Addr::LOCALHOST
        };
        let udp = UdpSocket::bind((IpAddr::V4(host), port))?;
        udp.set_read_timeout(Some(PAUSE))?;
        let address = udp.local_addr()?;
        // Another program may hold the same number for connections; datagrams still arrive.
        let tcp = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });

        let (sender, arrivals) = sync_channel(QUEUE);
        let queue = Queue {
            sender,
            datagrams: Arc::default(),
            dropped: Arc::default(),
            stop: Arc::default(),
        };
        let mut made = Self {
            address,
            accepts_lines: tcp.is_ok(),
            arrivals,
            datagrams: Arc::clone(&queue.datagrams),
            dropped: Arc::clone(&queue.dropped),
            stop: Arc::clone(&queue.stop),
            threads: Vec::new(),
        };
        let named = |name: &str| Builder::new().name(name.into());
        let own = queue.clone();
        let receive = named("datagrams").spawn(move || own.receive_datagrams(&udp))?;
        made.threads.push(receive);
        if let Ok(listener) = tcp {
            let poll = named("connections").spawn(move || queue.receive_lines(&listener))?;
            made.threads.push(poll);
        }
        Ok(made)
    }

    /// The address to which devices send.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether connections with lines of JSON are accepted, too.
    #[must_use]
    pub fn accepts_lines(&self) -> bool {
        self.accepts_lines
    }

    /// The next packet; `None` if none arrives in time.
    #[must_use]
    pub fn receive(&self, timeout: Duration) -> Option<Arrival> {
        let arrival = self.arrivals.recv_timeout(timeout).ok()?;
        if arrival.is_datagram {
            self.datagrams.fetch_sub(1, Ordering::Relaxed);
        }
        Some(arrival)
    }

    /// Packets that were dropped because the queue was full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for LivePort {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

impl Queue {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn put_datagram(&self, bytes: &[u8]) {
        if self.datagrams.fetch_add(1, Ordering::Relaxed) >= MOST_DATAGRAMS
            || !self.put(bytes, true)
        {
            self.datagrams.fetch_sub(1, Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn put_line(&self, line: &[u8]) {
        if !self.put(line, false) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether there was room.
    fn put(&self, bytes: &[u8], is_datagram: bool) -> bool {
        let arrival = Arrival {
            bytes: bytes.to_vec(),
            at: Instant::now(),
            is_datagram,
        };
        !matches!(self.sender.try_send(arrival), Err(TrySendError::Full(_)))
    }

    fn receive_datagrams(&self, socket: &UdpSocket) {
        let mut buffer = vec![0; LONGEST];
        while !self.stopped() {
            match socket.recv(&mut buffer) {
                Ok(length) => self.put_datagram(&buffer[..length]),
                Err(error) if is_pause(&error) => {}
                // Such as "unreachable" after an answer that nobody took.
                Err(_) => std::thread::sleep(POLL),
            }
        }
    }

    fn receive_lines(&self, listener: &TcpListener) {
        let mut clients: Vec<Client> = Vec::new();
        while !self.stopped() {
            while let Ok((stream, _)) = listener.accept() {
                if clients.len() < MOST_CLIENTS && stream.set_nonblocking(true).is_ok() {
                    clients.push(Client {
                        stream,
                        line: Vec::new(),
                    });
                }
            }
            clients.retain_mut(|client| client.read(self));
            std::thread::sleep(if clients.is_empty() { PAUSE } else { POLL });
        }
    }
}

/// A connection and the line that it has begun.
struct Client {
    stream: TcpStream,
    line: Vec<u8>,
}

impl Client {
    /// Reads what is there; `false` once the connection is over.
    fn read(&mut self, queue: &Queue) -> bool {
        /// So that one sender does not keep the others waiting.
        const MOST_READS: usize = 16;
        let mut buffer = [0; 4096];
        for _ in 0..MOST_READS {
            let length = match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(length) => length,
                Err(error) if is_pause(&error) => return true,
                Err(_) => return false,
            };
            for &byte in &buffer[..length] {
                match byte {
                    b'\n' => {
                        let line = self.line.trim_ascii();
                        if !line.is_empty() {
                            queue.put_line(line);
                        }
                        self.line.clear();
                    }
                    _ if self.line.len() == LONGEST => return false,
                    _ => self.line.push(byte),
                }
            }
        }
        true
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn bytes(port: &LivePort) -> Vec<u8> {
        port.receive(PATIENCE).expect("a packet").bytes
    }

    #[test]
    fn datagrams_and_lines_arrive_at_one_port() {
        let port = LivePort::bind(0, false).unwrap();
        assert!(port.address().ip().is_loopback());
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.send_to(b"datagram", port.address()).unwrap();
        assert_eq!(bytes(&port), b"datagram");

        assert!(port.accepts_lines());
        let mut stream = TcpStream::connect(port.address()).unwrap();
        stream.write_all(b"{\"a\": 1}\r\n\n{\"a\"").unwrap();
        assert_eq!(bytes(&port), b"{\"a\": 1}");
        stream.write_all(b": 2}\n").unwrap();
        assert_eq!(bytes(&port), b"{\"a\": 2}");
    }

    #[test]
    fn a_line_without_end_closes_its_connection_alone() {
        let port = LivePort::bind(0, false).unwrap();
        let mut endless = TcpStream::connect(port.address()).unwrap();
        let mut sender = TcpStream::connect(port.address()).unwrap();
        let part = [b'x'; 4096];
        let began = Instant::now();
        while endless.write_all(&part).is_ok() {
            assert!(began.elapsed() < PATIENCE, "the connection is never closed");
        }
        sender.write_all(b"{}\n").unwrap();
        assert_eq!(bytes(&port), b"{}");
    }

    #[test]
    fn a_flood_fills_the_queue_and_no_more() {
        let port = LivePort::bind(0, false).unwrap();
        let mut stream = TcpStream::connect(port.address()).unwrap();
        for _ in 0..QUEUE + 100 {
            stream.write_all(b"{}\n").unwrap();
        }
        let began = Instant::now();
        while port.dropped() < 100 && began.elapsed() < PATIENCE {
            std::thread::sleep(POLL);
        }
        assert_eq!(port.dropped(), 100);
        let waiting = (0..QUEUE).all(|_| port.receive(Duration::ZERO).is_some());
        assert!(waiting && port.receive(Duration::ZERO).is_none());
    }
}
