//! A USD layer as written: prims, properties and values.

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
    /// Its schema; empty if it has none.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) metadata: Vec<(String, Value)>,
    pub(super) properties: Vec<Property>,
    pub(super) children: Vec<Prim>,
    /// Whether it has variants, which are not read.
    pub(super) has_variants: bool,
}

/// One statement about an attribute or relationship.
#[derive(Debug)]
pub(super) struct Property {
    /// The type without `[]`, or `rel`.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) value: PropertyValue,
    pub(super) metadata: Vec<(String, Value)>,
}

/// The value of a property: constant, or one for each time code.
#[derive(Debug)]
pub(super) enum PropertyValue {
    Constant(Value),
    Samples(Vec<(f64, Value)>),
}

impl PropertyValue {
    /// The same in single precision, for types of single precision.
    pub(super) fn rounded(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(value.rounded()),
            Self::Samples(samples) => Self::Samples(
                samples
                    .into_iter()
                    .map(|(code, value)| (code, value.rounded()))
                    .collect(),
            ),
        }
    }
}

/// A value; lists of tuples are flat.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// `None`, or no value.
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
    /// A dictionary, whose content is not needed.
    Dictionary,
}

impl Value {
    pub(super) fn rounded(self) -> Self {
        let single = |value: f64| f64::from(value as f32);
        match self {
            Self::Number(value) => Self::Number(single(value)),
            Self::Numbers { width, mut values } => {
                for value in &mut values {
                    *value = single(*value);
                }
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
    /// The constant value of property `name`.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find_map(|p| match &p.value {
            PropertyValue::Constant(value) if p.name == name && *value != Value::Nothing => {
                Some(value)
            }
            _ => None,
        })
    }

    /// The time samples of property `name`.
    pub(super) fn samples(&self, name: &str) -> Option<&[(f64, Value)]> {
        self.properties.iter().find_map(|p| match &p.value {
            PropertyValue::Samples(samples) if p.name == name && !samples.is_empty() => {
                Some(samples.as_slice())
            }
            _ => None,
        })
    }

    /// The value of property `name` at rest: the constant value, else the first sample.
    pub(super) fn rest(&self, name: &str) -> Option<&Value> {
        self.value(name)
            .or_else(|| self.samples(name).map(|samples| &samples[0].1))
    }
}
