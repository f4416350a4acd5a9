// The pictures of the documents, from the same pages that the tests open: FOLDER/NAME.png. tools/screenshots.sh runs this and
// makes them small. Arguments: NODE_MODULES BROWSER FOLDER.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { args, fileUrl, launch, sizes } from "./browser.mjs";

const [folder] = args;
const flawed = "weights-every-batch";
// Of a page: its first screen, or from the element `from` on, which is scrolled to and opened.
const shots = [
  { name: "report-passing", page: "solution", size: { width: 1000, height: 560 } },
  { name: "report-failing", page: flawed, size: { width: 1000, height: 1000 } },
  { name: "report-dark", page: flawed, size: { width: 1000, height: 700 }, colorScheme: "dark" },
  { name: "report-phone", page: flawed, size: sizes.phone },
  { name: "report-timeline", page: flawed, size: { width: 1000, height: 620 }, from: "svg.timeline" },
  { name: "report-memory", page: flawed, size: { width: 1000, height: 480 }, from: "svg.memory" },
  { name: "report-hazard", page: "hazard", size: { width: 1000, height: 640 }, from: ".hazard", above: 130 },
  { name: "class-index", page: "index-class", size: { width: 1000, height: 560 } },
];

// Opens the folds around the first such element, and scrolls until `above` pixels before it are seen.
function bring({ from: selector, above = 48 }) {
  const element = document.querySelector(selector);
  for (let e = element; e; e = e.parentElement) if (e.localName === "details") e.open = true;
  const top = (element.closest("figure") || element).getBoundingClientRect().top + window.scrollY;
  window.scrollTo({ top: top - above, behavior: "instant" });
}

const browser = await launch();
try {
  for (const { name, page: of, size, from, above, colorScheme = "light" } of shots) {
    if (!existsSync(join(folder, `${of}.html`))) throw new Error(`no page ${of} in ${folder} for the picture ${name}`);
    const page = await browser.newPage({ viewport: size, colorScheme });
    await page.goto(fileUrl(folder, `${of}.html`));
    if (from) await page.evaluate(bring, { from, above });
    await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
    await page.close();
    console.log(name);
  }
} finally {
  await browser.close();
}
