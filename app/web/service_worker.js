"use strict";
// For static hosting: gives the page the headers with which browsers share memory between threads.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", event => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", event => {
  if (new URL(event.request.url).origin != location.origin) return;
  event.respondWith(fetch(event.request).then(answer => {
    if (answer.type == "opaque" || answer.status == 0) return answer;
    const headers = new Headers(answer.headers);
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Embedder-Policy", "require-corp");
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    return new Response(answer.body, {status: answer.status, statusText: answer.statusText, headers});
  }));
});
