// The page around the studio: loading, workers, storage, files of the computer.
import { storedFiles, keep, drop, settled } from "./storage.js";

const message = document.getElementById("message");
const text = document.getElementById("text");
const progress = document.getElementById("loaded");
const canvas = document.getElementById("studio");
const began = performance.now();

// The window needs 960 by 600 points; a phone shows it smaller.
function fitWindow() {
  const scale = Math.min(1, screen.width / 960, screen.height / 600);
  const width = scale < 1 ? Math.round(screen.width / scale) : "device-width";
  document.querySelector("meta[name=viewport]").content = `width=${width}, user-scalable=no`;
}
fitWindow();
screen.orientation?.addEventListener("change", fitWindow);

/** What tests read: times in milliseconds, the state of the studio, failures. */
const about = { times: {}, status: {}, failures: [], threads: crossOriginIsolated, workers: 0 };

function fail(what) {
  about.failures.push(String(what));
  message.hidden = false;
  progress.parentElement.hidden = true;
  text.textContent = `Pliant stopped because of a program error. Your work up to the last second is kept: reload the page to go on. (${String(what).slice(0, 300)})`;
}
addEventListener("unhandledrejection", event => fail(event.reason));

// A service worker answers without the network, and with the headers that shared memory needs.
async function prepareServiceWorker() {
  if (!("serviceWorker" in navigator)) return;
  const registration = await navigator.serviceWorker.register("./service-worker.js");
  if (crossOriginIsolated || sessionStorage.getItem("pliant reloaded")) return;
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  if (worker && worker.state !== "activated") {
    await new Promise(resolve => {
      worker.addEventListener("statechange", () => ["activated", "redundant"].includes(worker.state) && resolve());
      setTimeout(resolve, 5000);
    });
  }
  // Once: a host that cannot share memory still runs the studio, on one thread.
  sessionStorage.setItem("pliant reloaded", "yes");
  location.reload();
  await new Promise(() => {});
}

/** The module, with a progress bar while it is loaded. */
async function loadModule() {
  const response = await fetch("./pliant_web_bg.wasm");
  if (!response.ok) throw new Error(`pliant_web_bg.wasm: ${response.status}`);
  const total = Number(response.headers.get("x-pliant-size")) || Number("/*bytes*/");
  let count = 0;
  const counted = response.body.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      count += chunk.length;
      progress.value = Math.min(1, count / total);
      controller.enqueue(chunk);
    },
  }));
  return WebAssembly.compileStreaming(new Response(counted, { headers: { "content-type": "application/wasm" } }));
}

// Workers that have nothing to do wait here for the next job.
let wasm, module, memory;
const idle = [];
function runInWorker(job) {
  const worker = idle.pop() ?? startWorker();
  worker.job = job;
  worker.postMessage({ job });
}
function startWorker() {
  const worker = new Worker("./worker.js", { type: "module" });
  about.workers += 1;
  worker.postMessage({ module, memory });
  worker.onmessage = ({ data }) => {
    if (data.wake) wasm.repaint();
    if (data.failed) fail(data.failed);
    if (data.done) { idle.push(worker); wasm.repaint(); }
  };
  worker.onerror = event => fail(event.message);
  return worker;
}

/** Saves bytes as a file of the computer. */
function download(name, bytes) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes.slice()]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function take(files) {
  const paths = [];
  for (const file of files) paths.push(wasm.putFile(file.name, new Uint8Array(await file.arrayBuffer())));
  if (paths.length) wasm.filesArrived(paths);
}

const chooser = document.createElement("input");
chooser.type = "file";
chooser.multiple = true;
chooser.style.display = "none";
document.body.append(chooser);
chooser.onchange = () => { take([...chooser.files]); chooser.value = ""; };

// The window is told of a drop as well, and ignores its files, which have no path.
addEventListener("drop", event => { event.preventDefault(); take([...event.dataTransfer.files]); }, true);
addEventListener("dragover", event => event.preventDefault(), true);

globalThis.pliant = {
  about,
  take,
  settled,
  hasThreads: () => crossOriginIsolated && memory instanceof WebAssembly.Memory && memory.buffer instanceof SharedArrayBuffer,
  runInWorker,
  wakePage() {},
  keepFile: (path, bytes) => keep(path, bytes.slice()),
  dropFile: path => drop(path),
  download,
  askFiles(endings) { chooser.accept = endings; chooser.click(); },
  failed: fail,
  firstPicture() {
    about.times.picture = performance.now() - began;
    message.hidden = true;
    canvas.focus();
  },
  labels(json) { about.labels = JSON.parse(json); },
  status(json) { about.status = JSON.parse(json); },
};

async function begin() {
  await prepareServiceWorker();
  const [loaded, bindings, files] = await Promise.all([loadModule(), import("./pliant_web.js"), storedFiles()]);
  about.times.loaded = performance.now() - began;
  module = loaded;
  await bindings.default({ module_or_path: module });
  wasm = bindings;
  memory = wasm.sharedMemory();
  globalThis.pliant.wasm = bindings;
  globalThis.pliant.memory = memory;
  for (const [path, bytes] of files) wasm.restoreFile(path, bytes);
  await wasm.start(canvas, location.hash);
  about.times.started = performance.now() - began;
  // A thread takes a moment to start; the first questions should not wait for it.
  if (globalThis.pliant.hasThreads()) idle.push(startWorker(), startWorker(), startWorker());
}

begin().catch(fail);
addEventListener("hashchange", () => location.reload());
