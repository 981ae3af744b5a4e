// Brings the page to life: tabs for classes and explanations, graphs that answer pointer, touch and keys.
// Everything shown is in the page already; texts are copied as nodes, never parsed.
(() => {
  "use strict";
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const ADDRESS = /^#class-\d+(-rank-\d+)?$/; // of a class or an explanation
  let owner = null; // the node or line that the tooltip speaks of
  let leaving = 0; // the timer that closes it
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // ---- tabs --------------------------------------------------------------------------------------------

  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

  function select(tab, { focus = false, note = true } = {}) {
    for (const other of all("[role=tab]", tab.parentElement)) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      panelOf(other).hidden = !chosen;
    }
    hideTip();
    if (focus) {
      tab.focus({ preventScroll: true });
      tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    if (note) remember(ADDRESS.test("#" + panelOf(tab).id) ? "#" + panelOf(tab).id : location.hash);
  }

  // Every step of the browser's history knows which tabs were open, so that going back opens them again.
  function remember(address) {
    history.replaceState({ open: all("[role=tab][aria-selected=true]").map((tab) => tab.id) }, "", address);
  }

  function onMove() {
    const open = history.state && history.state.open;
    if (!open) {
      openHash(true);
      remember(location.hash);
      return;
    }
    for (const id of open) select(document.getElementById(id), { note: false });
  }

  function onTabKey(event) {
    const tabs = all("[role=tab]:not([hidden])", event.currentTarget);
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    select(tabs.at(to % tabs.length), { focus: true });
  }

  // With many classes, a field leaves only the tabs whose names hold what is typed.
  function onFind(event) {
    const wanted = event.target.value.trim().toLowerCase();
    const tabs = all("[data-class-tab]");
    for (const tab of tabs) {
      tab.hidden = !tab.textContent.toLowerCase().includes(wanted);
      tab.tabIndex = tab.getAttribute("aria-selected") === "true" ? 0 : -1;
    }
    const left = tabs.filter((tab) => !tab.hidden);
    if (left.length && left.every((tab) => tab.tabIndex < 0)) left[0].tabIndex = 0; // one can be reached by Tab
  }

  // A link to a class or an explanation opens the tabs that it is behind.
  function openHash(scroll) {
    const wanted = ADDRESS.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!wanted) return;
    for (let panel = wanted; panel; panel = panel.parentElement.closest("[role=tabpanel]")) {
      const tab = document.getElementById("tab-" + panel.id);
      if (tab) select(tab, { note: false });
    }
    if (scroll) document.getElementById("classes").scrollIntoView();
  }

  for (const list of all("[role=tablist]")) {
    list.addEventListener("keydown", onTabKey);
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) select(tab);
    });
    select(all("[role=tab]", list)[0], { note: false });
  }

  for (const field of all("#find")) field.addEventListener("input", onFind);

  // ---- tooltip -----------------------------------------------------------------------------------------

  function line(text, name) {
    const element = document.createElement("p");
    if (name) element.className = name;
    element.append(...(typeof text === "string" ? [text] : text));
    return element;
  }

  const copy = (cell) => Array.from(cell.childNodes, (child) => child.cloneNode(true));

  function nodeLines(row) {
    const features = row.querySelector(".features");
    const lines = [line([...copy(row.querySelector(".type")), " ", quiet("node " + row.querySelector("th").textContent)], "head")];
    if (features && features.textContent.trim()) lines.push(line(copy(features)));
    else if (features && !row.querySelector(".member")) lines.push(line("no features", "quiet"));
    return lines;
  }

  function edgeLines(row) {
    const [from, relation, to] = row.cells;
    const features = row.querySelector(".features");
    const lines = [line([from.textContent, " ", quiet(relation.textContent), " ", to.textContent], "head")];
    if (features && features.textContent.trim()) lines.push(line(copy(features)));
    return lines;
  }

  function quiet(text) {
    const element = document.createElement("span");
    element.className = "quiet";
    element.textContent = text;
    return element;
  }

  function showTip(part, x, y) {
    clearTimeout(leaving);
    const key = part.closest("svg").dataset.graph;
    const isNode = part.classList.contains("node");
    const row = document.getElementById(key + (isNode ? "-n" + part.dataset.node : "-e" + part.dataset.edge));
    if (!row) return;
    const lines = isNode ? nodeLines(row) : edgeLines(row);
    const without = row.querySelector(".without");
    if (without && without.textContent) lines.push(line("Without it the probability is " + without.textContent + ".", "quiet"));
    const average = row.querySelector(".average");
    if (average && average.textContent) lines.push(line("With average features it is " + average.textContent + ".", "quiet"));
    for (const cell of all(".marked", row)) {
      if (cell.textContent) lines.push(line(cell.dataset.by + " marks it by " + cell.textContent + ".", "quiet"));
    }
    if (isNode && row.querySelector(".features b")) lines.push(line("The model would miss what is bold.", "quiet"));
    tip.replaceChildren(...lines);
    tip.hidden = false;
    if (owner && owner !== part) owner.removeAttribute("aria-describedby");
    owner = part;
    part.setAttribute("aria-describedby", "tip");
    light(part);
    place(part, x, y);
  }

  // Beside a node, or at the pointer on a line: inside the window, and where it hides the fewest neighbours.
  function place(part, x, y) {
    const isNode = part.classList.contains("node");
    const box = isNode ? part.querySelector(".mark").getBoundingClientRect() : new DOMRect(x, y, 0, 0);
    const near = all(".near .mark", part.closest("svg")).map((mark) => mark.getBoundingClientRect());
    const { width, height } = tip.getBoundingClientRect();
    const gap = 12, rim = 8;
    const [midX, midY] = [box.left + box.width / 2, box.top + box.height / 2];
    const inside = (value, most) => Math.max(rim, Math.min(value, most - rim));
    const spots = [
      [box.right + gap, midY - height / 2],
      [box.left - gap - width, midY - height / 2],
      [midX - width / 2, box.bottom + gap],
      [midX - width / 2, box.top - gap - height],
    ].map(([left, top]) => [inside(left, innerWidth - width), inside(top, innerHeight - height)]);
    const hides = ([left, top], other) =>
      left < other.right && other.left < left + width && top < other.bottom && other.top < top + height;
    const cost = (spot) => near.filter((other) => hides(spot, other)).length + (hides(spot, box) ? 100 : 0);
    const [left, top] = spots.reduce((best, spot) => (cost(spot) < cost(best) ? spot : best));
    tip.style.left = left + "px";
    tip.style.top = top + "px";
  }

  function hideTip() {
    clearTimeout(leaving);
    tip.hidden = true;
    if (!owner) return;
    owner.removeAttribute("aria-describedby");
    dim(owner.closest("svg"));
    owner = null;
  }

  // ---- graphs ------------------------------------------------------------------------------------------

  function dim(svg) {
    svg.classList.remove("active");
    for (const part of all(".on, .near", svg)) part.classList.remove("on", "near");
  }

  // The part with its lines and neighbours stands out.
  function light(part) {
    const svg = part.closest("svg");
    dim(svg);
    svg.classList.add("active");
    part.classList.add("on");
    const near = (number) => svg.querySelector('.node[data-node="' + number + '"]').classList.add("near");
    if (part.classList.contains("edge")) {
      near(part.dataset.u);
      near(part.dataset.v);
      return;
    }
    for (const edge of edgesOf(part)) {
      edge.classList.add("on");
      near(edge.dataset.u === part.dataset.node ? edge.dataset.v : edge.dataset.u);
    }
  }

  function edgesOf(node) {
    const number = node.dataset.node;
    return all('.edge[data-u="' + number + '"], .edge[data-v="' + number + '"]', node.closest("svg"));
  }

  const at = (node) => {
    const { e, f } = node.transform.baseVal.consolidate().matrix;
    return [e, f];
  };

  function moveTo(node, x, y) {
    const svg = node.closest("svg");
    const { width, height } = svg.viewBox.baseVal;
    const rim = Number(node.dataset.r) + 6;
    const inside = (value, most) => Math.max(rim, Math.min(value, most - rim));
    x = inside(x, width);
    y = inside(y, height);
    node.setAttribute("transform", "translate(" + x.toFixed(1) + " " + y.toFixed(1) + ")");
    const label = node.querySelector(".label");
    if (label) { // it stays inside the frame
      const half = label.getComputedTextLength() / 2 + 2;
      label.setAttribute("x", Math.max(half, Math.min(x, width - half)) - x);
      const above = y - rim - 14 > 0 && (Number(label.getAttribute("y")) < 0 || y + rim + 14 > height);
      label.setAttribute("y", above ? -Number(node.dataset.r) - 6 : Number(node.dataset.r) + 15);
    }
    for (const edge of edgesOf(node)) redraw(edge, svg);
  }

  function redraw(edge, svg) {
    const end = (number) => svg.querySelector('.node[data-node="' + number + '"]');
    const [x1, y1] = at(end(edge.dataset.u));
    const [x2, y2] = at(end(edge.dataset.v));
    for (const drawn of all("line", edge)) {
      for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) drawn.setAttribute(name, value.toFixed(1));
    }
    const head = edge.querySelector(".head");
    if (!head) return;
    const back = Number(end(edge.dataset.v).dataset.r) * 1.25 + 1;
    const angle = Math.atan2(y2 - y1, x2 - x1);
    const tipAt = [x2 - Math.cos(angle) * back, y2 - Math.sin(angle) * back];
    head.setAttribute("transform", "translate(" + tipAt.join(" ") + ") rotate(" + (angle * 180) / Math.PI + ")");
  }

  function draggable(svg) {
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      const node = event.target.closest(".node");
      if (!node || event.button !== 0) return;
      const [x, y] = at(node);
      held = { node, x, y, fromX: event.clientX, fromY: event.clientY, moved: false };
      node.setPointerCapture(event.pointerId);
      for (const other of all(".node", svg)) other.tabIndex = other === node ? 0 : -1;
      node.focus({ preventScroll: true });
    });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [dx, dy] = [event.clientX - held.fromX, event.clientY - held.fromY];
      if (!held.moved && Math.hypot(dx, dy) < 4) return;
      held.moved = true;
      tip.hidden = true;
      const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
      moveTo(held.node, held.x + dx * scale, held.y + dy * scale);
    });
    const release = () => {
      if (held && held.moved) showTip(held.node);
      held = null;
    };
    svg.addEventListener("pointerup", release);
    svg.addEventListener("pointercancel", release);
    return () => held !== null && held.moved;
  }

  function onNodeKey(event) {
    const node = event.target.closest(".node");
    if (!node || event.ctrlKey || event.altKey || event.metaKey) return;
    const nodes = all(".node", event.currentTarget);
    const place = nodes.indexOf(node);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    let next = null;
    if (step) next = nodes.at((place + step) % nodes.length);
    else if (event.key === "Home") next = nodes[0];
    else if (event.key === "End") next = nodes.at(-1);
    else if (event.key === "Enter" || event.key === " ") next = node;
    if (!next) return;
    event.preventDefault();
    node.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    showTip(next);
  }

  for (const svg of all("svg.graph")) {
    const nodes = all(".node", svg);
    const first = nodes.find((node) => node.querySelector(".ring")) || nodes[0];
    for (const node of nodes) {
      node.querySelector("title").remove(); // the tooltip says more
      node.setAttribute("role", "button");
      node.tabIndex = node === first ? 0 : -1;
    }
    const dragging = draggable(svg);
    svg.addEventListener("pointerover", (event) => {
      const part = event.target.closest(".node, .edge");
      if (part && !dragging()) showTip(part, event.clientX, event.clientY);
    });
    svg.addEventListener("pointerout", (event) => {
      if (event.pointerType !== "touch" && event.target.closest(".node, .edge")) leaveSoon();
    });
    // Not on the drawing itself: listening for focus makes it a tab stop of its own in some browsers.
    svg.parentElement.addEventListener("focusin", (event) => {
      const node = event.target.closest(".node");
      if (node) showTip(node);
    });
    svg.parentElement.addEventListener("focusout", leaveSoon);
    svg.addEventListener("keydown", onNodeKey);
  }

  // The pointer may move onto the tooltip without losing it.
  function leaveSoon() {
    clearTimeout(leaving);
    leaving = setTimeout(hideTip, 140);
  }

  tip.addEventListener("pointerenter", () => clearTimeout(leaving));
  tip.addEventListener("pointerleave", leaveSoon);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest(".node, .edge, #tip")) hideTip();
  });
  addEventListener("scroll", () => {
    if (owner && !tip.hidden && owner.classList.contains("node")) place(owner);
    else hideTip();
  }, { passive: true });
  addEventListener("resize", hideTip);
  addEventListener("hashchange", onMove);

  openHash(false);
  root.classList.add("ready");
  remember();
})();
