// The browser of these tests, and what is noted about each page that it opens: whatever leaves the file or goes wrong in it.
// Arguments of every script here: the folder of node_modules, the browser's program, then the script's own.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , modules, program, ...rest] = process.argv;
if (!program) {
  console.error(`usage: node ${process.argv[1]} NODE_MODULES BROWSER …`);
  process.exit(2);
}
// What npm installed lies in the build folder, where an import from the source tree does not look.
const require = createRequire(resolve(modules, "browser.cjs"));
const { chromium } = require("playwright-core");

export const args = rest;
export const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const fileUrl = (folder, name) => pathToFileURL(join(folder, name)).href;
// The phone, the width at which the layout changes, and the first screen of a laptop.
export const sizes = { phone: { width: 360, height: 740 }, tablet: { width: 736, height: 1000 }, desk: { width: 1280, height: 800 } };

export function launch() {
  return chromium.launch({
    executablePath: program,
    // As root, as in a container, Chromium has no sandbox of its own.
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
  });
}

// Collects sentences, each once: the same mistake in five states is one line with the first state.
export class Findings {
  #seen = new Map();
  add(where, what) {
    const at = this.#seen.get(what);
    if (at) at.push(where);
    else this.#seen.set(what, [where]);
  }
  get count() {
    return this.#seen.size;
  }
  lines() {
    return [...this.#seen].map(([what, where]) => {
      const more = where.length > 1 ? ` (and ${where.length - 1} more)` : "";
      return `${where[0]}${more}: ${what}`;
    });
  }
}

// Notes everything that a page of one file must never do. `where` is asked each time: a page goes through several states.
export function watch(page, url, findings, where) {
  const note = (what) => findings.add(where(), what);
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url) note(`a request leaves the file: ${request.url().slice(0, 120)}`);
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) note(`console ${message.type()}: ${message.text().slice(0, 300)}`);
  });
  page.on("pageerror", (error) => note(`an error in a script: ${String(error).slice(0, 300)}`));
  page.on("crash", () => note("the page crashed"));
  page.on("popup", () => note("a window was opened"));
  page.on("download", () => note("a download was started"));
  page.on("dialog", (dialog) => {
    note(`a dialog was shown: ${dialog.message().slice(0, 100)}`);
    dialog.dismiss();
  });
}

// Prints what was found and ends the process: 0 when nothing was.
export function finish(findings, done) {
  for (const line of findings.lines()) console.log(`FAILED ${line}`);
  console.log(findings.count ? `${findings.count} findings; ${done}` : `ok: ${done}`);
  process.exitCode = findings.count ? 1 : 0;
}
