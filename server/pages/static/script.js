// Pages work without this. It redraws a plan as its numbers change, and looks again at a fit.
"use strict";
const result = () => document.getElementById("result");

async function renew(url, signal) {
  const answer = await fetch(url, {signal, credentials: "same-origin", headers: {Accept: "text/html"}});
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("result"), old = result();
  if (!fresh || !old) return null;
  const before = document.getElementById("headline")?.textContent;
  const focus = old.contains(document.activeElement) ? [...old.querySelectorAll("a, button, summary, [tabindex]")].indexOf(document.activeElement) : -1;
  const open = [...old.querySelectorAll("details")].map(d => d.open);
  old.replaceWith(fresh);
  fresh.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? d.open; });
  if (focus >= 0) fresh.querySelectorAll("a, button, summary, [tabindex]")[focus]?.focus();
  const after = document.getElementById("headline")?.textContent ?? fresh.querySelector("[role=alert]")?.textContent;
  if (after && after !== before) document.getElementById("spoken").textContent = after;
  return page;
}

const form = document.getElementById("plan");
if (form) {
  let timer, asked;
  const redraw = wholly => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      asked?.abort();
      asked = new AbortController();
      const url = "/plan?" + new URLSearchParams(new FormData(form));
      if (wholly) return location.assign(url);
      try {
        const page = await renew(url, asked.signal);
        history.replaceState(null, "", url);
        for (const field of page?.querySelectorAll("#plan .field") ?? []) {
          const name = field.querySelector("[name]").id, old = document.getElementById(name)?.closest(".field");
          if (!old) continue;
          old.className = field.className;
          old.querySelector(".fault")?.remove();
          const fault = field.querySelector(".fault");
          if (fault) old.append(fault);
          for (const key of ["aria-invalid", "aria-describedby"]) {
            const value = field.querySelector("[name]").getAttribute(key), input = document.getElementById(name);
            if (value) input.setAttribute(key, value); else input.removeAttribute(key);
          }
        }
      } catch { /* a newer one is asked for, or the server is away: the button still works */ }
    }, wholly ? 0 : 250);
  };
  form.addEventListener("input", event => redraw(event.target.name === "dataset"));
}

function again() {
  const wait = Number(result()?.dataset.again);
  if (wait) setTimeout(() => renew(location.href).catch(() => null).then(again), 1000 * wait);
}
again();
