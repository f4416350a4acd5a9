// Functions that run inside a page, each handed over as its text: they use nothing from outside themselves. All but the first
// return sentences about what is wrong.

export function openEverything() {
  for (const details of document.querySelectorAll("details")) details.open = true;
}

export function overflow(width) {
  const wide = document.documentElement.scrollWidth;
  if (wide <= width) return [];
  const past = (e) => e.getBoundingClientRect().right > width + 1;
  const widest = [...document.body.querySelectorAll("*")].filter((e) => past(e) && ![...e.children].some(past))[0];
  const name = widest ? `${widest.localName}.${widest.getAttribute("class")}` : "nothing";
  return [`${wide} px wide where ${width} are; ${name} reaches out`];
}

// Nothing that could fetch, run or send; ids that links and labels can rely on.
export function structure(hostile) {
  const wrong = [];
  const all = [...document.querySelectorAll("*")];
  if (window.hacked !== undefined) wrong.push("a text of the report was executed");
  const foreign = document.querySelector("img, iframe, object, embed, form, link, base, audio, video, meta[http-equiv=refresh]");
  if (foreign) wrong.push(`has the element ${foreign.localName}`);
  for (const e of all) {
    const handler = e.getAttributeNames().find((n) => n.startsWith("on"));
    if (handler) wrong.push(`has a handler: ${e.localName} ${handler}`);
  }
  for (const a of document.querySelectorAll("a[href]")) {
    if (!/^(file|https):$/.test(a.protocol)) wrong.push(`has a link that runs: ${a.protocol}`);
  }
  // There every id is made of one text.
  if (hostile) return wrong;
  const ids = all.filter((e) => e.id).map((e) => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) wrong.push(`the id ${id} stands twice`);
  for (const a of document.querySelectorAll('a[href^="#"]')) {
    const id = decodeURIComponent(a.getAttribute("href").slice(1));
    if (id && !document.getElementById(id)) wrong.push(`no target for the link #${id}`);
  }
  for (const e of all) {
    for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "for"]) {
      for (const id of (e.getAttribute(name) || "").split(/\s+/).filter(Boolean)) {
        if (!document.getElementById(id)) wrong.push(`${name} names ${id}, which is not there`);
      }
    }
  }
  return wrong;
}

// The first screen has the verdict, the score and the one next step with its command.
export function firstScreen(height) {
  const wrong = [];
  const parts = { verdict: "h1", score: ".score", "next step": ".next" };
  for (const [name, selector] of Object.entries(parts)) {
    const e = document.querySelector(selector);
    if (!e) {
      if (name !== "next step") wrong.push(`has no ${name} (${selector})`);
    } else if (e.getBoundingClientRect().bottom > height) {
      wrong.push(`the ${name} ends at ${Math.round(e.getBoundingClientRect().bottom)} px, below the first ${height}`);
    }
  }
  return wrong;
}

// A picture says what it is, and has its numbers in a table that follows it.
export function charts() {
  const wrong = [];
  for (const svg of document.querySelectorAll("svg:not([aria-hidden]):not(svg svg)")) {
    const name = `svg.${svg.getAttribute("class")}`;
    const text = (tag) => [...svg.children].find((e) => e.localName === tag)?.textContent.trim();
    if (svg.getAttribute("role") !== "img") wrong.push(`${name} has no role img`);
    if (!text("title") && !svg.getAttribute("aria-label")) wrong.push(`${name} has no title`);
    if (!svg.classList.contains("chart")) continue;
    if (!text("desc")) wrong.push(`${name} has no desc`);
    const figure = svg.closest("figure");
    const tables = figure ? [...figure.querySelectorAll("table")] : [];
    const after = tables.find((t) => svg.compareDocumentPosition(t) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (!after) wrong.push(`${name} is followed by no table`);
    else if (after.querySelectorAll("tbody tr").length === 0) wrong.push(`the table of ${name} is empty`);
  }
  return wrong;
}

// Contrast of every text against what is painted under it, in HTML and in pictures, which axe leaves out.
export function textContrast() {
  const parse = (text) => {
    const p = (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return { c: p.slice(0, 3), a: p.length > 3 ? p[3] : 1 };
  };
  const over = (top, a, bottom) => bottom.map((v, i) => top[i] * a + v * (1 - a));
  const luminance = (c) => {
    const f = c.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2];
  };
  const ratio = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  // The colours that may lie under the text of an element: one, or more where a gradient does.
  const known = new Map();
  const grounds = (e) => {
    if (!e) return [[255, 255, 255]];
    if (known.has(e)) return known.get(e);
    const s = getComputedStyle(e), back = parse(s.backgroundColor);
    let all = (back.a === 1 ? [[255, 255, 255]] : grounds(e.parentElement)).map((under) => over(back.c, back.a, under));
    const stops = s.backgroundImage === "none" ? [] : (s.backgroundImage.match(/rgba?\([^)]*\)/g) || []).map(parse);
    all = all.flatMap((under) => [under, ...stops.map((stop) => over(stop.c, stop.a, under))]);
    known.set(e, all);
    return all;
  };
  const clear = new Map();
  const opacity = (e) => {
    if (!e) return 1;
    if (!clear.has(e)) clear.set(e, opacity(e.parentElement) * getComputedStyle(e).opacity);
    return clear.get(e);
  };
  const wrong = [];
  const judge = (e, ink, under) => {
    const worst = Math.min(...under.map((g) => ratio(over(ink.c, ink.a, g), g)));
    if (worst < 4.5) wrong.push(`contrast ${worst.toFixed(2)} of "${e.textContent.trim().slice(0, 40)}" in ${e.localName}.${e.getAttribute("class")}`);
  };
  for (const e of document.body.querySelectorAll("*:not(svg, svg *, script, style, template)")) {
    if (![...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim())) continue;
    const seen = opacity(e);
    if (seen === 0 || !e.checkVisibility({ visibilityProperty: true }) || e.closest(".sr")) continue;
    const ink = parse(getComputedStyle(e).color);
    judge(e, { c: ink.c, a: ink.a * seen }, grounds(e));
  }
  const inside = (shape, x, y) => {
    const m = shape.getScreenCTM();
    return m && shape.isPointInFill(new DOMPoint(x, y).matrixTransform(m.inverse()));
  };
  const paintOf = (shape) => {
    const s = getComputedStyle(shape), fill = parse(s.fill), a = s.fill === "none" ? 0 : fill.a * s.fillOpacity * s.opacity;
    return a > 0 && s.display !== "none" ? [{ shape, c: fill.c, a, box: shape.getBoundingClientRect() }] : [];
  };
  for (const svg of document.querySelectorAll("svg:not([aria-hidden]):not(svg svg)")) {
    const texts = [...svg.querySelectorAll("text")].map((text) => ({ text, s: getComputedStyle(text), box: text.getBoundingClientRect() }));
    const shown = texts.filter(({ text, s, box }) => box.width && s.visibility === "visible" && text.textContent.trim());
    const shapes = shown.length ? [...svg.querySelectorAll("rect, path, circle, polygon")].flatMap(paintOf) : [];
    for (const { text, s, box } of shown) {
      const ink = parse(s.fill), halo = s.paintOrder.startsWith("stroke") && s.stroke !== "none" ? parse(s.stroke).c : null;
      const y = box.top + box.height / 2;
      // Three places along the text; a shape counts when it is painted before it.
      const under = [0.1, 0.5, 0.9].flatMap((part) => {
        const x = box.left + box.width * part;
        const below = shapes.filter(({ shape, box: b }) => x >= b.left && x <= b.right && y >= b.top && y <= b.bottom &&
          shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING && inside(shape, x, y));
        return grounds(svg.parentElement).map((g) => halo || below.reduce((ground, one) => over(one.c, one.a, ground), g));
      });
      judge(text, { c: ink.c, a: ink.a * s.fillOpacity * opacity(text) }, under);
    }
  }
  return wrong;
}

// Without scripts nothing may be offered that only a script can do; on paper no control at all.
export function deadControls() {
  const seen = [...document.querySelectorAll("button, input, select, textarea")].filter((e) => e.checkVisibility());
  return seen.map((e) => `offers ${e.localName} "${(e.textContent || e.getAttribute("aria-label") || "").trim().slice(0, 30)}", which can do nothing here`);
}

export function onPaper() {
  const wrong = [];
  const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
  if (Math.min(r, g, b) < 250) wrong.push(`the paper is not white: ${getComputedStyle(document.body).backgroundColor}`);
  return wrong;
}

// axe: the rules that are named, or else all of these tags but those that are not wanted; one sentence a broken rule.
export async function accessibility({ only, not = [] }) {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
  const runOnly = only ? { type: "rule", values: only } : { type: "tag", values: tags };
  const rules = Object.fromEntries(not.map((rule) => [rule, { enabled: false }]));
  const options = { runOnly, rules, resultTypes: ["violations"], iframes: false, preload: false };
  const result = await axe.run(document, options);
  if (!only && result.passes.length < 5) return [`axe found only ${result.passes.length} rules to look at`];
  return result.violations.map((rule) => {
    const [node] = rule.nodes;
    const why = [...node.any, ...node.all, ...node.none][0];
    return `axe ${rule.id}: ${rule.help}: ${rule.nodes.length} times, as at ${node.target.join(" ").slice(0, 120)}: ${(why ? why.message : "").slice(0, 200)}`;
  });
}
