// The owner's controls: title, invitations, closing a round, offline answers.

import { patch, post, remove, runPath } from "./api.js";
import { askText, attempt, showBanner } from "./dialogs.js";
import { announce, find } from "./dom.js";
import { createPeople } from "./people.js";

export function createOwnerTools({ run, round, reload }) {
  const titleField = find("#run-title");
  const raters = find("#raters-needed");
  const inviteLink = find("#invite-link");
  const linkBox = find("#invite-box");
  const deadline = find("#deadline");
  const people = createPeople({ run, reload });

  titleField.value = run.title ?? "";
  titleField.title = "Rename";
  raters.value = run.raters_needed ?? 1;

  titleField.addEventListener("change", async () => {
    const title = titleField.value.trim();
    if (title && (await attempt(() => patch(runPath(run.id), { title })))) run.title = title;
    titleField.value = run.title ?? "";
  });
  titleField.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") titleField.blur();
  });

  raters.addEventListener("change", async () => {
    const count = Math.max(1, Number(raters.value) || 1);
    raters.value = count;
    if (await attempt(() => patch(runPath(run.id), { raters: count }))) reload();
  });

  deadline.value = run.deadline ? run.deadline / 60 : "";
  deadline.addEventListener("change", async () => {
    const minutes = Number(deadline.value) || 0;
    if (minutes <= 0) deadline.value = "";
    await attempt(() => patch(runPath(run.id), { deadline: minutes > 0 ? minutes * 60 : null }));
  });

  find("#invite").addEventListener("click", async () => {
    const done = await attempt(() => post(runPath(run.id, "/invite")), { retry: () => find("#invite").click() });
    if (!done) return;
    inviteLink.value = done.value.url;
    linkBox.hidden = false;
    linkBox.scrollIntoView({ block: "end" });
    copy();
  });

  async function copy() {
    inviteLink.select();
    const button = find("#invite-copy");
    try {
      await navigator.clipboard.writeText(inviteLink.value);
      button.textContent = "Copied";
      announce("The link is copied");
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    } catch {
      inviteLink.focus(); // The clipboard needs https or localhost; the selected text can be copied by hand.
    }
  }
  find("#invite-copy").addEventListener("click", copy);
  find("#invite-revoke").addEventListener("click", async () => {
    if (!(await attempt(() => remove(runPath(run.id, "/invite"))))) return;
    linkBox.hidden = true;
    announce("The link no longer works");
  });

  for (const button of document.querySelectorAll("[data-close-round]")) {
    button.addEventListener("click", async () => {
      const close = () => post(runPath(run.id, `/rounds/${round().index}/close`));
      await attempt(close, { retry: () => button.click(), onStale: reload });
      reload();
    });
  }

  find("#import").addEventListener("click", async () => {
    const text = await askText({
      heading: "Import an answer", text: "Paste the answer that the offline page shows.", label: "Answer",
      action: "Import", multiline: true, placeholder: '{"order": [[2], [0]]}',
    });
    if (text) importAnswer(text);
  });

  async function importAnswer(text) {
    let answer;
    try {
      answer = JSON.parse(text);
    } catch {
      return showBanner("That is not an answer: paste the JSON text that the offline page shows.");
    }
    const { order, worst = [], key } = answer ?? {};
    const rater = answer?.rater || "offline";
    if (!Array.isArray(order)) return showBanner("That is not an answer: the field “order” is missing.");
    const index = answer.round ?? answer.index ?? round().index;
    if (!Number.isSafeInteger(index) || index < 0) {
      return showBanner("That is not an answer: the field “round” must be a whole number.");
    }
    if (String(rater).trim().toLowerCase() === "owner") {
      return showBanner("An imported answer cannot be the owner's. Change the field “rater”.");
    }
    const send = () => post(runPath(run.id, `/rounds/${index}/answer`), { order, worst, rater, key });
    if (await attempt(send, { retry: () => importAnswer(text) })) reload();
  }

  return {
    show(current) {
      people.refresh();
      find("#offline").href = runPath(run.id, `/rounds/${current.index}/offline`);
      find("#offline").setAttribute("download", `zorank-${run.id}-round-${current.index}.html`);
    },
  };
}
