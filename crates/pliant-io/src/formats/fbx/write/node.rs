//! FBX nodes and their binary form.
//!
//! **Format.** A node has a name, typed values and child nodes. In the file, it begins with the
//! position of its end, the number and the size of its values, and its name. Children end with an
//! empty node. Arrays are stored without compression. Positions take four bytes in version 7.4 and
//! eight in version 7.5, which is written only if the file is larger than 4 GiB.

/// The first bytes of a binary file.
const MAGIC: &[u8] = b"Kaydara FBX Binary  \0\x1a\0";
/// The last bytes of a binary file.
const END_MAGIC: [u8; 16] = [
    0xf8, 0x5a, 0x8c, 0x6a, 0xde, 0xf5, 0xd9, 0x7e, 0xec, 0xe9, 0x0c, 0xe3, 0x75, 0x8f, 0x29, 0x0b,
];
/// The code between nodes and padding. It belongs to [`FILE_ID`] and [`CREATION_TIME`].
const FOOTER_ID: [u8; 16] = [
    0xfa, 0xbc, 0xab, 0x09, 0xd0, 0xc8, 0xd4, 0x66, 0xb1, 0x76, 0xfb, 0x83, 0x1c, 0xf7, 0x26, 0x7e,
];
/// The identity of a file made at [`CREATION_TIME`].
pub(super) const FILE_ID: [u8; 16] = [
    0x28, 0xb3, 0x2a, 0xeb, 0xb6, 0x24, 0xcc, 0xc2, 0xbf, 0xc8, 0xb0, 0x2a, 0xa9, 0x2b, 0xfc, 0xf1,
];
/// A constant, so that equal assets give equal bytes.
pub(super) const CREATION_TIME: &str = "1970-01-01 10:00:00:000";

/// Names of nodes that end with an empty child even if they have no children.
const ALWAYS_NESTED: [&str; 2] = ["AnimationStack", "AnimationLayer"];

/// A value of a node.
pub(super) enum Value {
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
}

/// A node of the file.
pub(super) struct Node {
    name: &'static str,
    values: Vec<Value>,
    children: Vec<Node>,
}

impl Node {
    /// A node without values and children.
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            values: Vec::new(),
            children: Vec::new(),
        }
    }

    /// A node with one value.
    pub(super) fn of(name: &'static str, value: impl Into<Value>) -> Self {
        Self::new(name).value(value)
    }

    /// Adds a value.
    pub(super) fn value(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Adds a child.
    pub(super) fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    /// Adds children.
    pub(super) fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    fn is_nested(&self) -> bool {
        !self.children.is_empty() || self.values.is_empty() || ALWAYS_NESTED.contains(&self.name)
    }
}

/// A property: a node `P` with a name, a type, a label, flags and a value.
pub(super) fn property(name: &str, kind: &str, label: &str, flags: &str) -> Node {
    Node::of("P", name).value(kind).value(label).value(flags)
}

/// A property of three numbers that can be animated.
pub(super) fn vector_property(name: &str, kind: &str, value: [f64; 3]) -> Node {
    let node = property(name, kind, "", "A");
    value.into_iter().fold(node, Node::value)
}

/// The list of properties of an object.
pub(super) fn properties(list: impl IntoIterator<Item = Node>) -> Node {
    Node::new("Properties70").children(list)
}

macro_rules! value_from {
    ($($from:ty => $to:ident),+ $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$to(value.into())
            }
        })+
    };
}

value_from! {
    bool => Bool, i32 => Int, i64 => Long, f64 => Double, &str => Text, String => Text,
    Vec<u8> => Bytes, Vec<i32> => Ints, Vec<i64> => Longs, Vec<f32> => Floats,
    Vec<f64> => Doubles,
}

/// The file with these nodes.
pub(super) fn encode(nodes: &[Node]) -> Vec<u8> {
    let small = Encoder::encode(nodes, 7400);
    if u32::try_from(small.len()).is_ok() {
        return small;
    }
    Encoder::encode(nodes, 7500)
}

struct Encoder {
    bytes: Vec<u8>,
    version: u32,
}

impl Encoder {
    fn encode(nodes: &[Node], version: u32) -> Vec<u8> {
        let mut encoder = Self {
            bytes: MAGIC.to_vec(),
            version,
        };
        encoder.bytes.extend(version.to_le_bytes());
        for node in nodes {
            encoder.node(node);
        }
        encoder.empty_node();

        // The padding to a multiple of 16 is never empty.
        let bytes = &mut encoder.bytes;
        bytes.extend(FOOTER_ID);
        bytes.extend([0; 4]);
        bytes.resize(bytes.len() / 16 * 16 + 16, 0);
        bytes.extend(version.to_le_bytes());
        bytes.extend([0; 120]);
        bytes.extend(END_MAGIC);
        encoder.bytes
    }

    fn position_size(&self) -> usize {
        if self.version < 7500 { 4 } else { 8 }
    }

    /// Sets a position or size; what does not fit is written again in the later version.
    fn set_position(&mut self, at: usize, value: usize) {
        let size = self.position_size();
        let value = (value as u64).to_le_bytes();
        self.bytes[at..at + size].copy_from_slice(&value[..size]);
    }

    fn node(&mut self, node: &Node) {
        let size = self.position_size();
        let begin = self.bytes.len();
        self.bytes.extend(vec![0; 3 * size]);
        self.bytes.push(node.name.len() as u8);
        self.bytes.extend(node.name.as_bytes());

        let values_begin = self.bytes.len();
        for value in &node.values {
            self.value(value);
        }
        let values_size = self.bytes.len() - values_begin;

        for child in &node.children {
            self.node(child);
        }
        if node.is_nested() {
            self.empty_node();
        }

        self.set_position(begin, self.bytes.len());
        self.set_position(begin + size, node.values.len());
        self.set_position(begin + 2 * size, values_size);
    }

    fn empty_node(&mut self) {
        self.bytes.extend(vec![0; 3 * self.position_size() + 1]);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Bool(value) => self.scalar(b'C', [u8::from(*value)]),
            Value::Int(value) => self.scalar(b'I', value.to_le_bytes()),
            Value::Long(value) => self.scalar(b'L', value.to_le_bytes()),
            Value::Double(value) => self.scalar(b'D', value.to_le_bytes()),
            Value::Text(text) => self.blob(b'S', text.as_bytes()),
            Value::Bytes(bytes) => self.blob(b'R', bytes),
            Value::Ints(list) => self.array(b'i', list, |v| v.to_le_bytes()),
            Value::Longs(list) => self.array(b'l', list, |v| v.to_le_bytes()),
            Value::Floats(list) => self.array(b'f', list, |v| v.to_le_bytes()),
            Value::Doubles(list) => self.array(b'd', list, |v| v.to_le_bytes()),
        }
    }

    fn scalar<const N: usize>(&mut self, kind: u8, bytes: [u8; N]) {
        self.bytes.push(kind);
        self.bytes.extend(bytes);
    }

    fn blob(&mut self, kind: u8, bytes: &[u8]) {
        self.bytes.push(kind);
        self.bytes.extend((bytes.len() as u32).to_le_bytes());
        self.bytes.extend(bytes);
    }

    /// An array: its count, its encoding, its size in bytes and its numbers.
    fn array<T, const N: usize>(&mut self, kind: u8, list: &[T], bytes: impl Fn(&T) -> [u8; N]) {
        let header = [list.len() as u32, 0, (list.len() * N) as u32];
        self.bytes.push(kind);
        self.bytes
            .extend(header.into_iter().flat_map(u32::to_le_bytes));
        self.bytes.extend(list.iter().flat_map(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_knows_its_end_and_the_size_of_its_values() {
        let bytes = encode(&[Node::of("Ab", 7).child(Node::of("C", "x"))]);
        let inner = [
            40, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 1, b'C', b'S', 1, 0, 0, 0, b'x',
        ];
        let begin = MAGIC.len() + 4;
        assert_eq!(begin, 27);

        let outer = [
            80, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 2, b'A', b'b', b'I', 7, 0, 0, 0,
        ];
        assert_eq!(bytes[begin..begin + 20], outer);
        assert_eq!(bytes[begin + 20 + 4..begin + 40], inner[4..]);
        assert_eq!(bytes[begin + 20], 67, "the inner node ends at byte 67");
        assert_eq!(bytes[begin + 40..begin + 53], [0; 13]);
        assert_eq!((bytes.len() - 16 - 120 - 4) % 16, 0);
        assert_eq!(bytes[bytes.len() - 16..], END_MAGIC);
    }
}
