"use strict";
// The page around the window: what is dropped, chosen or linked to is handed over by its address and read by ranges, so a file
// never leaves this machine and is never whole in memory.
//
//   index.html#file=ADDRESS[&second=ADDRESS]   opens what lies there: on the same server, or on one that lets this page read
//
// Without the headers COOP and COEP a page gets no threads. A server that does not send them (any static host) is stood in for by
// service_worker.js.

{  // nothing of it meets the names of gapscope.js

const canvas = document.getElementById("canvas");
const say = sentence => { document.getElementById("say").textContent = sentence; };
window.gapscopeSay = say;
window.gapscopePasted = "";

window.gapscopeCopy = text => {
  window.gapscopePasted = text;
  if (navigator.clipboard) navigator.clipboard.writeText(text).catch(() => {});
};
window.addEventListener("paste", event => { window.gapscopePasted = event.clipboardData.getData("text/plain"); }, true);

window.gapscopeSave = what => {
  const link = document.createElement("a");
  const address = URL.createObjectURL(new Blob([what.bytes]));
  link.href = address;
  link.download = what.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
};
new BroadcastChannel("gapscope-save").onmessage = event => window.gapscopeSave(event.data);

const call = (name, types, values) => Module.ccall(name, null, types, values);
const tell = sentence => call("gapscope_tell", ["string"], [sentence]);

function openFiles(files, asSecond) {
  if (files.length == 0) return;
  for (const file of files) call("gapscope_add", ["string", "string", "number"], [file.name, URL.createObjectURL(file), file.size]);
  call("gapscope_open", ["number"], [asSecond ? 1 : 0]);
}

// Its name in the window is the end of the address.
async function openAddress(address, asSecond) {
  const name = decodeURIComponent(new URL(address, location).pathname.split("/").pop());
  try {
    const answer = await fetch(address, {method: "HEAD"});
    const bytes = Number(answer.headers.get("Content-Length"));
    if (!answer.ok) return tell(`${name} cannot be read: the server answers ${answer.status}.`);
    if (!bytes) return tell(`${name} cannot be read: the server does not say how large it is.`);
    call("gapscope_add", ["string", "string", "number"], [name, new URL(address, location).href, bytes]);
    call("gapscope_open", ["number"], [asSecond ? 1 : 0]);
  } catch (error) {
    tell(`${name} cannot be read: the server does not answer, or does not let this page read.`);
  }
}

function openLinked() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("file")) openAddress(asked.get("file"), false);
  if (asked.has("second")) openAddress(asked.get("second"), true);
}

let chooseSecond = false;
window.gapscopeChoose = asSecond => {
  chooseSecond = asSecond;
  const input = document.getElementById("choose");
  input.multiple = !asSecond;
  input.value = "";
  input.click();
};

window.gapscopeIsReady = () => {
  document.getElementById("say").hidden = true;
  window.gapscopeIsOn = true;
  document.getElementById("choose").addEventListener("change", event => openFiles(event.target.files, chooseSecond));
  // Before GLFW's own, which would copy the files into memory.
  window.addEventListener("dragover", event => { event.preventDefault(); event.stopImmediatePropagation(); }, true);
  window.addEventListener("drop", event => {
    event.preventDefault();
    event.stopImmediatePropagation();
    openFiles(event.dataTransfer.files, event.shiftKey);
  }, true);
  window.addEventListener("hashchange", openLinked);
  canvas.focus();
  openLinked();
};

window.Module = {
  canvas,
  setStatus: status => { if (status) say(status); },
  onAbort: reason => {
    document.getElementById("say").hidden = false;
    say(`Gapscope ended: ${reason}. Reload the page; a shorter recording may fit into this browser's memory.`);
  },
};

// What the window does by these keys a browser would do in its own way; those that it keeps (Ctrl+W, T, N) do not come here.
const taken = event => event.key == "F1" || event.key == "F3" || (event.altKey && /^[0-9]$/.test(event.key)) ||
                       ((event.ctrlKey || event.metaKey) && /^[abdefghijklmopsuyz0+=-]$/i.test(event.key));
window.addEventListener("keydown", event => { if (taken(event)) event.preventDefault(); }, true);
canvas.addEventListener("contextmenu", event => event.preventDefault());

function start() {
  const script = document.createElement("script");
  script.src = "gapscope.js";
  script.onerror = () => say("gapscope.js cannot be loaded.");
  document.body.append(script);
}

if (window.crossOriginIsolated) {
  start();
} else if (!window.isSecureContext) {
  say("Browsers give threads to pages of https and of localhost alone. Reach this server by ssh -L, as it says when it starts.");
} else {
  // The worker answers for every file of this folder from the next load on.
  navigator.serviceWorker.register("service_worker.js").then(() => navigator.serviceWorker.ready).then(() => {
    if (sessionStorage.getItem("gapscope-reloaded")) return say("This browser gives this page no threads: it needs SharedArrayBuffer.");
    sessionStorage.setItem("gapscope-reloaded", "1");
    location.reload();
  }).catch(() => say("This browser gives this page no threads: the server sends neither COOP nor COEP."));
}

}
