// Runs the Khronos glTF validator over files: node gltf_validate.mjs FILE…
// Needs the npm package `gltf-validator`, found from the folder of this script or from $GLTF_VALIDATOR (a folder with node_modules).
// Exit 0: no file has an error. Warnings are listed once per code.
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import path from "node:path";

const from = process.env.GLTF_VALIDATOR ? path.join(path.resolve(process.env.GLTF_VALIDATOR), "x.js") : import.meta.url;
const validator = createRequire(from)("gltf-validator");
const severities = ["error", "warning", "information", "hint"];
let failed = false;

for (const file of process.argv.slice(2)) {
  const folder = path.dirname(file);
  const report = await validator.validateBytes(new Uint8Array(await readFile(file)), {
    uri: path.basename(file),
    maxIssues: 1000,
    externalResourceFunction: async (uri) => new Uint8Array(await readFile(path.join(folder, decodeURIComponent(uri)))),
  });
  const { numErrors, numWarnings, numInfos, numHints } = report.issues;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} infos, ${numHints} hints`);
  const seen = new Map();
  for (const { severity, code, message, pointer } of report.issues.messages) {
    const key = `${severities[severity]} ${code}`;
    const entry = seen.get(key) ?? { count: 0, first: `${pointer ?? ""} ${message}` };
    entry.count += 1;
    seen.set(key, entry);
  }
  for (const [key, { count, first }] of seen) console.log(`  ${key} × ${count}: ${first}`);
  failed ||= numErrors > 0;
}
process.exit(failed ? 1 : 0);
