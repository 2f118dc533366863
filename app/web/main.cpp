// The window as a page in a browser: what app/web/page.js hands over is opened, and it calls for each frame.
#include <emscripten.h>
#include <emscripten/em_js.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/info.h"
#include "app/cli/overview.h"
#include "app/state/state_file.h"
#include "app/web/url_files.h"
#include "app/window/window.h"
#include "app/window/window_loop.h"
#include "core/base/failure.h"
#include "core/base/hash.h"
#include "core/base/platform/web/stored_folder.h"
#include "core/base/result.h"
#include "core/view/document.h"
#include "core/view/link.h"

namespace gapscope {
namespace {

EM_JS(void, gapscope_say, (const char* sentence), { window.gapscopeSay(UTF8ToString(sentence)); })
EM_JS(void, gapscope_is_ready, (), { window.gapscopeIsReady(); })
EM_JS(char*, gapscope_stored_names, (), { return stringToNewUTF8(window.gapscopeStoredNames()); })
EM_JS(char*, gapscope_stored, (const char* path), { return stringToNewUTF8(window.gapscopeStored(UTF8ToString(path))); })
EM_JS(void, gapscope_ends, (const char* sentence), { window.gapscopeEnds(UTF8ToString(sentence)); })

struct Page {
  std::unique_ptr<Window> window;
  std::unique_ptr<WindowLoop> loop;
  std::vector<std::string> added;  // files that are opened together
};
Page* page = nullptr;  // as long as the page is there: the browser ends it without asking

// Of any name one that stays in its folder.
std::string file_name(std::string name) {
  for (char& c : name)
    if (c == '/' || c == '\0') c = '_';
  return name.empty() || name == "." || name == ".." ? "recording" : name;
}

std::string taken(char* text) {
  std::string out = text;
  std::free(text);
  return out;
}

// The files of kStoredFolder, as the last pages of this browser left them.
void restore_stored() {
  std::istringstream names(taken(gapscope_stored_names()));
  for (std::string path; std::getline(names, path);) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    std::ofstream(path, std::ios::binary) << taken(gapscope_stored(path.c_str()));
  }
}

void begin_page() {
  page = new Page;
  Result<std::unique_ptr<Window>> window = Window::create({});
  if (!window) return gapscope_say(window.error().message.c_str());
  page->window = std::move(*window);
  SessionOptions options;
  restore_stored();
  options.settings_file = std::string(kStoredFolder) + "settings.json";
  options.states = std::string(kStoredFolder) + "views";
  options.wake = &Window::wake;
  page->loop = std::make_unique<WindowLoop>(*page->window, std::move(options));
  ::mkdir("/opened", 0777);
  gapscope_is_ready();
}

}  // namespace
}  // namespace gapscope

// What the page's script calls. Texts are UTF-8.
extern "C" {

// Whenever the window asked for it (gapscope_ask_for_frame) or something happened to it.
EMSCRIPTEN_KEEPALIVE void gapscope_frame() {
  if (const std::optional<gapscope::Error> error = gapscope::page->loop->step())
    gapscope::gapscope_ends(error->message.c_str());
}

// A file that is to be opened with the others that were added since the last gapscope_open(). What is `same` has the same path
// in the window on every page, and so is seen as it was left. The path, valid until the next call; empty where it cannot
// be.
EMSCRIPTEN_KEEPALIVE const char* gapscope_add(const char* name, const char* url, double bytes, const char* same) {
  using namespace gapscope;
  static std::string path;
  const std::string folder = fmt::format("/opened/{:016x}", hash_text(same));
  ::mkdir(folder.c_str(), 0777);
  path = folder + "/" + file_name(name);
  ::unlink(path.c_str());  // it may have grown since it was opened before
  if (add_url_file(path, url, static_cast<std::uint64_t>(bytes)))
    page->added.push_back(path);
  else
    path.clear();
  return path.c_str();
}

EMSCRIPTEN_KEEPALIVE void gapscope_open(int as_second) {
  using namespace gapscope;
  page->loop->take_drop({std::exchange(page->added, {}), as_second != 0});
  Window::wake();
}

// The place that a link (core/view/link.h) names, once its file is open.
EMSCRIPTEN_KEEPALIVE void gapscope_show(const char* link) {
  using namespace gapscope;
  if (const std::optional<ViewLink> place = parse_link(link)) page->loop->show(*place);
  Window::wake();
}

// A sentence for the person in front of the page.
EMSCRIPTEN_KEEPALIVE void gapscope_tell(const char* sentence) {
  gapscope::page->loop->session().say(sentence);
  gapscope::Window::wake();
}

// What is shown, as for end-to-end tests (app/state/state_file.h); valid until the next call.
EMSCRIPTEN_KEEPALIVE const char* gapscope_state() {
  using namespace gapscope;
  static std::string text;
  text = state_json(page->loop->session(), page->loop->ui(), page->loop->at_rest());
  return text.c_str();
}

// The JSON of `gapscope info` or `gapscope overview` about what is shown; empty where that is not known yet. Valid until the
// next call.
EMSCRIPTEN_KEEPALIVE const char* gapscope_answer(const char* tool) {
  using namespace gapscope;
  static std::string text;
  text.clear();
  const Document* document = page->loop->session().document();
  if (!document) return text.c_str();
  if (std::string_view(tool) == "info") text = info_json(*document);
  if (std::string_view(tool) == "overview" && document->analysis() && document->diagnosis()) {
    text = overview_json(document->trace, make_overview(document->session), *document->diagnosis());
  }
  return text.c_str();
}

}  // extern "C"

int main() {
  gapscope::begin_page();
  return 0;
}
