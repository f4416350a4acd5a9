// The tests of the tests: on a page with every mistake each of them is found, in the state where it shows; on a good page none.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Findings, finish, launch, sizes } from "./browser.mjs";
import { visit, visitWithoutScripts } from "./visit.mjs";

const at = { folder: dirname(fileURLToPath(import.meta.url)), name: "mistakes", kind: "report" };
const expected = [
  "a request leaves the file: https://labrig.invalid/picture.png",
  "Content Security Policy",
  "console error: said on purpose",
  "an error in a script: Error: on purpose",
  "a dialog was shown",
  "a text of the report was executed",
  "has the element img",
  "has a handler: img onerror",
  "has a link that runs: javascript:",
  "the id twice stands twice",
  "no target for the link #nowhere",
  "for names missing",
  "has no verdict",
  "has no score",
  "the next step ends at",
  "svg.chart has no role img",
  "svg.chart has no title",
  "svg.chart has no desc",
  "svg.chart is followed by no table",
  'of "white on yellow" in text.on-bar',
  'of "Too pale to read." in p.pale',
  "mistakes, light: axe color-contrast",
  "mistakes, light: axe html-has-lang",
  "mistakes, dark (and 1 more): axe color-contrast",
  "mistakes, print from dark: the paper is not white",
  'mistakes, print from dark (and 1 more): offers button "does nothing"',
  "mistakes, 360 px (and 1 more): 500 px wide where 360 are; div.wide reaches out",
];

const found = new Findings();
const browser = await launch();
try {
  const context = await browser.newContext({ viewport: sizes.desk, offline: true });
  await visit(context, found, at);
  await visitWithoutScripts(await browser.newContext({ viewport: sizes.desk, offline: true, javaScriptEnabled: false }), found, at);
} finally {
  await browser.close();
}
const lines = found.lines();
const missed = new Findings();
for (const one of expected) if (!lines.some((line) => line.includes(one))) missed.add("not found", one);
if (missed.count) console.log(lines.join("\n"));
finish(missed, `each of ${expected.length} mistakes is found`);
