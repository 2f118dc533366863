#include "core/diagnose/verdict.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

const Finding* find(const std::vector<RankedFinding>& findings, std::string_view rule) {
  const auto at = std::find_if(findings.begin(), findings.end(), [&](const RankedFinding& f) { return f.finding.rule->id == rule; });
  return at == findings.end() ? nullptr : &at->finding;
}

struct Word {
  std::string_view rule, word;
};

// The word for what limits the run, by the rules that decide it; most telling first.
Word headline(const Facts& facts, const std::vector<RankedFinding>& findings) {
  constexpr Word kWords[] = {{"compile_inside_window", "Compiling"},      {"autotuning_in_window", "Autotuning"},
                             {"dataloader_wait", "Waiting for data"},     {"overhead_bound", "Overhead-bound"},
                             {"compute_bound", "Compute-bound"},          {"memcpy_heavy", "Transfer-bound"},
                             {"low_gpu_utilization", "GPU mostly idle"}};
  for (const Word& w : kWords) {
    const Finding* finding = find(findings, w.rule);
    if (!finding) continue;
    // A compilation that covers little of the window does not name the whole recording.
    if (w.rule == "compile_inside_window" && !facts.compiling()) continue;
    return w;
  }
  return {"", "Balanced"};
}

std::string gpu_sentence(const Facts& facts) {
  std::string text = fmt::format("the GPU worked {} of {}", format_duration(facts.busy_in_window), format_duration(facts.window.length()));
  if (facts.gpu_util) text += fmt::format(" ({})", format_percent(*facts.gpu_util));
  if (facts.cpu_to_gpu) {
    text += fmt::format(", and the CPU side {}", format_duration(facts.cpu_active));
    if (*facts.cpu_to_gpu >= 1.95) text += fmt::format(", {} times the {} of GPU work", format_significant(*facts.cpu_to_gpu), format_duration(facts.gpu_sum));
  }
  return text + ".";
}

// A title inside a sentence: "The GPU is idle" -> "the GPU is idle", "CUDA graph around ..." stays.
std::string inside_sentence(std::string_view title) {
  std::string out(title);
  if (out.size() > 1 && !(out[1] >= 'A' && out[1] <= 'Z') && out[0] >= 'A' && out[0] <= 'Z') out[0] = static_cast<char>(out[0] - 'A' + 'a');
  return out;
}

}  // namespace

std::string verdict_of(const Facts& facts, const std::vector<RankedFinding>& findings) {
  if (facts.trace.slice_count() == 0) return "Nothing to judge: this trace holds no slices.";
  if (facts.ops.empty())
    return fmt::format("No GPU activity: this recording of {} holds no kernel, copy or memset, so nothing can be said about the GPU.",
                       format_duration(facts.window.length()));
  const Word head = headline(facts, findings);
  std::string text = fmt::format("{}: {}", head.word, gpu_sentence(facts));
  std::size_t told = 0;
  for (const RankedFinding& f : findings) {
    if (f.finding.severity != Severity::costly || f.led_by >= 0 || f.finding.rule->id == head.rule || told == 2) continue;
    text += (told++ == 0 ? " Also: " : "; ") + inside_sentence(f.finding.rule->title);
  }
  return told > 0 ? text + "." : text;
}

}  // namespace gapscope
