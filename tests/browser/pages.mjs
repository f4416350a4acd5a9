// Opens every page in light, dark, at 360 px, as print and with scripts off, and says what is wrong with it. One browser, one
// process, two pages at a time. Arguments: NODE_MODULES BROWSER FOLDER, where FOLDER has the pages and pages.json.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { args, axe, fileUrl, Findings, finish, launch, sizes, watch } from "./browser.mjs";
import * as inPage from "./in_page.mjs";

const folder = args[0];
const only = args.slice(1);  // names of pages, to look at few of them
const pages = JSON.parse(readFileSync(join(folder, "pages.json"), "utf8")).filter((p) => !only.length || only.includes(p.name));
const findings = new Findings();
const opened = [];

// Rules that look at colours, which are the slow ones; the width of the window changes nothing for them.
const colours = ["color-contrast", "link-in-text-block"];

async function visit(context, { name, kind }) {
  const url = fileUrl(folder, `${name}.html`);
  const page = await context.newPage();
  let state = "light";
  watch(page, url, findings, () => `${name}, ${state}`);
  const check = async (fn, argument) => {
    for (const wrong of await page.evaluate(fn, argument)) findings.add(`${name}, ${state}`, wrong);
  };
  try {
    await page.goto(url);
    opened.push({ name, ms: await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd) });
    if (kind === "report") await check(inPage.firstScreen, sizes.desk.height);
    await page.evaluate(inPage.openEverything);
    await check(inPage.structure, kind === "hostile");
    await check(inPage.charts);
    await check(inPage.chartContrast);
    await check(inPage.overflow, sizes.desk.width);
    await page.evaluate(axe);
    await check(inPage.accessibility, {});
    state = "dark";
    await page.emulateMedia({ colorScheme: "dark" });
    await check(inPage.chartContrast);
    await check(inPage.accessibility, { only: colours });
    state = "print from dark";
    await page.emulateMedia({ media: "print" });
    await check(inPage.onPaper);
    await check(inPage.deadControls);
    await check(inPage.chartContrast);
    await check(inPage.accessibility, { only: colours });
    await page.emulateMedia({ colorScheme: "light", media: "screen" });
    for (const size of [sizes.tablet, sizes.phone]) {
      state = `${size.width} px`;
      await page.setViewportSize(size);
      await check(inPage.overflow, size.width);
    }
    await check(inPage.accessibility, { without: colours });
  } finally {
    await page.close();
  }
}

async function visitWithoutScripts(context, { name, kind }) {
  const url = fileUrl(folder, `${name}.html`);
  const page = await context.newPage();
  const where = `${name}, scripts off`;
  watch(page, url, findings, () => where);
  try {
    await page.goto(url);
    for (const fn of [inPage.deadControls, inPage.charts]) {
      for (const wrong of await page.evaluate(fn)) findings.add(where, wrong);
    }
    if (kind === "report") for (const wrong of await page.evaluate(inPage.firstScreen, sizes.desk.height)) findings.add(where, wrong);
    await page.setViewportSize(sizes.phone);
    for (const wrong of await page.evaluate(inPage.overflow, sizes.phone.width)) findings.add(where, wrong);
  } finally {
    await page.close();
  }
}

const browser = await launch();
const start = Date.now();
try {
  const plain = await browser.newContext({ viewport: sizes.desk, offline: true });
  const silent = await browser.newContext({ viewport: sizes.desk, offline: true, javaScriptEnabled: false });
  // The largest first, so that neither worker is left alone with it at the end.
  const bytes = ({ name }) => statSync(join(folder, `${name}.html`)).size;
  const queue = [...pages].sort((a, b) => bytes(b) - bytes(a));
  const worker = async () => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      await visit(plain, one);
      await visitWithoutScripts(silent, one);
    }
  };
  await Promise.all([worker(), worker()]);
} finally {
  await browser.close();
}
const slowest = opened.sort((a, b) => b.ms - a.ms)[0];
console.log(`slowest to open: ${slowest.name}, ${Math.round(slowest.ms)} ms`);
finish(findings, `${pages.length} pages in light, dark, print, at 360 px and without scripts, ${((Date.now() - start) / 1000).toFixed(0)} s`);
