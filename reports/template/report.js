// What the page can do beyond reading: everything here is made by this script, so that nothing dead shows without it.
(() => {
  "use strict";
  const $ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const button = (text, act, properties) => {
    const element = make("button", { type: "button", textContent: text, ...properties });
    element.addEventListener("click", () => act(element));
    return element;
  };
  const kept = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch {
      // A page from a file may have no storage: the choice lasts as long as the page.
    }
    return null;
  };

  // Theme: as the system has it, or one of the two.
  const themes = ["auto", "light", "dark"];
  const setTheme = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  let theme = themes.includes(kept("labrig-theme")) ? kept("labrig-theme") : "auto";
  setTheme(theme);
  const themeButton = button(`Theme: ${theme}`, (self) => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    setTheme(theme);
    kept("labrig-theme", theme);
    self.textContent = `Theme: ${theme}`;
  }, { className: "theme" });

  // Cards: all open or closed, and only those that fit.
  const cards = $("details.card");
  const openAll = (open) => {
    for (const details of $("details.card, details.folded")) details.open = open;
  };
  const status = make("span", { className: "muted small found" });
  status.setAttribute("role", "status");
  const words = make("input", { type: "search", id: "filter", placeholder: "bytes, time, a case …" });
  const state = make("select", { id: "filter-status" });
  for (const [value, text] of [["", "every status"], ["lost", "points lost"], ["failed", "failed"], ["partial", "partial"], ["passed", "passed"], ["skipped", "skipped"], ["fault", "could not be judged"]])
    state.append(make("option", { value, textContent: text }));
  const fits = (card) => {
    const is = (name) => card.classList.contains(name);
    const lost = is("failed") || is("partial") || is("bad");
    const right = { "": true, lost, failed: is("failed") || is("bad"), passed: is("passed") || is("ok") }[state.value] ?? is(state.value);
    return right && card.textContent.toLowerCase().includes(words.value.trim().toLowerCase());
  };
  const filter = () => {
    const wanted = words.value.trim() !== "" || state.value !== "";
    let shown = 0;
    for (const card of cards) {
      card.hidden = wanted && !fits(card);
      if (!card.hidden) ++shown;
    }
    if (wanted) for (const group of $("details.folded")) group.open = true;
    status.textContent = wanted ? `${shown} of ${cards.length} shown` : "";
  };
  words.addEventListener("input", filter);
  state.addEventListener("change", filter);

  // The data that the page was made from, as a file.
  const data = document.getElementById("report-data"), kept_data = data && data.textContent !== "null";
  const save = () => {
    const link = make("a", { download: data.dataset.whole ? "report.json" : "report-shortened.json", href: URL.createObjectURL(new Blob([data.textContent], { type: "application/json" })) });
    link.click();
    URL.revokeObjectURL(link.href);
  };

  const tools = make("div", { className: "tools" });
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", "Tools of this page");
  if (cards.length > 0) {
    tools.append(make("label", { htmlFor: "filter", className: "small", textContent: "Show " }), words,
      make("label", { htmlFor: "filter-status", className: "sr", textContent: "with the status" }), state, status,
      button("Open all", () => openAll(true)), button("Close all", () => openAll(false)));
  }
  if (kept_data) tools.append(button("Save the data", save));
  tools.append(themeButton);
  document.querySelector("main > header, main > h1").after(tools);

  // Commands to copy.
  // A page from a file may have no clipboard; then the old way, which copies what is selected, and that stays selected.
  const copy = async (command) => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(command);
      try {
        return document.execCommand("copy");
      } catch {
        return false;
      }
    }
  };
  for (const command of $(".command")) {
    const mine = button("Copy", async (self) => {
      self.textContent = (await copy(command)) ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => (self.textContent = "Copy"), 4000);
    }, { className: "copy" });
    command.after(mine);
  }

  // What a bar or a mark stands for: its title, at once and beside it.
  const tip = make("div", { className: "tip", hidden: true });
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  document.addEventListener("pointermove", (event) => {
    const title = event.target.closest?.("svg.chart *")?.querySelector(":scope > title");
    tip.hidden = !title;
    if (!title) return;
    tip.textContent = title.textContent;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 12, room))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  });

  // Timelines, closer: places along them are percentages, so a wider picture is a closer look.
  for (const chart of $("svg.timeline")) {
    const frame = make("div", { className: "zoomed", tabIndex: 0 });
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", "Timeline; + and - look closer and back");
    chart.replaceWith(frame);
    frame.append(chart);
    let factor = 1;
    const zoom = (by) => {
      const middle = (frame.scrollLeft + frame.clientWidth / 2) / frame.scrollWidth;
      factor = Math.max(1, Math.min(32, by === 0 ? 1 : factor * by));
      chart.style.width = `${factor * 100}%`;
      frame.scrollLeft = middle * frame.scrollWidth - frame.clientWidth / 2;
    };
    frame.addEventListener("keydown", (event) => {
      const by = { "+": 2, "=": 2, "-": 0.5, 0: 0 }[event.key];
      if (by === undefined || event.ctrlKey || event.metaKey) return;
      zoom(by);
      event.preventDefault();
    });
    const buttons = make("div", { className: "zoom" }, button("Closer", () => zoom(2)), button("Back", () => zoom(0.5)), button("Whole", () => zoom(0)));
    frame.before(buttons);
  }

  // Tables by a column: the class overview.
  for (const table of $("table.rows")) {
    for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
      if (head.querySelector(".sr")) continue;
      let up = false;
      const name = head.textContent;
      const sort = button("↕", () => {
        up = !up;
        const key = (row) => row.cells[column].textContent.trim();
        const rows = [...table.tBodies[0].rows].sort((a, b) => key(a).localeCompare(key(b), undefined, { numeric: true }) * (up ? 1 : -1));
        table.tBodies[0].append(...rows);
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort.textContent = up ? "↑" : "↓";
      }, { className: "sort" });
      sort.setAttribute("aria-label", `Sort by ${name}`);
      head.append(" ", sort);
    }
  }

  // A link to what is folded or left out opens it.
  const reveal = () => {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return;  // no address of this page
    }
    for (let e = target; e; e = e.parentElement) {
      e.hidden = false;
      if (e.localName === "details") e.open = true;
    }
    target?.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
