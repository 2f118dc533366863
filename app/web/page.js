"use strict";
// The page around the window: what is dropped, chosen or linked to is handed over by its address and read by ranges, so a file
// never leaves this machine and is never whole in memory.
//
//   index.html#file=ADDRESS[&second=ADDRESS][&from=NS&to=NS][&slice=N][&marked=NS..NS[&lanes=N,N]]
//
// opens what lies there, on the same server or on one that lets this page read; several file= are ranks of a run. The rest is the place
// in the first, as in the window's own links (core/view/link.h); "Copy link" copies such an address. A report that holds its recording
// (core/view/overview/html_recording.cpp) links to what it has in memory: blob:..., with the name behind another #.
//
// Without the headers COOP and COEP a page gets no threads. A server that does not send them (any static host) is stood in for by
// service_worker.js.

{  // nothing of it meets the names of gapscope.js

const canvas = document.getElementById("canvas");
const say = sentence => {
  document.getElementById("say").hidden = false;
  document.getElementById("say").textContent = sentence;
};
window.gapscopeSay = say;
window.gapscopePasted = "";

// Frames follow each other while the window asks for the next one at once. Otherwise nothing runs until something happens, or until
// the time that it named (a text cursor blinks).
let frame = 0, timer = 0, hasEnded = false;
window.gapscopeAskForFrame = seconds => {
  clearTimeout(timer);
  if (hasEnded || frame || seconds == Infinity) return;
  if (seconds > 0)
    timer = setTimeout(() => window.gapscopeAskForFrame(0), seconds * 1000);
  else
    frame = requestAnimationFrame(() => { frame = 0; Module._gapscope_frame(); });
};
window.gapscopeEnds = sentence => { hasEnded = true; say(sentence); };
const kHappens = ["mousemove", "mousedown", "mouseup", "mouseenter", "mouseleave", "touchstart", "touchmove", "touchend", "touchcancel",
                  "keydown", "keyup", "focus", "blur", "resize", "paste"];

// Of each opened file, by its path in the window: the addresses that a link to it holds. Not of one that has no address elsewhere.
const addresses = new Map();
let shown = "";  // the addresses of what was opened by link last

// A link of the window, as what opens it in a browser.
function pageLink(text) {
  const [, path, place] = /^gapscope:\/\/([^?]*)\??(.*)$/.exec(text) || [];
  const files = path && addresses.get(decoded(path));
  if (!files) return text;
  return location.href.split("#")[0] + "#" + new URLSearchParams(files.map(file => ["file", file])) + (place ? "&" + place : "");
}

window.gapscopeCopy = text => {
  window.gapscopePasted = pageLink(text);
  if (navigator.clipboard) navigator.clipboard.writeText(window.gapscopePasted).catch(() => {});
};
window.addEventListener("paste", event => { window.gapscopePasted = event.clipboardData.getData("text/plain"); }, true);

// A file with a whole path is what the window remembers (core/base/platform/web/stored_folder.h): the settings, and how each recording
// was looked at. The recent files of a page are not there on the next one.
const kStored = "gapscope:", kStoredViews = kStored + "/stored/views/";
function storedNames() {
  try {
    return Object.keys(localStorage).filter(key => key.startsWith(kStored)).map(key => key.slice(kStored.length));
  } catch (error) {
    return [];  // this browser keeps nothing
  }
}
window.gapscopeStoredNames = () => storedNames().join("\n");
window.gapscopeStored = path => {
  const text = localStorage.getItem(kStored + path) || "{}";
  try {
    return path == "/stored/settings.json" ? JSON.stringify({...JSON.parse(text), recent: []}) : text;
  } catch (error) {
    return "{}";
  }
};

// Where there is no room for one more, the views of all other recordings are given up.
function keep(what) {
  const key = kStored + what.name, text = new TextDecoder().decode(what.bytes);
  try {
    try {
      localStorage.setItem(key, text);
    } catch (error) {
      for (const other of Object.keys(localStorage)) if (other.startsWith(kStoredViews)) localStorage.removeItem(other);
      localStorage.setItem(key, text);
    }
  } catch (error) {
    console.warn("What Gapscope keeps is not stored: " + error.message);
  }
}

window.gapscopeSave = what => {
  if (what.name.startsWith("/")) return keep(what);
  const link = document.createElement("a");
  const address = URL.createObjectURL(new Blob([what.bytes]));
  link.href = address;
  link.download = what.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
};
new BroadcastChannel("gapscope-save").onmessage = event => window.gapscopeSave(event.data);

const call = (name, types, values, result = null) => Module.ccall(name, result, types, values);
const tell = sentence => call("gapscope_tell", ["string"], [sentence]);

// WebAssembly addresses so much, and what a recording takes of it is known when it is read.
const kMostBytes = 2 ** 32;

// Returns their paths in the window.
function open(files, asSecond) {
  const large = files.find(file => file.bytes >= kMostBytes);
  if (large)
    return tell(`${large.name} holds ${(large.bytes / 1e9).toFixed(1)} GB, and a page has room for less than ${(kMostBytes / 1e9).toFixed(1)}: ` +
                "open it with Gapscope on a machine, or a part of it (gapscope crop)."), [];
  const paths = files.map(file => call("gapscope_add", ["string", "string", "number", "string"],
                                       [file.name, file.address, file.bytes, file.same || file.address], "string"));
  call("gapscope_open", ["number"], [asSecond ? 1 : 0]);
  return paths;
}

function openFiles(files, asSecond) {
  if (files.length == 0) return;
  if (!asSecond) shown = "";
  open(Array.from(files, file => ({name: file.name, address: URL.createObjectURL(file), bytes: file.size,
                                   same: [file.name, file.size, file.lastModified].join("\n")})), asSecond);
}

// Not every name is UTF-8.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    return text;
  }
}

// From then on this page has it, whatever becomes of the report.
async function take(address) {
  const name = decoded(new URL(address).hash.slice(1)) || "recording";
  try {
    const blob = await (await fetch(address)).blob();
    return {name, address: URL.createObjectURL(blob), bytes: blob.size, same: [name, blob.size].join("\n")};
  } catch (error) {
    tell(`${name} is no longer there: the report that held it is closed. Open it there again.`);
  }
  return null;
}

const isHeld = address => address.startsWith("blob:");

// Its name in the window is the end of the address. Null, after a sentence, where it cannot be read.
async function look(address) {
  if (isHeld(address)) return take(address);
  const name = decoded(new URL(address, location).pathname.split("/").pop());
  try {
    const answer = await fetch(address, {method: "HEAD"});
    const bytes = Number(answer.headers.get("Content-Length"));
    if (answer.ok && bytes) return {name, address: new URL(address, location).href, bytes};
    tell(`${name} cannot be read: the server ${answer.ok ? "does not say how large it is" : `answers ${answer.status}`}.`);
  } catch (error) {
    tell(`${name} cannot be read: the server does not answer, or does not let this page read.`);
  }
  return null;
}

async function openAddresses(files, place) {
  shown = files.join("\n");
  const found = (await Promise.all(files.map(look))).filter(file => file);
  if (found.length < files.length) return;
  const paths = open(found, false);
  if (!files.some(isHeld)) paths.forEach((path, at) => addresses.set(path, [files[at], ...files.filter((_, other) => other != at)]));
  show(paths[0], place);
}

// The place, in a file that is opened.
function show(path, place) {
  if (path && place) call("gapscope_show", ["string"], [`gapscope://${encodeURIComponent(path).replaceAll("%2F", "/")}?${place}`]);
}

async function openLinked() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const place = new URLSearchParams(["from", "to", "slice", "marked", "lanes"].filter(key => asked.has(key)).map(key => [key, asked.get(key)])).toString();
  const files = asked.getAll("file");
  if (files.length && files.join("\n") == shown)
    show([...addresses.keys()].reverse().find(path => addresses.get(path).join("\n") == shown), place);
  else if (files.length)
    await openAddresses(files, place);
  if (!asked.has("second")) return;
  const second = await look(asked.get("second"));
  if (second) open([second], true);
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
  for (const what of kHappens) window.addEventListener(what, () => window.gapscopeAskForFrame(0), true);
  window.addEventListener("hashchange", openLinked);
  canvas.focus();
  window.gapscopeAskForFrame(0);
  openLinked();
};

window.Module = {
  canvas,
  setStatus: status => { if (status) say(status); },
  onAbort: reason => {
    window.gapscopeEnds(`Gapscope ended: ${reason}. Reload the page; a shorter recording may fit into this browser's memory.`);
  },
};

// What the window does by these keys a browser would do in its own way; those that it keeps (Ctrl+W, T, N) do not come here.
const taken = event => /^F(1|3|12)$/.test(event.key) || (event.altKey && /^[0-9]$/.test(event.key)) ||
                       ((event.ctrlKey || event.metaKey) && /^[abdefghijklmopsuyz0+=-]$/i.test(event.key));
window.addEventListener("keydown", event => { if (taken(event)) event.preventDefault(); }, true);
canvas.addEventListener("contextmenu", event => event.preventDefault());

// GLFW's own would make a whole step of the least movement, and hundreds of a sideways one: trackpads move by pixels. Two fingers that
// spread come as a wheel with Ctrl that nobody holds; the window zooms where it is held.
const kStepPx = 100, kStepLines = 3, kStepPages = 1, kPinchStep = 20;
let ctrlIsHeld = false, pinch = 0;
window.addEventListener("keydown", event => { ctrlIsHeld ||= event.isTrusted && event.key == "Control"; }, true);
window.addEventListener("keyup", event => { ctrlIsHeld &&= event.key != "Control"; }, true);
window.addEventListener("blur", () => { ctrlIsHeld = false; }, true);
function press(type) {
  window.dispatchEvent(new KeyboardEvent(type, {key: "Control", code: "ControlLeft", keyCode: 17, ctrlKey: type == "keydown"}));
}
window.addEventListener("wheel", event => {
  event.preventDefault();
  if (!window.gapscopeIsOn) return;
  event.stopImmediatePropagation();
  const isPinch = event.ctrlKey && !ctrlIsHeld;
  const step = isPinch ? kPinchStep : [kStepPx, kStepLines, kStepPages][event.deltaMode];
  Module._gapscope_wheel(-event.deltaX / step, -event.deltaY / step);
  if (!isPinch) return;
  if (!pinch) press("keydown");
  clearTimeout(pinch);
  pinch = setTimeout(() => { pinch = 0; press("keyup"); }, 200);
}, {capture: true, passive: false});

function start() {
  const script = document.createElement("script");
  script.src = "gapscope.js";
  script.onerror = () => say("gapscope.js cannot be loaded.");
  document.body.append(script);
}

if (window.crossOriginIsolated) {
  start();
} else if (!window.isSecureContext) {
  say("Browsers give threads to pages of https and of localhost alone, and Gapscope needs them. Reach this server by ssh -L, as " +
      "gapscope serve says when it starts, or by https.");
} else if (!navigator.serviceWorker) {
  say("This browser gives this page no threads: the server sends neither COOP nor COEP, and the browser lets no service worker stand in " +
      "for it (private windows do not). Open the page in a window that is not private, or by gapscope serve.");
} else {
  // The worker answers for every file of this folder from the next load on.
  navigator.serviceWorker.register("service_worker.js").then(() => navigator.serviceWorker.ready).then(() => {
    if (sessionStorage.getItem("gapscope-reloaded")) return say("This browser gives this page no threads: it needs SharedArrayBuffer.");
    sessionStorage.setItem("gapscope-reloaded", "1");
    location.reload();
  }).catch(() => say("This browser gives this page no threads: the server sends neither COOP nor COEP."));
}

}
