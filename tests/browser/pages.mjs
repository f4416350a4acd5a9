// Opens every page in light, dark, at 360 px, as print and with scripts off, and says what is wrong with it. One browser, one
// process, two pages at a time. Arguments: NODE_MODULES BROWSER FOLDER [NAME…], where FOLDER has the pages and pages.json.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { args, Findings, finish, launch, sizes } from "./browser.mjs";
import { visit, visitUnprotected, visitWithoutScripts } from "./visit.mjs";

const [folder, ...only] = args;
const bytes = (name) => statSync(join(folder, `${name}.html`)).size;
const pages = JSON.parse(readFileSync(join(folder, "pages.json"), "utf8")).filter((p) => !only.length || only.includes(p.name));
// The largest first, so that neither worker is left alone with it at the end.
const queue = pages.map((p) => ({ ...p, folder, bytes: bytes(p.name) })).sort((a, b) => b.bytes - a.bytes);

const findings = new Findings();
const opened = [];
const browser = await launch();
const start = Date.now();
try {
  const plain = await browser.newContext({ viewport: sizes.desk, offline: true });
  const silent = await browser.newContext({ viewport: sizes.desk, offline: true, javaScriptEnabled: false });
  const unprotected = await browser.newContext({ viewport: sizes.desk, offline: true, bypassCSP: true });
  const worker = async () => {
    for (let at = queue.shift(); at; at = queue.shift()) {
      opened.push({ ...at, ms: await visit(plain, findings, at) });
      await visitWithoutScripts(silent, findings, at);
      if (at.kind === "hostile") await visitUnprotected(unprotected, findings, at);
    }
  };
  await Promise.all([worker(), worker()]);
} finally {
  await browser.close();
}
if (!opened.length) findings.add(folder, "has no page to look at");
for (const { name, ms, bytes } of opened.sort((a, b) => b.ms - a.ms).slice(0, 3)) {
  console.log(`slow to open: ${name}, ${Math.round(ms)} ms, ${Math.round(bytes / 1024)} KiB`);
}
const seconds = Math.round((Date.now() - start) / 1000);
finish(findings, `${pages.length} pages in light, dark, print, at ${sizes.phone.width} px and without scripts, ${seconds} s`);
