//! A USD layer as written: prims, properties and values.
//!
//! Arrays and prims are shared, because a binary file stores equal values once and a scene may use
//! one prim many times.

use std::rc::Rc;

/// A file.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) metadata: Vec<(String, Value)>,
    pub(super) prims: Vec<Rc<Prim>>,
}

/// A node of the scene.
#[derive(Debug, Clone, Default)]
pub(super) struct Prim {
    /// `def`, `over` or `class`.
    pub(super) specifier: String,
    /// Its schema; empty if it has none.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) metadata: Vec<(String, Value)>,
    pub(super) properties: Vec<Property>,
    pub(super) children: Vec<Rc<Prim>>,
    pub(super) variant_sets: Vec<VariantSet>,
}

/// Alternatives for the content of a prim, of which one is selected.
#[derive(Debug, Clone, Default)]
pub(super) struct VariantSet {
    pub(super) name: String,
    /// The alternatives; the name of each prim is that of its variant.
    pub(super) variants: Vec<Rc<Prim>>,
}

/// One statement about an attribute or relationship.
#[derive(Debug, Clone)]
pub(super) struct Property {
    /// The type without `[]`, or `rel`.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) value: PropertyValue,
    pub(super) metadata: Vec<(String, Value)>,
}

/// The value of a property: constant, or one for each time code.
#[derive(Debug, Clone)]
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

impl Property {
    /// The connection of property `name` to the output of another prim: a relationship `NAME.connect` to that
    /// prim, with the name of the output as metadata.
    pub(super) fn connection(name: &str, value: PropertyValue) -> Self {
        let target = match &value {
            PropertyValue::Constant(value) => value.text(),
            PropertyValue::Samples(_) => None,
        };
        let target = target.and_then(|target| target.rsplit_once('.'));
        let (value, output) = match target {
            Some((path, output)) => (Value::Text(path.into()), output.to_owned()),
            None => (Value::Nothing, String::new()),
        };
        Self {
            kind: "rel".into(),
            name: format!("{name}.connect"),
            value: PropertyValue::Constant(value),
            metadata: vec![("output".into(), Value::Text(output))],
        }
    }
}

impl Retiming {
    pub(super) fn apply(self, code: f64) -> f64 {
        self.scale * code + self.offset
    }

    /// This change after `first`.
    pub(super) fn after(self, first: Self) -> Self {
        Self {
            offset: self.apply(first.offset),
            scale: self.scale * first.scale,
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
        values: Rc<Vec<f64>>,
    },
    /// A string, token, path or asset.
    Text(String),
    Texts(Vec<String>),
    /// References or payloads to prims of this or another layer.
    References(Vec<Reference>),
    /// The selected variant of each variant set.
    Selections(Vec<(String, String)>),
    /// A dictionary or another value whose content is not needed.
    Opaque,
}

/// A reference to a prim, whose content is added.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reference {
    /// The layer; empty for the layer that contains the reference.
    pub(super) asset: String,
    /// The path of the prim; empty for the default prim of the layer.
    pub(super) prim: String,
    pub(super) retiming: Retiming,
}

/// A linear change of time codes: `code ↦ scale · code + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Retiming {
    pub(super) offset: f64,
    pub(super) scale: f64,
}

impl Default for Retiming {
    fn default() -> Self {
        Self {
            offset: 0.0,
            scale: 1.0,
        }
    }
}

impl Value {
    /// A list of numbers or of tuples of `width` numbers.
    pub(super) fn list(width: usize, values: Vec<f64>) -> Self {
        Self::Numbers {
            width,
            values: Rc::new(values),
        }
    }

    pub(super) fn rounded(self) -> Self {
        let single = |value: f64| f64::from(value as f32);
        match self {
            Self::Number(value) => Self::Number(single(value)),
            Self::Numbers { width, mut values } => {
                for value in Rc::make_mut(&mut values) {
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

    pub(super) fn references(&self) -> &[Reference] {
        match self {
            Self::References(references) => references,
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
