//! JSON schema of a report.
//!
//! The schema is generated from the struct that a command prints with `--json`, so that both
//! always agree. Descriptions are the documentation of its fields.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::console::CommandReport;

/// Version of the keys of all reports. A key that is removed or changes its meaning raises it.
pub(crate) const VERSION: &str = "1";

/// The schema of what `pliant COMMAND --json` prints, where `R` is the report of the command.
pub(crate) fn report_schema<R: JsonSchema>(command: &str) -> Schema {
    // For serialisation: a key that is always printed is required, even where it may be null.
    let generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut schema = generator.into_root_schema_for::<CommandReport<R>>();

    let id = format!("urn:pliant:report:{}:{VERSION}", command.replace(' ', "-"));
    schema.insert("$id".into(), id.into());
    schema.insert("title".into(), format!("pliant {command} --json").into());
    schema.insert("x-version".into(), VERSION.into());
    schema
}
