//! Packets of live performances: Live Link Face, VMC over OSC, iFacialMocap and JSON.
//!
//! **Problem.** Devices send one packet for each frame over UDP. Packets get lost, come twice or in
//! another order, and anybody who reaches the port can send anything.
//!
//! **Method.** Readers are pure functions on the bytes of one packet; none allocates more than a
//! small multiple of its length. A [`LiveStream`] holds the latest value of each channel, leaves out
//! packets that are older than the last one, and counts what it leaves out. The names of the channels
//! are bounded, so that a sender cannot fill the memory.
//!
//! | module | concept |
//! |---|---|
//! | `live_link` | Live Link Face: 61 floats |
//! | `osc` | OSC messages and bundles, with the blend values of VMC |
//! | `text_packet` | iFacialMocap and JSON |
//! | `stream` | the order of packets and the latest values |

mod live_link;
mod osc;
mod stream;
mod text_packet;

pub use live_link::{LIVE_LINK_CHANNELS, encode_live_link, read_live_link};
pub use osc::{encode_vmc, read_vmc};
pub use stream::{LiveStream, Received, StreamCounts};
pub use text_packet::{read_ifacialmocap, read_json_packet};

/// What one packet says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LivePacket {
    /// Who sends; empty if the packet does not say.
    pub subject: String,
    /// The time of the frame in seconds by the clock of the sender, if the packet says so.
    pub time_secs: Option<f64>,
    /// Names and values of channels.
    pub values: Vec<(String, f64)>,
    /// Whether the frame is complete with this packet.
    pub ends_frame: bool,
}

/// Reads a packet of any known kind; `None` for any other bytes.
#[must_use]
pub fn read_packet(bytes: &[u8]) -> Option<LivePacket> {
    match bytes.first()? {
        b'{' => read_json_packet(bytes),
        b'/' | b'#' => read_vmc(bytes),
        0..=15 => read_live_link(bytes),
        _ => read_ifacialmocap(bytes),
    }
    .filter(|packet| {
        let numbers = packet.values.iter().map(|(_, value)| *value);
        numbers.chain(packet.time_secs).all(f64::is_finite)
    })
}
