// The owner's list of people: invites by name, shows links and who has answered, revokes, exports
// and forgets.

import { get, post, remove, runPath } from "./api.js";
import { attempt, openDialog } from "./dialogs.js";
import { announce, el, find } from "./dom.js";

const ROLES = { owner: "you", guest: "shared link" };

export function createPeople({ run, reload }) {
  const list = find("#people");
  const panel = list.closest("details");
  const form = find("#invite-person");
  const path = (rest) => runPath(run.id, rest);
  let asked = 0;

  panel.addEventListener("toggle", refresh);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = find("#person-name");
    const body = { name: name.value.trim(), role: find("#person-role").value };
    const done = await attempt(() => post(path("/invitations"), body), { retry: () => form.requestSubmit() });
    if (!done) return;
    name.value = "";
    announce(`${body.name} is invited`);
    await refresh();
    copy(done.value);
  });

  /** Loads the list while it is visible; of several answers, the newest request's counts. */
  async function refresh() {
    if (!panel.open) return;
    const mine = ++asked;
    const people = await get(path("/people")).catch(() => null);
    if (people && mine === asked) list.replaceChildren(...people.map(row));
  }

  const action = (text, testid, click) =>
    el("button", { type: "button", class: "link-button", text, "data-testid": testid, on: { click } });

  function row(person) {
    const { name, role, id } = person;
    const data = el("a", {
      href: path(`/people/export?name=${encodeURIComponent(name)}`), download: `${run.id}-${name}.json`, text: "Data",
    });
    return el("li", { class: `person${person.has_answered ? " has-answered" : ""}`, data: { person: name } },
      el("p", { class: "person-head" },
        el("span", { class: "person-name", text: name, title: person.has_answered ? "has answered this round" : null }),
        ROLES[role] && el("span", { class: "muted", text: ROLES[role] })),
      el("p", { class: "muted", text: facts(person) }),
      id && el("input", { class: "field", readonly: true, value: person.url, "aria-label": `Link of ${name}` }),
      el("div", { class: "person-actions" },
        id && action("Copy link", "copy-link", () => copy(person)),
        id && action("Revoke", "revoke-person", () => revoke(person)),
        person.answers > 0 && data,
        role !== "owner" && action("Forget", "forget-person", () => forget(person))));
  }

  async function copy({ name, url }) {
    const field = find(`[data-person="${CSS.escape(name)}"] input`, list);
    field?.select();
    try {
      await navigator.clipboard.writeText(url);
      announce("The link is copied");
    } catch {
      field?.focus(); // The clipboard needs https or localhost; the selected text can be copied by hand.
    }
  }

  async function revoke({ id, name }) {
    if (await attempt(() => remove(path(`/invitations/${id}`)))) announce(`The link of ${name} no longer works`);
    refresh();
  }

  async function forget({ name }) {
    const all = el("input", { type: "checkbox", id: "forget-answers", "data-testid": "forget-answers" });
    const button = (text, value, rest) => el("button", { type: "submit", class: "button", text, value, ...rest });
    const question = el("form", { method: "dialog" },
      el("h2", { text: `Forget ${name}?` }),
      el("p", { text: "A pseudonym replaces the name everywhere in this run, and their link stops working. This cannot be undone." }),
      el("label", { class: "check", for: "forget-answers" }, all, " Remove their answers, too. The run continues with the remaining ones."),
      el("div", { class: "dialog-actions" },
        button("Keep", "", { autofocus: true }),
        button("Forget", "yes", { class: "button danger", "data-testid": "confirm" })));
    if ((await openDialog(question, { label: `Forget ${name}` })) !== "yes") return;
    const done = await attempt(() => post(path("/people/forget"), { name, remove: all.checked }));
    if (!done) return;
    announce(`${name} is forgotten`);
    await refresh();
    reload();
  }

  return { refresh };
}

function facts({ role, answers, seconds, agreement }) {
  if (!answers) return role === "viewer" ? "watches" : "no answer yet";
  return [
    answers === 1 ? "1 answer" : `${answers} answers`,
    seconds != null && pace(seconds),
    agreement != null && `agrees ${Math.round(100 * agreement)}%`,
  ].filter(Boolean).join(" · ");
}

const pace = (seconds) => (seconds < 90 ? `${Math.round(seconds)} s each` : `${Math.round(seconds / 60)} min each`);
