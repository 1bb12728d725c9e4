// Files in the storage of the browser (IndexedDB), by path.
const NAME = "pliant";
const SESSION = /^\/state\/sessions\/([^/]+)\.(pliant|starts|damaged)$/;

let opened;
function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("files");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

/** Sessions of pages that are open hold a lock under the name of the session. */
async function liveSessions() {
  if (!navigator.locks) return new Set();
  const { held } = await navigator.locks.query();
  return new Set(held.map(lock => lock.name));
}

/** All files that were kept, except the unsaved work of pages that are still open. */
export async function storedFiles() {
  try {
    const [base, live] = await Promise.all([database(), liveSessions()]);
    const store = base.transaction("files").objectStore("files");
    const all = request => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const [paths, contents] = await Promise.all([all(store.getAllKeys()), all(store.getAll())]);
    const files = paths.map((path, k) => [path, contents[k]]);
    // Older writes first, so that the disk in memory knows their order.
    files.sort((a, b) => a[1].written - b[1].written);
    return files.filter(([path]) => !live.has(SESSION.exec(path)?.[1])).map(([path, { bytes }]) => [path, bytes]);
  } catch (error) {
    // A private window may have no storage; the studio works without.
    console.warn("Files are not kept after this visit:", error);
    return [];
  }
}

// Changes in their order; only the last one of each file counts.
const waiting = new Map();
let running = null;

/** Keeps a file. */
export function keep(path, bytes) {
  const session = SESSION.exec(path)?.[1];
  if (session) hold(session);
  waiting.set(path, { bytes, written: Date.now() + performance.now() % 1 });
  running ??= write();
}

/** Removes a file. */
export function drop(path) {
  waiting.set(path, null);
  running ??= write();
}

/** When everything that was given to `keep` is stored. */
export async function settled() {
  while (running) await running;
}

async function write() {
  try {
    const base = await database();
    while (waiting.size) {
      const changes = [...waiting];
      waiting.clear();
      await new Promise((resolve, reject) => {
        const transaction = base.transaction("files", "readwrite", { durability: "relaxed" });
        const store = transaction.objectStore("files");
        for (const [path, file] of changes) file ? store.put(file, path) : store.delete(path);
        transaction.oncomplete = resolve;
        transaction.onerror = () => reject(transaction.error);
        transaction.onabort = () => reject(transaction.error);
      });
    }
  } catch (error) {
    console.warn("Files are not kept after this visit:", error);
  } finally {
    running = null;
  }
}

// The lock ends with the page, however it ends.
const holding = new Set();
function hold(session) {
  if (holding.has(session) || !navigator.locks) return;
  holding.add(session);
  navigator.locks.request(session, () => new Promise(() => {}));
}
