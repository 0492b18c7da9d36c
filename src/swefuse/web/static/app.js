"use strict";
// Live parts, forms that act as they are moved, and keys. Every page works without any of it.
const $$ = (query, root = document) => [...root.querySelectorAll(query)];

// --- parts of a page that are fetched again ------------------------------------------------------------------------------------
let tag = "", asking = 0;
const put = (place, text) => {
  const ticked = new Map($$("input[type=checkbox]", place).map((box) => [`${box.name}=${box.value}`, box.checked]));
  const open = new Set($$("details[id]", place).filter((one) => one.open).map((one) => one.id));
  place.innerHTML = text; // the server escapes every value, and the policy lets no script in
  $$("input[type=checkbox]", place).forEach((box) => { box.checked = ticked.get(`${box.name}=${box.value}`) ?? box.checked; });
  $$("details[id]", place).forEach((one) => { one.open = one.open || open.has(one.id); });
  $$("[data-plot]", place).forEach(readOut);
};
const ask = async (place, address) => {
  const mine = ++asking;
  const answer = await fetch(address, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store", redirect: "error" });
  if (mine !== asking || answer.status === 304) return;
  if (!answer.ok) throw new Error(`${answer.status}`);
  const text = await answer.text();
  if (mine !== asking) return;
  tag = answer.headers.get("etag") ?? "";
  put(place, text);
};

const live = document.querySelector("[data-live]");
if (live) {
  const pulse = document.querySelector("[data-pulse]");
  const turn = async () => {
    const busy = document.hidden || live.contains(document.activeElement) || live.querySelector(".reading");
    if (!busy) {
      try {
        await ask(live, live.dataset.live);
        pulse.classList.remove("lost");
        pulse.textContent = "live";
      } catch {
        pulse.classList.add("lost");
        pulse.textContent = "not reached";
      }
    }
    setTimeout(turn, 1000 * Number(live.dataset.every));
  };
  setTimeout(turn, 1000 * Number(live.dataset.every));
}

// --- forms: data-auto sends itself, data-swap fetches the live part while a field is moved --------------------------------------
const address = (form) => {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  return `${new URL(form.action).pathname}?${query}`;
};
for (const form of $$("form[data-auto]")) form.addEventListener("change", () => form.requestSubmit());
for (const form of $$("form[data-swap]")) {
  const place = document.getElementById("live");
  const moved = () => {
    const where = address(form);
    history.replaceState(null, "", where);
    if (place.dataset.live) place.dataset.live = `${where}&part=1`; // or the next look would bring the old settings back
    ask(place, `${where}&part=1`).catch(() => form.requestSubmit());
  };
  form.addEventListener("input", (event) => {
    if (event.target.name === "run") { location.assign(address(form)); return; }
    const output = event.target.parentElement.querySelector("output");
    if (output) output.textContent = event.target.value;
    moved();
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); moved(); });
}

// --- keys ---------------------------------------------------------------------------------------------------------------------
const items = () => $$("[data-item]").filter((one) => one.offsetParent !== null);
const step = (by) => {
  const all = items();
  if (!all.length) return;
  const at = all.findIndex((one) => one.classList.contains("here"));
  const next = all[Math.min(Math.max(at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by, 0), all.length - 1)];
  all.forEach((one) => one.classList.toggle("here", one === next));
  next.scrollIntoView({ block: "nearest" });
  const link = next.matches("a") ? next : next.querySelector("a[href], summary, [tabindex]");
  if (link) link.focus({ preventScroll: true });
};
const follow = (rel) => document.querySelector(`a[rel=${rel}]`)?.click();
const keys = document.getElementById("keys");
const acts = {
  j: () => step(1),
  k: () => step(-1),
  n: () => follow("next"),
  p: () => follow("prev"),
  o: () => {
    const folds = $$("main details"), open = folds.some((one) => !one.open);
    folds.forEach((one) => { one.open = open; });
  },
  "/": () => (document.querySelector("[data-search]") ?? document.querySelector("main form input, main form select"))?.focus(),
  "?": () => keys.showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.matches("input:not([type=checkbox]):not([type=range]), select, textarea");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || keys.open) return;
  const page = /^[1-9]$/.test(event.key) && $$(".top nav a")[Number(event.key) - 1];
  const act = page ? () => page.click() : acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
