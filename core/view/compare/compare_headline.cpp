#include "core/view/compare/compare_headline.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/verdict.h"
#include "core/replay/plain_program.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"

namespace gapscope {
namespace {

struct Busy {
  Ns time = 0, window = 0;
  std::string percent() const { return format_part(time, window); }
};

std::optional<Busy> busy_of(const Document& document) {
  const TimeAccount* account = account_of(document);
  const DeviceAccount* device = account ? account->busiest() : nullptr;
  if (!device || device->times.window <= 0) return std::nullopt;
  return Busy{device->times.window - device->times.idle_total(), device->times.window};
}

// With steps; null where nothing is said of it.
const PlainProgram* plain_of(const Document& document) {
  const PlainProgram* plain = document.diagnosis() ? document.diagnosis()->plain.get() : nullptr;
  return plain != nullptr && plain->steps > 0 ? plain : nullptr;
}

std::string went(std::string_view what, const std::string& a, const std::string& b) {
  return std::string(what) + " " + a + " -> " + b;
}

// "step 6.72 ms -> 8.46 ms, 1.26x longer"; where the two may be equal for all that is known, it says so.
std::string plain_headline(const PlainProgram& a, const PlainProgram& b) {
  std::string out = went("step", format_duration(a.step), format_duration(b.step));
  if (a.step == b.step) return out;
  if (std::max(a.low, b.low) <= std::min(a.high, b.high)) return out + ", their ranges overlap";
  const double longer = static_cast<double>(b.step) / static_cast<double>(std::max(Ns{1}, a.step));
  return out + fmt::format(", {:.2f}x {}", longer < 1 ? 1 / longer : longer, longer < 1 ? "shorter" : "longer");
}

std::string range_words(const PlainProgram& plain) {
  return plain.low == plain.high ? format_duration(plain.step)
                                 : format_duration(plain.low) + " to " + format_duration(plain.high);
}

// "a step on the CPU 308 µs -> 400 µs, 1.30x slower"; empty where neither has it.
std::string figure_headline(const Comparison& c, StepFigure figure, std::string_view what) {
  const Ns a = c.a.of(figure).median, b = c.b.of(figure).median;
  if (a <= 0 || b <= 0) return {};
  return went(what, format_duration(a), format_duration(b)) + ", " +
         change_text(c.change(figure), c.a.of(figure), c.b.of(figure));
}

}  // namespace

std::vector<std::string> side_headline(const Document& document, bool brief) {
  const Diagnosis* diagnosis = document.diagnosis();
  if (!diagnosis) return {};
  std::string bound = diagnosis->limit();
  if (const PlainProgram* plain = plain_of(document))
    return {std::move(bound), format_duration(plain->step) + " a step", "GPU busy " + format_percent(plain->gpu_share),
            "without the profiler"};
  const std::optional<Busy> busy = busy_of(document);
  if (!busy) return {std::move(bound)};
  const std::string window = " of " + format_duration(busy->window);
  const std::optional<Ns> part = bound_time(diagnosis->bound, account_of(document)->busiest()->times);
  if (!part) return {std::move(bound), "GPU busy " + busy->percent() + window};
  return {std::move(bound) + (brief ? " " : " for ") + format_part(*part, busy->window) + window,
          "GPU busy " + busy->percent()};
}

std::vector<std::string> change_headline(const Document& a, const Document& b, const ComparisonAnswer* answer) {
  std::vector<std::string> words;
  std::string busy;
  const PlainProgram *plain_a = plain_of(a), *plain_b = plain_of(b);
  if (plain_a != nullptr && plain_b != nullptr) {
    words.push_back(plain_headline(*plain_a, *plain_b));
    busy = went("GPU busy", format_percent(plain_a->gpu_share), format_percent(plain_b->gpu_share));
  } else if (const std::optional<Busy> busy_a = busy_of(a), busy_b = busy_of(b); busy_a && busy_b) {
    busy = went("GPU busy", busy_a->percent(), busy_b->percent());
  }
  if (!busy.empty()) words.push_back(std::move(busy));
  const bool has_step = plain_a != nullptr && plain_b != nullptr;  // the time of a step comes first, whichever is known
  if (has_step) words.push_back("without the profiler: A " + range_words(*plain_a) + ", B " + range_words(*plain_b));
  if (!answer || !answer->error.empty()) return words;
  const Comparison& c = answer->comparison;
  const bool steps = c.a.annotated && c.b.annotated;
  const bool warm = c.a.cold || c.b.cold;  // the cold first one is left out
  const std::string step = std::string(has_step ? "as recorded, " : "") + (!steps ? "CPU time"
                                                                           : warm ? "a warm step on the CPU"
                                                                                  : "a step on the CPU");
  if (std::string text = figure_headline(c, StepFigure::cpu, step); !text.empty())
    words.insert(has_step ? words.end() : words.begin(), std::move(text));
  if (std::string text = figure_headline(c, StepFigure::gpu_time, steps ? "its GPU time" : "GPU time"); !text.empty())
    words.push_back(std::move(text));
  return words;
}

}  // namespace gapscope
