//! The objects of a written scene and the connections between them.

use std::collections::BTreeMap;

use super::node::{Node, Value};

/// The number of an object in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(i64);

/// The root of the nodes.
pub(super) const ROOT: Id = Id(0);

/// Chosen: numbers of objects begin here; small ones have a meaning.
const FIRST_ID: i64 = 1_000_000;

/// The lists `Objects` and `Connections`, which grow together.
#[derive(Default)]
pub(super) struct Scene {
    objects: Vec<Node>,
    connections: Vec<Node>,
    counts: BTreeMap<&'static str, i32>,
    ids: i64,
}

impl From<Id> for Value {
    fn from(id: Id) -> Self {
        Self::Long(id.0)
    }
}

impl Scene {
    /// Adds an object of a kind such as `Model`, with its class and subclass.
    pub(super) fn add(
        &mut self,
        kind: &'static str,
        [name, class, subclass]: [&str; 3],
        children: impl IntoIterator<Item = Node>,
    ) -> Id {
        let id = Id(FIRST_ID + self.ids);
        self.ids += 1;
        *self.counts.entry(kind).or_default() += 1;

        // A zero byte separates name and class, so that names have no control characters.
        let name = name.replace(char::is_control, " ");
        let object = Node::of(kind, id)
            .value(format!("{name}\0\u{1}{class}"))
            .value(subclass)
            .children(children);
        self.objects.push(object);
        id
    }

    /// Makes an object a part of another.
    pub(super) fn connect(&mut self, part: Id, whole: Id) {
        let connection = Node::of("C", "OO").value(part).value(whole);
        self.connections.push(connection);
    }

    /// Makes an object drive a property of another.
    pub(super) fn connect_property(&mut self, driver: Id, object: Id, property: &str) {
        let connection = Node::of("C", "OP").value(driver).value(object);
        self.connections.push(connection.value(property));
    }

    /// The nodes `Definitions`, `Objects` and `Connections`.
    pub(super) fn into_nodes(self) -> [Node; 3] {
        let total = 1 + self.counts.values().sum::<i32>();
        let mut definitions = Node::new("Definitions")
            .child(Node::of("Version", 100))
            .child(Node::of("Count", total))
            .child(Node::of("ObjectType", "GlobalSettings").child(Node::of("Count", 1)));
        for (kind, count) in self.counts {
            definitions =
                definitions.child(Node::of("ObjectType", kind).child(Node::of("Count", count)));
        }

        [
            definitions,
            Node::new("Objects").children(self.objects),
            Node::new("Connections").children(self.connections),
        ]
    }
}
