#include "core/view/overview/html_recording.h"

#include <string_view>

#include <fmt/format.h>

#include "core/base/base64.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// The window fetches the recording by an address of this page's memory (blob:), its name behind a #; browsers give that to
// pages of the same site alone, and while this one is open. Neither page needs to be the other's opener, which the headers
// that give the window its threads (COOP) would not let them be.
constexpr std::string_view kRecordingScript = R"("use strict";
{
const held = document.getElementById("held-recording"), says = document.getElementById("held-says");
const viewer = new URL(held.dataset.viewer, document.baseURI);
let address = "";
const addressOfIt = () => {
  if (address) return address;
  const text = atob(held.textContent), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return address = URL.createObjectURL(new Blob([bytes]));
};
const button = (id, press) => {
  document.getElementById(id).hidden = false;
  document.getElementById(id).onclick = press;
};
button("held-save", () => {
  const link = document.createElement("a");
  link.href = addressOfIt();
  link.download = held.dataset.name;
  link.click();
});
const isThere = async () => {
  if (!/^https?:$/.test(location.protocol) || viewer.origin != location.origin) return false;
  const answer = await fetch(new URL("gapscope.wasm", viewer), {method: "HEAD"}).catch(() => null);
  return answer !== null && answer.ok;
};
says.textContent = "";
isThere().then(found => {
  if (!found) {
    says.textContent = `There is no web viewer at ${viewer.href}. Save the recording, and open it with Gapscope.`;
    return;
  }
  const open = place => {
    const file = addressOfIt() + "#" + encodeURIComponent(held.dataset.name);
    window.open(viewer.href + "#" + new URLSearchParams({file}) + (place ? "&" + place : ""), "_blank", "noopener");
  };
  button("held-open", () => open(""));
  for (const at of document.querySelectorAll(".held-at")) {
    at.hidden = false;
    at.onclick = () => open(at.dataset.place);
  }
  says.textContent = "Opening it sends nothing anywhere.";
});
}
)";

}  // namespace

std::string place_button(const std::string& place) {
  return fmt::format(" <button class=\"held-at\" data-place=\"{}\" hidden>Show it</button>", html_text(place));
}

std::string recording_line(const HtmlRecording& recording) {
  return fmt::format(
      "<p class=\"note\"><button id=\"held-open\" hidden>Open in Gapscope</button> "
      "<button id=\"held-save\" hidden>Save the recording</button> {} is in this page: {}, {}. "
      "<span id=\"held-says\">Saving it needs a script, and scripts are disabled here.</span></p>\n",
      html_text(recording.about), html_text(recording.name), format_bytes(recording.packed.size()));
}

std::string recording_html(const HtmlRecording& recording) {
  std::string out =
      fmt::format("<script id=\"held-recording\" type=\"application/octet-stream\" data-name=\"{}\" data-viewer=\"{}\">",
                  html_text(recording.name), html_text(recording.viewer));
  out += base64_text(recording.packed);
  return out.append("</script>\n<script>").append(kRecordingScript).append("</script>\n");
}

}  // namespace gapscope
