// A classic script in the head, not a module: it runs before the first paint, so that the wrong
// theme does not flash.
(() => {
  const KEY = "zorank-theme";
  const root = document.documentElement;
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // Storage may be forbidden; the system's choice is good enough then.
    }
  };
  const current = () => stored() ?? (systemIsDark.matches ? "dark" : "light");

  function apply() {
    root.dataset.theme = current();
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      const other = current() === "dark" ? "light" : "dark";
      button.setAttribute("aria-label", `Switch to the ${other} theme`);
      button.title = `Switch to the ${other} theme`;
    }
  }

  apply();
  systemIsDark.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", apply);
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-theme-toggle]")) return;
    try {
      localStorage.setItem(KEY, current() === "dark" ? "light" : "dark");
    } catch {
      /* see stored() */
    }
    apply();
  });
})();
