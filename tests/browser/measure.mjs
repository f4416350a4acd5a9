// How long pages take to open: the median of seven times, each in a fresh tab. Arguments: NODE_MODULES BROWSER FILE.html…
// For a person to read; no test looks at it.
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { args, launch, sizes } from "./browser.mjs";

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function times(context, file) {
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(file)).href);
  const result = await page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    return { load: performance.getEntriesByType("navigation")[0].loadEventEnd, paint: paint ? paint.startTime : NaN };
  });
  await page.close();
  return result;
}

const browser = await launch();
const context = await browser.newContext({ viewport: sizes.desk });
console.log("KiB\tfirst paint ms\tload ms\tfile");
for (const file of args) {
  const all = [];
  for (let i = 0; i < 7; ++i) all.push(await times(context, file));
  const row = [statSync(file).size / 1024, median(all.map((t) => t.paint)), median(all.map((t) => t.load))];
  console.log([...row.map((v) => v.toFixed(0)), file].join("\t"));
}
await browser.close();
