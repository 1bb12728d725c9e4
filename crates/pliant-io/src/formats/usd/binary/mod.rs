//! Reader of binary USD layers (`.usdc`, the "crate" format).
//!
//! **Format.** The same prims, properties and values as in text, in compressed tables. Values and
//! arrays that are equal are stored once.
//!
//! **Source.** OpenUSD, the source of `Sdf_CrateFile`; checked against files that OpenUSD writes.
//!
//! **Departures.** Nothing is written.
//!
//! | module | concept |
//! |---|---|
//! | `lz4`, `integers` | compressed blocks and lists of integers |
//! | `container` | sections and tables |
//! | `plain_tables` | tables before version 0.4 |
//! | `paths` | the tree of paths |
//! | `values` | value representations → values |

mod container;
mod integers;
mod lz4;
mod paths;
mod plain_tables;
#[cfg(test)]
mod tests;
mod values;

use std::collections::HashMap;
use std::rc::Rc;

pub(super) use self::container::MAGIC;
use self::container::{Spec, Tables, damaged};
use super::layer::{
    Layer, Prim, Property, PropertyValue, Reference, Retiming, Value, VariantSet, entry,
};
use super::syntax::GREATEST_DEPTH;
use crate::ReadError;

/// The types of specs that are read, as `SdfSpecType` numbers them.
mod spec {
    pub(super) const ATTRIBUTE: u32 = 1;
    pub(super) const PRIM: u32 = 6;
    pub(super) const ROOT: u32 = 7;
    pub(super) const RELATIONSHIP: u32 = 8;
    pub(super) const VARIANT: u32 = 10;
}

/// Reads a layer.
pub(super) fn parse(bytes: &[u8]) -> Result<Layer, ReadError> {
    let tables = Tables::read(bytes)?;
    let assembly = Assembly::of(&tables)?;
    let Some(root) = tables.specs.iter().find(|s| s.kind == spec::ROOT) else {
        return Err(damaged("it has no root"));
    };

    let fields = assembly.fields(root)?;
    let mut metadata = fields.metadata;
    join_sublayers(&mut metadata);
    Ok(Layer {
        prims: assembly.children(root.path, &fields.child_order, 0)?,
        metadata,
    })
}

/// Gives the sublayers their time offsets, which are a list of their own.
fn join_sublayers(metadata: &mut [(String, Value)]) {
    let offsets = entry(metadata, "subLayerOffsets").and_then(Value::numbers);
    let offsets = offsets.unwrap_or_default().to_vec();
    let Some((_, sublayers)) = metadata.iter_mut().find(|(key, _)| key == "subLayers") else {
        return;
    };

    let mut references = Vec::new();
    for (k, asset) in sublayers.texts().iter().enumerate() {
        let retiming = match offsets.get(2 * k..2 * k + 2) {
            Some(&[offset, scale]) => Retiming { offset, scale },
            _ => Retiming::default(),
        };
        references.push(Reference {
            asset: asset.clone(),
            prim: String::new(),
            retiming,
        });
    }
    *sublayers = Value::References(references);
}

/// The specs of a layer as a tree.
struct Assembly<'a> {
    tables: &'a Tables<'a>,
    /// For each path, the specs right below it.
    below: HashMap<u32, Vec<&'a Spec>>,
}

/// The fields of a spec.
#[derive(Default)]
struct Fields {
    metadata: Vec<(String, Value)>,
    specifier: &'static str,
    kind: String,
    child_order: Vec<String>,
    property_order: Vec<String>,
    value: Option<Value>,
    samples: Option<Vec<(f64, Value)>>,
}

impl<'a> Assembly<'a> {
    fn of(tables: &'a Tables<'a>) -> Result<Self, ReadError> {
        let mut below: HashMap<u32, Vec<&Spec>> = HashMap::new();
        let mut seen = vec![false; tables.paths.len()];
        for spec in &tables.specs {
            let node = tables.paths.node(spec.path)?;
            if std::mem::replace(&mut seen[spec.path as usize], true) {
                return Err(damaged("two specs have the same path"));
            }
            if let Some(parent) = node.parent {
                below.entry(parent).or_default().push(spec);
            }
        }
        Ok(Self { tables, below })
    }

    /// The last part of the path of a spec.
    fn name(&self, spec: &Spec) -> Result<&'a str, ReadError> {
        let node = self.tables.paths.node(spec.path)?;
        self.tables.token(node.element)
    }

    fn fields(&self, spec: &Spec) -> Result<Fields, ReadError> {
        let tables = self.tables;
        let mut fields = Fields {
            specifier: "over",
            ..Fields::default()
        };

        for &index in tables.fields_of(spec)? {
            let field = tables.field(index)?;
            let name = tables.token(field.name)?;
            if name == "timeSamples" {
                fields.samples = tables.samples(field.value)?;
                continue;
            }

            let value = tables.value(field.value)?;
            match name {
                "specifier" => {
                    let index = value.number().unwrap_or(1.0) as usize;
                    fields.specifier = ["def", "over", "class"].get(index).unwrap_or(&"over");
                }
                "typeName" => fields.kind = value.text().unwrap_or_default().to_owned(),
                "primChildren" => fields.child_order = value.texts().to_vec(),
                "properties" => fields.property_order = value.texts().to_vec(),
                "default" | "targetPaths" => fields.value = Some(value),
                _ => fields.metadata.push((text_key(name).to_owned(), value)),
            }
        }

        Ok(fields)
    }

    /// The child prims of a path.
    fn children(
        &self,
        path: u32,
        order: &[String],
        depth: usize,
    ) -> Result<Vec<Rc<Prim>>, ReadError> {
        let mut children = Vec::new();
        for spec in self.below.get(&path).into_iter().flatten() {
            if spec.kind == spec::PRIM {
                children.push(Rc::new(self.prim(spec, self.name(spec)?, depth)?));
            }
        }
        sort_by_names(&mut children, order, |child| child.name.as_str());
        Ok(children)
    }

    /// A prim, or a variant of a prim.
    fn prim(&self, spec: &Spec, name: &str, depth: usize) -> Result<Prim, ReadError> {
        if depth >= GREATEST_DEPTH {
            return Err(ReadError::whole(format!(
                "prims are nested more than {GREATEST_DEPTH} deep"
            )));
        }

        // The records of a prim and its names.
        self.tables.budget.spend(24 + name.len() / 8, "the prims")?;
        let fields = self.fields(spec)?;
        let mut properties = Vec::new();
        let mut variant_sets: Vec<VariantSet> = Vec::new();
        for below in self.below.get(&spec.path).into_iter().flatten() {
            match below.kind {
                spec::ATTRIBUTE | spec::RELATIONSHIP => self.property(below, &mut properties)?,
                spec::VARIANT => self.variant(below, depth, &mut variant_sets)?,
                _ => {}
            }
        }
        sort_by_names(&mut properties, &fields.property_order, |p| p.name.as_str());

        Ok(Prim {
            specifier: fields.specifier.into(),
            kind: fields.kind,
            name: name.into(),
            children: self.children(spec.path, &fields.child_order, depth + 1)?,
            metadata: fields.metadata,
            properties,
            variant_sets,
        })
    }

    /// Adds a variant, whose name in the path is `{set=variant}`.
    fn variant(
        &self,
        spec: &Spec,
        depth: usize,
        sets: &mut Vec<VariantSet>,
    ) -> Result<(), ReadError> {
        let name = self.name(spec)?;
        let pair = name
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let Some((set, variant)) = pair.and_then(|pair| pair.split_once('=')) else {
            return Ok(());
        };

        let prim = Rc::new(self.prim(spec, variant, depth + 1)?);
        match sets.iter_mut().find(|known| known.name == set) {
            Some(known) => known.variants.push(prim),
            None => sets.push(VariantSet {
                name: set.into(),
                variants: vec![prim],
            }),
        }
        Ok(())
    }

    /// Adds the statements about a property: its constant and its samples.
    fn property(&self, spec: &Spec, properties: &mut Vec<Property>) -> Result<(), ReadError> {
        let name = self.name(spec)?;
        self.tables
            .budget
            .spend(24 + name.len() / 8, "the properties")?;
        let fields = self.fields(spec)?;
        let kind = match spec.kind {
            spec::RELATIONSHIP => "rel",
            _ => fields.kind.trim_end_matches("[]"),
        };
        let property = |value| Property {
            kind: kind.into(),
            name: name.into(),
            value,
            metadata: fields.metadata.clone(),
        };

        if let Some(target) = entry(&fields.metadata, "connectionPaths") {
            let target = PropertyValue::Constant(target.clone());
            properties.push(Property::connection(name, target));
        }
        let samples = fields.samples.clone().map(|mut samples| {
            // A block of values gives nothing to interpolate.
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
            samples.dedup_by(|later, earlier| later.0 == earlier.0);
            samples.retain(|(_, value)| *value != Value::Nothing);
            PropertyValue::Samples(samples)
        });
        if fields.value.is_some() || samples.is_none() {
            let value = fields.value.clone().unwrap_or(Value::Nothing);
            properties.push(property(PropertyValue::Constant(value)));
        }
        properties.extend(samples.map(property));
        Ok(())
    }
}

/// The name of a field in the text format.
fn text_key(name: &str) -> &str {
    match name {
        "inheritPaths" => "inherits",
        "variantSelection" => "variants",
        "documentation" => "doc",
        other => other,
    }
}

/// Sorts by the place of each name in `order`; names that are not in it come last.
fn sort_by_names<T>(items: &mut [T], order: &[String], name: fn(&T) -> &str) {
    let places: HashMap<&str, usize> = order.iter().map(String::as_str).zip(0..).collect();
    items.sort_by_key(|item| places.get(name(item)).copied().unwrap_or(usize::MAX));
}
