//! What a layer holds, as it is written: prims, properties and values.

/// A file.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) metadata: Vec<(String, Value)>,
    pub(super) prims: Vec<Prim>,
}

/// A node of the scene.
#[derive(Debug, Default)]
pub(super) struct Prim {
    /// `def`, `over` or `class`.
    pub(super) specifier: String,
    /// Its schema, empty where it has none.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) metadata: Vec<(String, Value)>,
    pub(super) properties: Vec<Property>,
    pub(super) children: Vec<Prim>,
    /// Whether it has variants, which are not looked into.
    pub(super) varies: bool,
}

/// One statement about an attribute or relationship.
#[derive(Debug)]
pub(super) struct Property {
    /// The type without `[]`, or `rel`.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) value: Held,
    pub(super) metadata: Vec<(String, Value)>,
}

/// What a statement gives: one value, or one per time code.
#[derive(Debug)]
pub(super) enum Held {
    Always(Value),
    Samples(Vec<(f64, Value)>),
}

impl Held {
    /// The same in single precision: a decimal means the float next to it.
    pub(super) fn rounded(self) -> Self {
        match self {
            Self::Always(value) => Self::Always(value.rounded()),
            Self::Samples(samples) => Self::Samples(
                samples
                    .into_iter()
                    .map(|(code, value)| (code, value.rounded()))
                    .collect(),
            ),
        }
    }
}

/// A value; lists of tuples are stored flat.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// `None`, or nothing at all.
    Nothing,
    Number(f64),
    /// A tuple, or a list of numbers or of tuples of `width` each.
    Numbers {
        width: usize,
        values: Vec<f64>,
    },
    /// A string, token, path or asset.
    Text(String),
    Texts(Vec<String>),
    /// A dictionary, which nothing here needs.
    Dictionary,
}

impl Value {
    pub(super) fn rounded(self) -> Self {
        let single = |value: f64| f64::from(value as f32);
        match self {
            Self::Number(value) => Self::Number(single(value)),
            Self::Numbers { width, mut values } => {
                values.iter_mut().for_each(|value| *value = single(*value));
                Self::Numbers { width, values }
            }
            other => other,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Texts(texts) => texts.first().map(String::as_str),
            _ => None,
        }
    }

    pub(super) fn texts(&self) -> &[String] {
        match self {
            Self::Texts(texts) => texts,
            Self::Text(text) => std::slice::from_ref(text),
            _ => &[],
        }
    }

    /// The numbers of a single value, tuple or list.
    pub(super) fn numbers(&self) -> Option<&[f64]> {
        match self {
            Self::Number(value) => Some(std::slice::from_ref(value)),
            Self::Numbers { values, .. } => Some(values),
            _ => None,
        }
    }
}

/// The value of `key` in metadata.
pub(super) fn entry<'a>(metadata: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    metadata
        .iter()
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
}

impl Prim {
    /// What it always has as `name`.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find_map(|p| match &p.value {
            Held::Always(value) if p.name == name && *value != Value::Nothing => Some(value),
            _ => None,
        })
    }

    /// What it has as `name` over time.
    pub(super) fn samples(&self, name: &str) -> Option<&[(f64, Value)]> {
        self.properties.iter().find_map(|p| match &p.value {
            Held::Samples(samples) if p.name == name && !samples.is_empty() => {
                Some(samples.as_slice())
            }
            _ => None,
        })
    }

    /// What it has as `name` at rest: the value without a time, else the first sample.
    pub(super) fn rest(&self, name: &str) -> Option<&Value> {
        self.value(name)
            .or_else(|| self.samples(name).map(|samples| &samples[0].1))
    }
}
