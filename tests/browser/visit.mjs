// The states in which a page is looked at, and what is looked at in each. `at` says where: {folder, name, kind}.
import { axe, fileUrl, sizes, watch } from "./browser.mjs";
import * as inPage from "./in_page.mjs";

// axe takes most of the time, above all for colours. All its rules are tried in light, elsewhere those for which the state makes a
// difference. What a text says makes none for its colour: pages that are made up have the colours of the others.
const colours = ["color-contrast", "link-in-text-block"];
const layout = ["scrollable-region-focusable", "aria-hidden-focus", "empty-heading", "heading-order", "region", "skip-link"];

// Light, dark, print, and narrower and narrower. Returns how long the page took to open, in ms.
export async function visit(context, findings, { folder, name, kind }) {
  const url = fileUrl(folder, `${name}.html`);
  const page = await context.newPage();
  const real = kind !== "hostile" && kind !== "made-up";
  let state = "light";
  watch(page, url, findings, () => `${name}, ${state}`);
  const check = async (fn, argument) => {
    for (const wrong of await page.evaluate(fn, argument)) findings.add(`${name}, ${state}`, wrong);
  };
  try {
    await page.goto(url);
    const ms = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
    if (kind === "report" || kind === "made-up") await check(inPage.firstScreen, sizes.desk.height);
    await page.evaluate(inPage.openEverything);
    await check(inPage.structure, kind === "hostile");
    await check(inPage.charts);
    await check(inPage.textContrast);
    await check(inPage.overflow, sizes.desk.width);
    await page.evaluate(axe);
    await check(inPage.accessibility, { not: kind === "hostile" ? colours : [] });
    state = "dark";
    await page.emulateMedia({ colorScheme: "dark" });
    await check(inPage.textContrast);
    if (real) await check(inPage.accessibility, { only: colours });
    state = "print from dark";
    await page.emulateMedia({ media: "print" });
    await check(inPage.onPaper);
    await check(inPage.deadControls);
    await check(inPage.textContrast);
    if (real) await check(inPage.accessibility, { only: ["color-contrast"] });
    await page.emulateMedia({ colorScheme: "light", media: "screen" });
    for (const size of [sizes.tablet, sizes.phone]) {
      state = `${size.width} px`;
      await page.setViewportSize(size);
      await check(inPage.overflow, size.width);
    }
    await check(inPage.accessibility, { only: layout });
    return ms;
  } finally {
    await page.close();
  }
}

// As where a reader, or a mail program, lets nothing run.
export async function visitWithoutScripts(context, findings, { folder, name, kind }) {
  const url = fileUrl(folder, `${name}.html`);
  const page = await context.newPage();
  const where = `${name}, scripts off`;
  watch(page, url, findings, () => where);
  const check = async (fn, argument) => {
    for (const wrong of await page.evaluate(fn, argument)) findings.add(where, wrong);
  };
  try {
    await page.goto(url);
    if (kind === "report" || kind === "made-up") await check(inPage.firstScreen, sizes.desk.height);
    await check(inPage.deadControls);
    await check(inPage.charts);
    await page.setViewportSize(sizes.phone);
    await check(inPage.overflow, sizes.phone.width);
  } finally {
    await page.close();
  }
}

// A hostile page where no content security policy holds back what got through: escaping alone has to do.
export async function visitUnprotected(context, findings, { folder, name }) {
  const url = fileUrl(folder, `${name}.html`);
  const page = await context.newPage();
  const where = `${name}, without its policy`;
  watch(page, url, findings, () => where);
  try {
    await page.goto(url);
    await page.evaluate(inPage.openEverything);
    for (const wrong of await page.evaluate(inPage.structure, true)) findings.add(where, wrong);
  } finally {
    await page.close();
  }
}
