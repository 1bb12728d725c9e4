// Chromium, and what a person does in it.
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

// Installed outside of the clone; NODE_PATH says where.
const require = createRequire(join(process.env.NODE_PATH ?? ".", "x"));
const puppeteer = require("puppeteer-core");

/** A software driver: WebGL2 without a graphics card. */
const ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];

export async function openBrowser(profile) {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return puppeteer.launch({ executablePath, headless: true, userDataDir: profile, protocolTimeout: 600_000, args: ARGUMENTS });
}

export const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** The page of the studio, whose errors are collected. */
export class StudioPage {
  static async open(browser, address, { width = 1280, height = 800, touch = false } = {}) {
    const page = await browser.newPage();
    await page.setViewport({ width, height, hasTouch: touch, isMobile: touch });
    const studio = new StudioPage(page);
    page.on("console", m => ["error", "assert"].includes(m.type()) && studio.errors.push(m.text()));
    page.on("pageerror", error => studio.errors.push(String(error.message ?? error)));
    await page.evaluateOnNewDocument(() => {
      window.longTasks = [];
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) window.longTasks.push(Math.round(entry.duration));
      }).observe({ entryTypes: ["longtask"] });
    });
    await page.goto(address);
    await studio.until(about => about.times.picture, "the first picture");
    studio.opened = Date.now();
    return studio;
  }

  /** Opens a link anew. */
  async visit(hash) {
    await this.page.evaluate(hash => { window.pliant.about.times = {}; history.replaceState(null, "", hash); location.reload(); }, hash).catch(() => {});
    await pause(300);
    await this.until(about => about.times.picture, `the picture of ${hash}`);
  }

  constructor(page) {
    this.page = page;
    this.errors = [];
  }

  about() {
    return this.page.evaluate(() => window.pliant ? structuredClone(window.pliant.about) : { times: {}, status: {}, failures: [] });
  }

  /** Waits until `condition` holds of what the page says about itself. */
  async until(condition, what, seconds = 120) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      let about;
      try {
        about = await this.about();
      } catch {
        about = { times: {}, status: {}, failures: [] }; // The page is being loaded again.
      }
      if (about.failures.length) throw new Error(`the page failed: ${about.failures[0]}`);
      if (condition(about)) return about;
      if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}: ${JSON.stringify(about).slice(0, 600)}`);
      await pause(100);
    }
  }

  /** Waits until nothing is in progress. */
  async settled(what = "the end of all work") {
    await pause(300);
    return this.until(about => about.status.busy === false, what);
  }

  /** Presses what a person sees under this name. */
  async press(label) {
    const about = await this.until(({ labels }) => labels?.some(([name, , enabled]) => enabled && name === label), `'${label}' to press`, 30);
    // A dialog bears the name of its button, which is at its end.
    const places = about.labels.filter(([name, , enabled]) => enabled && name === label).map(([, middle]) => middle);
    places.sort((a, b) => b[1] - a[1]);
    await this.page.mouse.click(...places[0]);
    await pause(200);
  }

  /** A key with Ctrl. */
  async command(key) {
    await this.page.keyboard.down("ControlLeft");
    await this.page.keyboard.press(key);
    await this.page.keyboard.up("ControlLeft");
    await pause(300);
  }

  /** Downloads go to a folder. */
  async downloadsTo(folder) {
    const session = await this.page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
  }

  async drag(from, to, steps = 12) {
    const { mouse } = this.page;
    await mouse.move(...from);
    await mouse.down();
    for (let k = 1; k <= steps; k++) {
      await mouse.move(from[0] + ((to[0] - from[0]) * k) / steps, from[1] + ((to[1] - from[1]) * k) / steps);
      await pause(60);
    }
    await mouse.up();
  }

  /** The durations of tasks that held the page's thread for more than 50 ms since the last call. */
  longTasks() {
    return this.page.evaluate(() => window.longTasks.splice(0).sort((a, b) => a - b));
  }

  async picture(folder, name) {
    await mkdir(folder, { recursive: true });
    const bytes = await this.page.screenshot();
    await writeFile(join(folder, `${name}.png`), bytes);
    return bytes;
  }
}
