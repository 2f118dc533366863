#include "app/window/file_chooser.h"

#include <emscripten/em_js.h>

#include <utility>

namespace gapscope {
namespace {

// The page opens what is chosen, as what is dropped.
EM_JS(void, gapscope_choose, (int as_second), { window.gapscopeChoose(as_second != 0); })

}  // namespace

FileChooser::FileChooser(std::function<void()> wake)
    : run_(std::make_shared<Run>()),
      job_(
          "choose a file", [](const Question&) { return Answer{}; }, wake),
      look_for_portal_(
          "choose a file", [](const std::monostate&) { return false; }, wake) {
  run_->program = "browser";
}

FileChooser::~FileChooser() = default;

void FileChooser::ask(Question question) { gapscope_choose(question.as_second ? 1 : 0); }

}  // namespace gapscope
