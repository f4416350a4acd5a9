// The page in use, with the keyboard alone and with scripts off: what a reader does must not need more. Arguments: NODE_MODULES
// BROWSER FOLDER.
import { args, fileUrl, Findings, finish, launch, sizes, watch } from "./browser.mjs";

const [folder] = args;
const findings = new Findings();
const flawed = "weights-every-batch";
const expect = (holds, what) => {
  if (!holds) findings.add(flawed, what);
};

// Presses Tab until nothing new is focused; returns the place in the document of each stop.
async function stops(page) {
  const seen = [];
  for (;;) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === document.body) return null;
      const seen = e.checkVisibility() && e.getBoundingClientRect().width > 0;
      const ring = getComputedStyle(e);
      return { index: [...document.querySelectorAll("*")].indexOf(e), name: `${e.localName}.${e.className}`, seen, ring: ring.outlineStyle !== "none" };
    });
    if (!at || seen.some((s) => s.index === at.index)) return seen;
    seen.push(at);
  }
}

async function focusFollowsTheDocument(page) {
  const all = await stops(page);
  const reachable = await page.evaluate(
    () => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled).length);
  expect(all.length === reachable, `Tab reaches ${all.length} of ${reachable} places`);
  expect(all.length > 10, `only ${all.length} places can be reached with Tab`);
  for (const [i, stop] of all.entries()) {
    expect(i === 0 || stop.index > all[i - 1].index, `the focus jumps back to ${stop.name}`);
    expect(stop.seen, `the focus is on ${stop.name}, which is not seen`);
    expect(stop.ring, `nothing shows that ${stop.name} has the focus`);
  }
}

async function keysOpenWhatIsFolded(page) {
  const folded = page.locator("details.folded > summary").first();
  const inside = page.locator("details.folded .card").first();
  expect(!(await inside.isVisible()), "passed checks are not folded at first");
  await folded.focus();
  await page.keyboard.press("Enter");
  expect(await inside.isVisible(), "Enter does not unfold the passed checks");
}

async function hintsOpenOneAtATime(page) {
  const hints = page.locator(".card.failed").first().locator("details.hint");
  const count = await hints.count();
  expect(count >= 2, `the failed check has ${count} hints`);
  for (let i = 0; i < count; ++i) {
    const shown = await hints.evaluateAll((all) => all.filter((e) => e.checkVisibility()).length);
    expect(shown === i + 1, `after ${i} hints, ${shown} can be seen`);
    await hints.nth(i).locator("> summary").focus();
    await page.keyboard.press("Enter");
    expect(await hints.nth(i).locator("> p").isVisible(), `Enter does not open hint ${i + 1}`);
  }
}

// A link to a part that is folded must lead to something that is seen.
async function linksLeadToWhatIsSeen(page) {
  for (const link of await page.locator('a[href^="#"]').all()) {
    if (!(await link.isVisible())) continue;
    const target = decodeURIComponent((await link.getAttribute("href")).slice(1));
    await link.focus();
    await page.keyboard.press("Enter");
    const top = await page.evaluate((id) => {
      const e = document.getElementById(id);
      return e.checkVisibility() ? e.getBoundingClientRect().top : null;
    }, target);
    expect(top !== null && top > -1 && top < sizes.desk.height, `the link to #${target} leads to nothing that is seen`);
  }
}

// What the script adds: each tool does what it says.
async function toolsWork(page) {
  const shown = () => page.locator("details.card").evaluateAll((all) => all.filter((e) => !e.hidden).length);
  const all = await shown();
  await page.fill("#filter", "bytes-up");
  expect((await shown()) < all && (await shown()) > 0, "the filter shows all or nothing");
  await page.fill("#filter", "");
  await page.selectOption("#filter-status", "failed");
  expect(await page.locator("details.card.failed").first().isVisible(), "the filter by status hides what failed");
  expect(!(await page.locator("details.card.passed").first().isVisible()), "the filter by status shows what passed");
  await page.selectOption("#filter-status", "");
  expect((await shown()) === all, "the filter does not let go");
  await page.getByRole("button", { name: "Open all" }).click();
  expect(await page.locator("details.card").evaluateAll((cards) => cards.every((e) => e.open)), "Open all leaves cards closed");
  await page.getByRole("button", { name: "Close all" }).click();
  expect(await page.locator("details.card").evaluateAll((cards) => cards.every((e) => !e.open)), "Close all leaves cards open");
  await page.getByRole("button", { name: "Open all" }).click();
}

async function themesSwitch(page) {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const auto = await paper();
  const theme = page.locator("button.theme");
  await theme.click();
  await theme.click();
  expect((await theme.textContent()) === "Theme: dark" && (await paper()) !== auto, "the dark theme looks like the light one");
  await page.reload();
  expect((await theme.textContent()) === "Theme: dark", "the theme is forgotten when the page is loaded again");
  await theme.click();
}

async function commandsAreCopied(page) {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator("button.copy").first().click();
  const [copied, command] = await Promise.all([page.evaluate(() => navigator.clipboard.readText()), page.locator(".command").first().textContent()]);
  expect(copied === command, `copied is '${copied}', not '${command}'`);
  // Where no way to copy works the page says so, and the command is selected for the reader's own keys.
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
    document.execCommand = () => false;
  });
  const second = page.locator("button.copy").last();
  await second.click();
  await second.getByText("Selected").waitFor();
  const selected = await page.evaluate(() => getSelection().toString());
  expect(selected === (await page.locator(".command").last().textContent()), `selected is '${selected}'`);
}

async function timelinesGrow(page) {
  const chart = page.locator("svg.timeline").first();
  const width = async () => (await chart.boundingBox()).width;
  const whole = await width();
  await page.getByRole("button", { name: "Closer" }).first().click();
  expect(Math.abs((await width()) - 2 * whole) < 2, "Closer does not double the timeline");
  await page.locator(".zoomed").first().focus();
  await page.keyboard.press("-");
  expect(Math.abs((await width()) - whole) < 2, "the key - does not lead back");
  await page.locator("svg.timeline rect.bar").first().hover();
  expect(await page.locator(".tip").isVisible(), "pointing at a bar says nothing");
}

async function theReportIsSaved(page) {
  page.removeAllListeners("download");  // here it is wanted
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the data" }).click()]);
  const text = await (await download.createReadStream()).setEncoding("utf8").toArray();
  expect(JSON.parse(text.join("")).schema === "labrig.report/1", "what is saved is no report");
}

const browser = await launch();
try {
  for (const javaScriptEnabled of [true, false]) {
    const context = await browser.newContext({ viewport: sizes.desk, offline: true, javaScriptEnabled });
    const tools = [toolsWork, themesSwitch, commandsAreCopied, timelinesGrow, theReportIsSaved];
    for (const use of [focusFollowsTheDocument, keysOpenWhatIsFolded, hintsOpenOneAtATime, linksLeadToWhatIsSeen, ...(javaScriptEnabled ? tools : [])]) {
      const page = await context.newPage();
      const url = fileUrl(folder, `${flawed}.html`);
      watch(page, url, findings, () => `${flawed}, scripts ${javaScriptEnabled ? "on" : "off"}`);
      await page.goto(url);
      await use(page);
      await page.close();
    }
  }
} finally {
  await browser.close();
}
finish(findings, "filter, themes, copies, timelines and saving work; the keyboard reaches, opens and follows everything, with and without scripts");
