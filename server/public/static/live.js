"use strict";
// Takes sections of the page as the server pushes them, and puts each in place of the former
// one of its name. A push is a binary frame: HTML, compressed with gzip.
(() => {
  const main = document.querySelector("main[data-live]");
  const lost = document.getElementById("line");
  if (!main || !("DecompressionStream" in window)) return;

  const former = new Map();
  let chain = Promise.resolve();
  let wait = 1000;

  const two = (number) => String(number).padStart(2, "0");

  function localTime(root) {
    for (const time of root.querySelectorAll("time[data-at]")) {
      const at = new Date(Number(time.dataset.at));
      const day = at.toDateString() === new Date().toDateString()
        ? "" : at.toLocaleDateString(undefined, { day: "numeric", month: "short" }) + ", ";
      time.textContent = `${day}${two(at.getHours())}:${two(at.getMinutes())}`;
      time.title = at.toString();
    }
  }

  function place(html) {
    const made = document.createElement("template");
    made.innerHTML = html;
    for (const section of made.content.querySelectorAll("section[id]")) {
      const text = section.outerHTML;
      const old = document.getElementById(section.id);
      if (!old || former.get(section.id) === text) continue;
      former.set(section.id, text);
      const scrolled = [...old.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
      localTime(section);
      old.replaceWith(section);
      section.querySelectorAll(".scroll").forEach((each, at) => { each.scrollLeft = scrolled[at] || 0; });
    }
  }

  async function unpacked(data) {
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  function connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}${main.dataset.live}`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => {
      wait = 1000;
      lost.hidden = true;
      // In order, though each is unpacked on its own time.
      chain = chain.then(async () => place(await unpacked(event.data))).catch(console.error);
    };
    socket.onclose = () => {
      lost.hidden = false;
      setTimeout(connect, wait * (0.5 + Math.random()));
      wait = Math.min(wait * 2, 60000);
    };
  }

  localTime(document);
  connect();
})();
