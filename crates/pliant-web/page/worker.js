// A thread of the studio: the same module over the same memory.
import { initSync, runJob } from "./pliant_web.js";

globalThis.pliant = {
  hasThreads: () => false,
  wakePage: () => postMessage({ wake: true }),
  failed: what => postMessage({ failed: String(what) }),
  runInWorker() { throw new Error("a worker starts no worker"); },
};

onmessage = ({ data }) => {
  try {
    if (data.module) initSync({ module: data.module, memory: data.memory });
    if (data.job) {
      runJob(data.job);
      postMessage({ done: true });
    }
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
