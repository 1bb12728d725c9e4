// Tests of the page in headless Chromium: node run.mjs FOLDER EXPECTED.json PICTURES
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StudioPage, openBrowser, pause } from "./browser.mjs";
import { host } from "./host.mjs";

const [folder, expectedFile, pictures] = process.argv.slice(2);
/** Solvers on the page's thread would take seconds; a machine under load draws in tenths. */
const MOST_MS = 1000;
const figures = {};
const claims = [];
const claim = (name, check) => claims.push([name, check]);

/** Tasks that held the thread of the page for more than 50 ms: drawing by software counts, too. */
async function freezes(studio, what) {
  const tasks = await studio.longTasks();
  const longest = tasks.at(-1) ?? 0;
  figures[`${what}: tasks over 50 ms`] = tasks.length ? `${tasks.length}, the longest ${longest} ms` : "none";
  require(longest < MOST_MS, `the window was frozen for ${longest} ms`);
}

function require(condition, message) {
  if (!condition) throw new Error(message);
}

claim("the first picture is there, and threads share memory on a host without headers", async ({ studio, began }) => {
  const about = await studio.settled();
  figures["first picture of the first visit (ms)"] = Math.round(studio.opened - began);
  require(about.threads && about.workers > 0, "the page is not isolated from others, so it has no threads");
  await studio.picture(pictures, "1-pose");
});

claim("a dragged mouth corner moves sliders while the window stays awake", async ({ studio }) => {
  await studio.longTasks();
  await studio.drag([572, 478], [590, 440], 16);
  const { status } = await studio.settled();
  const moved = Object.entries(status.weights).filter(([, weight]) => Math.abs(weight) > 0.02);
  require(moved.some(([name]) => /mouth/.test(name)), `no slider of the mouth moved: ${moved}`);
  await freezes(studio, "drag");
  await studio.picture(pictures, "2-drag");
});

claim("after a reload the pose is there, without a network", async ({ studio, site }) => {
  const before = (await studio.about()).status.weights;
  await pause(1500); // The autosave waits at most a second.
  await studio.page.evaluate(() => window.pliant.settled());
  site.stop();
  const began = Date.now();
  await studio.visit("#labels=1");
  figures["picture of a later visit, offline (ms)"] = Date.now() - began;
  const about = await studio.until(({ status }) => Object.keys(status.weights ?? {}).length > 0, "the pose of before");
  for (const [name, weight] of Object.entries(before)) {
    require(weight === about.status.weights[name], `${name} was ${weight} and is ${about.status.weights[name]}`);
  }
  await studio.settled();
  await studio.picture(pictures, "3-reloaded");
});

claim("a cheek is pressed", async ({ studio }) => {
  await studio.visit("#labels=1&asset=specimen:head&room=touch");
  await studio.settled();
  await studio.longTasks();
  await studio.drag([640, 430], [680, 430], 8); // The brush makes a soft patch.
  await studio.until(({ labels }) => labels.some(([label]) => /vertices/.test(label)), "a soft patch", 30);
  await freezes(studio, "brush");
  await studio.picture(pictures, "4-touch");
});

claim("a transfer runs while the window stays awake", async ({ studio }) => {
  await studio.visit("#labels=1&room=transfer");
  await studio.settled();
  await studio.press("Try the example");
  await studio.settled("the assets of the example");
  await studio.longTasks();
  await studio.press("Run transfer");
  await studio.settled("the transfer");
  await freezes(studio, "transfer");
  await studio.picture(pictures, "5-transfer");
});

claim("a hand is trained while the window stays awake, from a link", async ({ studio }) => {
  await studio.visit("#labels=1&asset=specimen:hand&room=learn");
  const about = await studio.settled();
  require(about.status.room === "learn" && about.status.asset === "specimen:hand", JSON.stringify(about.status));
  await studio.press("Try the example");
  await studio.settled("the examples");
  await studio.longTasks();
  await studio.press("Train");
  await studio.settled("the training");
  await freezes(studio, "training");
  await studio.picture(pictures, "6-learn");
});

claim("two shapes are blended", async ({ studio }) => {
  await studio.visit("#labels=1&room=blend");
  await studio.settled();
  await studio.longTasks();
  await studio.press("Try the example");
  await studio.settled("the blend");
  await freezes(studio, "blend");
  await studio.picture(pictures, "7-blend");
});

claim("a file of the computer opens", async ({ studio }) => {
  await studio.visit("#labels=1&room=pose");
  await studio.settled();
  await studio.page.evaluate(() => {
    const text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    return window.pliant.take([new File([text], "quad.obj")]);
  });
  await studio.until(({ status }) => status.asset === "/files/quad.obj", "the file");
  await studio.settled();
  await studio.picture(pictures, "8-file");
});

claim("a project is saved in the browser, and an export is downloaded", async ({ studio }) => {
  await studio.command("KeyS");
  await studio.press("Save");
  await studio.until(({ status }) => /saved/i.test(status.notice ?? ""), "the saved project");
  await studio.downloadsTo(downloads);
  await studio.command("KeyE");
  await studio.press("Export");
  await studio.until(({ status }) => /^exported/i.test(status.notice ?? ""), "the export");
  await pause(1000);
  const names = await readdir(downloads);
  require(names.length === 1, `downloads: ${names}`);
  figures["download"] = names[0];

  await studio.page.evaluate(() => window.pliant.settled());
  await studio.visit("#labels=1&asset=/files/Untitled.pliant");
  await studio.until(({ status }) => status.asset === "/files/quad.obj", "the project that was saved");
});

claim("methods give what they give on the desktop", async ({ studio }) => {
  const expected = JSON.parse(await readFile(expectedFile, "utf8"));
  const results = JSON.parse(await studio.page.evaluate(() => window.pliant.wasm.methodResults()));
  for (const [k, { name, fingerprint, values }] of expected.entries()) {
    const own = results[k];
    const size = Math.max(...values.map(Math.abs));
    const difference = Math.max(...values.map((value, i) => Math.abs(value - own.values[i]))) / size;
    figures[`${name} on page and desktop`] = own.fingerprint === fingerprint ? "same bits" : `${difference.toExponential(1)} of the largest value`;
    require(values.length === own.values.length && difference <= 1e-6, `${name} differs by ${difference}`);
  }
});

claim("a phone shows the studio, and a finger turns the view", async ({ browser, address }) => {
  const phone = await StudioPage.open(browser, `${address}#labels=1&asset=specimen:head&room=pose`, { width: 844, height: 390, touch: true });
  await phone.settled();
  await phone.page.touchscreen.touchStart(300, 100);
  await phone.page.touchscreen.touchMove(380, 120);
  await phone.page.touchscreen.touchEnd();
  await phone.settled();
  await phone.picture(pictures, "9-phone");
  require(phone.errors.length === 0, phone.errors[0]);
  await phone.page.close();
});

claim("memory stays below 600 MB", async ({ studio }) => {
  const bytes = await studio.page.evaluate(() => window.pliant.memory.buffer.byteLength);
  figures["memory of the module (MB)"] = Math.round(bytes / 1e6);
  const metrics = await studio.page.metrics();
  figures["memory of the script (MB)"] = Math.round(metrics.JSHeapTotalSize / 1e6);
  require(bytes < 600e6, `${bytes} bytes`);
});

claim("the console has no error", async ({ studio }) => {
  require(studio.errors.length === 0, studio.errors.join("\n"));
});

const profile = await mkdtemp(join(tmpdir(), "pliant-page-"));
const downloads = await mkdtemp(join(tmpdir(), "pliant-downloads-"));
const site = await host(folder);
const browser = await openBrowser(profile);
let failed = 0;
try {
  const began = Date.now();
  const studio = await StudioPage.open(browser, `${site.address}#labels=1&asset=specimen:head&room=pose`);
  const context = { studio, site, browser, began, address: site.address };
  for (const [name, check] of claims) {
    const began = Date.now();
    try {
      await check(context);
      console.log(`ok      ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}: ${error.message}`);
      await studio.picture(pictures, `failed-${failed}`).catch(() => {});
    }
  }
  for (const error of studio.errors) console.log(`console: ${error}`);
} finally {
  await browser.close();
  site.stop();
  for (const made of [profile, downloads]) await rm(made, { recursive: true, force: true });
}
for (const [name, value] of Object.entries(figures)) console.log(`${name}: ${value}`);
process.exit(failed ? 1 : 0);
