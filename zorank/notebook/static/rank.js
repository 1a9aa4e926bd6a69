// The page's part of zorank.notebook.rank: cards to click, best first. Plain anywidget, no build.
//
// Python sets `slate`, `exhibits`, `status`, `problem` and `handled`; this file sets `order` (the
// picks, so that every view of the widget shows them) and sends actions, as widget.py explains. An
// action is pending until `handled` has its id. Keys are those of the studio: 1–9, Shift + 1–9, T, S, Z, Esc, Enter.

const MEDALS = ["", "gold", "silver", "bronze"];
const NOUNS = { image: "Picture", video: "Clip", audio: "Sound", text: "Text" };
const GAP = 12;
const WIDEST_CARD = 300;

const kindOf = ({ media_type: type }) => (type.split("/")[0] in NOUNS ? type.split("/")[0] : "other");
const nameOf = (exhibit, position) => `${NOUNS[kindOf(exhibit)] ?? "Candidate"} ${position + 1}`;

function el(tag, { class: className, text, on = {}, ...attributes } = {}, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  node.append(...children.flat().filter(Boolean));
  return node;
}

// The ranking: groups of positions, best first.

const without = (groups, position) =>
  groups.map((group) => group.filter((other) => other !== position)).filter((group) => group.length);
const placeOf = (groups, position) => groups.findIndex((group) => group.includes(position)) + 1;
const isTied = (groups, position) => groups.some((group) => group.length > 1 && group.includes(position));

function withPick(groups, position, tie) {
  if (placeOf(groups, position)) return without(groups, position);
  if (!tie || !groups.length) return [...groups, [position]];
  return [...groups.slice(0, -1), [...groups.at(-1), position]];
}

// One exhibit of any media type; text is inserted as text, and HTML gets no scripts and no origin.

function view(exhibit, name, urls, onSize) {
  const { media_type: type, data } = exhibit;
  const kind = kindOf(exhibit);
  const url = () => {
    urls.push(URL.createObjectURL(new Blob([data], { type })));
    return urls.at(-1);
  };
  if (kind === "image") {
    const picture = el("img", { class: "media", alt: name, draggable: "false" });
    picture.addEventListener("load", () => onSize(picture.naturalWidth / picture.naturalHeight));
    picture.src = url();
    return picture;
  }
  if (kind === "video") {
    const video = el("video", { class: "media", playsinline: true, loop: true, autoplay: true, "aria-label": name });
    video.muted = true;
    video.addEventListener("loadedmetadata", () => onSize(video.videoWidth / video.videoHeight));
    video.src = url();
    return video;
  }
  if (kind === "audio") return soundView(url(), name);
  if (kind !== "text") return el("p", { class: "media text", text: `${type} cannot be shown` });
  const text = new TextDecoder().decode(data);
  if (!type.startsWith("text/html")) return el("p", { class: "media text", text });
  return el("iframe", { class: "media", sandbox: "", srcdoc: text, title: name, tabindex: "-1" });
}

function soundView(url, name) {
  const sound = el("audio", { src: url, loop: true });
  const play = el("button", { type: "button", class: "play", text: "▶", "aria-label": `Play ${name}`, tabindex: "-1" });
  play.addEventListener("click", (event) => {
    event.stopPropagation();
    const others = event.target.closest(".zorank").querySelectorAll("audio");
    for (const other of others) if (other !== sound) other.pause();
    if (sound.paused) sound.play().catch(() => {});
    else sound.pause();
  });
  for (const change of ["play", "pause"]) {
    sound.addEventListener(change, () => {
      play.textContent = sound.paused ? "▶" : "❚❚";
      play.setAttribute("aria-label", `${sound.paused ? "Play" : "Stop"} ${name}`);
    });
  }
  return el("div", { class: "media audio" }, play, sound);
}

/** The number of columns for which cards are largest while all of them fit the height. */
function bestColumns(count, width, height, aspect) {
  let best = { columns: 1, card: 0 };
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const wide = (width - GAP * (columns - 1)) / columns;
    const high = ((height - GAP * (rows - 1)) / rows) * aspect;
    const card = Math.min(wide, high, WIDEST_CARD);
    if (card > best.card) best = { columns, card };
  }
  return best;
}

function render({ model, el: host }) {
  let groups = [];
  let past = [];
  let tieNext = false;
  let aspect = 1;
  let cards = [];
  let urls = [];
  let pending = "";

  const slate = () => model.get("slate");
  const single = () => slate().question === "best";
  const busy = () => pending !== "" && model.get("handled") !== pending;
  const drawn = () => model.get("exhibits").length > 0;

  // What is there.
  const heading = el("strong", { class: "heading", "data-testid": "heading" });
  const hint = el("span", { class: "hint" });
  const name = el("span", { class: "name", "data-testid": "round" });
  const problem = el("p", { class: "problem", role: "alert", "data-testid": "problem" });
  const retry = button("retry", "Try again", "", () => act("retry"));
  const grid = el("ol", { class: "grid" });
  const undo = button("undo", "Undo", "Z", undoLast);
  const tie = button("tie", "Tie", "T", toggleTie);
  const same = button("same", "", "S", () => drawn() && answer([]));
  const status = el("span", { class: "hint", role: "status" });
  const next = button("next", "Next", "Enter", submit);
  next.classList.add("primary");
  const root = el(
    "div", { class: "zorank", tabindex: "0", "aria-label": "Ranking", "data-lm-suppress-shortcuts": "true" },
    el("div", { class: "head" }, heading, hint, name),
    el("div", { class: "problem-row" }, problem, retry),
    grid,
    el("div", { class: "actions" }, undo, tie, same, el("span", { class: "space" }), status, next),
  );

  function button(id, text, key, action) {
    const label = el("span", { text });
    return el("button", { type: "button", class: "button", "data-testid": id, on: { click: () => action() } },
      label, key && el("kbd", { text: key, "aria-hidden": "true" }));
  }

  // What is done.
  function change(to, { remember = true } = {}) {
    if (busy()) return;
    if (remember) past.push(groups);
    groups = to;
    tieNext = false;
    model.set("order", groups);
    model.save_changes();
    refresh();
  }

  function pick(position, tied) {
    if (position >= cards.length || busy()) return;
    if (!single()) change(withPick(groups, position, tied || tieNext));
    else if (placeOf(groups, position)) submit();
    else change([[position]]);
  }

  function toggleTie() {
    tieNext = !tieNext && groups.length > 0 && !single();
    refresh();
  }

  function undoLast() {
    if (busy()) return;
    if (past.length) change(past.pop(), { remember: false });
    else if (groups.length) change([], { remember: false });
    else if (slate().can_undo) act("undo");
  }

  function submit() {
    if (groups.length) answer(groups);
    else hint.textContent = `pick at least one, or choose “${slate().same}”`;
  }

  const answer = (order) => act("answer", { order, slate: slate().number });

  function act(kind, more = {}) {
    if (busy()) return;
    pending = `${Date.now()}-${Math.random()}`;
    const action = { kind, id: pending, ...more };
    model.send(action);
    model.set("action", action);
    model.save_changes();
    refresh();
  }

  // What is shown.
  function card(exhibit, position) {
    const label = nameOf(exhibit, position);
    const press = el("button", { type: "button", class: "pick" });
    const badge = el("span", { class: "badge", "aria-hidden": "true" });
    const media = view(exhibit, label, urls, (found) => {
      aspect = found || 1;
      fit();
    });
    const item = el("li", { class: "card", "data-testid": "card", "data-position": position, "data-kind": kindOf(exhibit) },
      media, press, badge, el("kbd", { class: "digit", text: position + 1, "aria-hidden": "true" }));
    item.addEventListener("click", (event) => {
      press.focus({ preventScroll: true });
      pick(position, event.shiftKey);
    });
    return { item, press, badge, label };
  }

  function show() {
    const focused = root.getRootNode().activeElement;
    const hadFocus = focused && root.contains(focused);
    for (const url of urls) URL.revokeObjectURL(url);
    urls = [];
    past = [];
    tieNext = false;
    groups = model.get("order");
    aspect = 1;
    cards = model.get("exhibits").map(card);
    grid.replaceChildren(...cards.map(({ item }) => item));
    if (hadFocus) root.focus({ preventScroll: true });
    fit();
    refresh();
  }

  function refresh() {
    const focused = root.getRootNode().activeElement;
    const { heading: question, hint: more, name: round, same: sameText, can_undo: canUndo } = slate();
    heading.textContent = question;
    hint.textContent = tieNext ? "the next pick ties with the last" : more;
    name.textContent = round;
    problem.textContent = model.get("problem");
    problem.parentElement.hidden = !model.get("problem");
    retry.hidden = drawn();
    same.firstChild.textContent = sameText;
    root.classList.toggle("busy", busy());
    status.textContent = model.get("status") || (busy() ? "waiting for Python" : "");
    undo.disabled = busy() || !(past.length || groups.length || canUndo);
    tie.hidden = single();
    tie.disabled = busy() || !groups.length;
    tie.setAttribute("aria-pressed", String(tieNext));
    same.disabled = busy() || !drawn();
    next.disabled = busy() || !groups.length;
    const ahead = String(single() ? "✓" : Math.max(groups.length + (tieNext ? 0 : 1), 1));
    cards.forEach(({ item, press, badge, label }, position) => {
      const place = placeOf(groups, position);
      item.dataset.medal = place ? MEDALS[place] ?? "plain" : "";
      item.dataset.next = ahead;
      item.classList.toggle("tied", isTied(groups, position));
      badge.hidden = !place;
      badge.textContent = place ? (single() ? "✓" : place) : "";
      if (place) badge.dataset.testid = "badge";
      else delete badge.dataset.testid;
      press.setAttribute("aria-pressed", String(place > 0));
      const said = place ? `place ${place}${isTied(groups, position) ? ", tied" : ""}` : "not ranked";
      press.setAttribute("aria-label", `${label}, ${said}`);
    });
    // A button that was just disabled would lose the focus, and with it the keys.
    if (root.contains(focused) && focused.disabled) root.focus({ preventScroll: true });
  }

  function fit() {
    const width = grid.clientWidth;
    if (!width || !cards.length) return;
    const { columns, card: size } = bestColumns(cards.length, width, Math.max(innerHeight * 0.52, 320), aspect);
    grid.style.setProperty("--columns", columns);
    grid.style.setProperty("--card", `${Math.floor(size)}px`);
    grid.style.setProperty("--aspect", aspect);
    root.style.setProperty("--row", `${columns * (Math.floor(size) + GAP) - GAP}px`);
  }

  /** Light text means a dark theme, whatever the notebook calls it. */
  function followTheme() {
    const colour = getComputedStyle(host).color.match(/[\d.]+/g);
    if (!colour) return; // not on the page yet
    const [red, green, blue] = colour.map(Number);
    root.dataset.theme = 0.3 * red + 0.6 * green + 0.1 * blue > 128 ? "dark" : "light";
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // Shift changes the character of a digit key, so the physical key decides.
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1];
    const onButton = event.target.matches?.(".button, .play");
    const onCard = event.target.matches?.(".pick");
    const keys = { z: undoLast, t: toggleTie, s: () => drawn() && answer([]), Escape: () => change([]) };
    if (key === "Enter" && onCard && !groups.length) keys.Enter = () => event.target.click();
    else if (key === "Enter" && !onButton) keys.Enter = submit;
    const run = digit ? () => pick(Number(digit) - 1, event.shiftKey) : keys[key];
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) run();
  }

  const onOrder = () => {
    if (JSON.stringify(model.get("order")) === JSON.stringify(groups)) return;
    groups = model.get("order");
    refresh();
  };
  const listeners = { "change:slate": show, "change:order": onOrder };
  for (const trait of ["handled", "status", "problem"]) listeners[`change:${trait}`] = refresh;
  for (const [event, listener] of Object.entries(listeners)) model.on(event, listener);
  root.addEventListener("keydown", onKey);
  const resized = new ResizeObserver(() => {
    followTheme();
    fit();
  });
  resized.observe(grid);
  const themed = new MutationObserver(followTheme);
  for (const node of [document.documentElement, document.body]) themed.observe(node, { attributes: true });
  host.append(root);
  followTheme();
  show();

  return () => {
    for (const [event, listener] of Object.entries(listeners)) model.off(event, listener);
    for (const url of urls) URL.revokeObjectURL(url);
    resized.disconnect();
    themed.disconnect();
  };
}

export default { render };
