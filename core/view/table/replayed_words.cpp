#include "core/view/table/replayed_words.h"

#include <fmt/format.h>

#include "core/analyze/captured/captured_work.h"
#include "core/base/phrase.h"

namespace gapscope {

std::string replayed_words(const Trace& trace) {
  const CapturedWork* const captured = captured_work(trace);
  if (captured == nullptr || captured->counts().joined == 0) return {};
  return fmt::format(
      "GPU work of replayed graphs ({}) counts for their launch here, as in PyTorch; the tab Roofline has its operators.",
      counted(captured->counts().joined, "piece"));
}

}  // namespace gapscope
