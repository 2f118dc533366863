#include "core/analyze/inference/serving_passes.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analyze/steps.h"
#include "core/base/saturating.h"
#include "core/base/text.h"

namespace gapscope {

std::vector<ServingPass> serving_passes(const Trace& trace, std::string_view phase) {
  std::vector<ServingPass> passes;
  std::unordered_map<std::uint32_t, std::optional<ServingStep>> by_name;
  for (std::size_t s = 0; s < trace.slice_count(); ++s) {
    if (trace.kind(SliceId(s)) != Kind::annotation) continue;
    const auto [known, is_new] = by_name.try_emplace(trace.slices.name[s].value);
    if (is_new) known->second = serving_step(trace.name(SliceId(s)));
    if (known->second && (phase.empty() || known->second->phase() == phase)) passes.push_back({SliceId(s), *known->second});
  }
  std::stable_sort(passes.begin(), passes.end(),
                   [&](const ServingPass& a, const ServingPass& b) { return trace.begin(a.slice) < trace.begin(b.slice); });
  return passes;
}

bool is_phase_word(std::string_view word) { return word == "prefill" || word == "decode" || word == "mixed"; }

std::vector<PhaseFigures> phase_figures(const Trace& trace, const Steps& steps) {
  std::vector<PhaseFigures> phases;
  for (const Step& step : steps.steps) {
    const auto pass = step.slice ? serving_step(trace.name(step.slice)) : std::nullopt;
    if (!pass) continue;
    auto at = std::find_if(phases.begin(), phases.end(), [&](const PhaseFigures& p) { return p.phase == pass->phase(); });
    if (at == phases.end()) at = phases.insert(at, PhaseFigures{pass->phase(), 0, 0, 0, 0, true, 0});
    ++at->steps;
    add_saturating(at->requests, pass->requests());
    add_saturating(at->prefill_tokens, pass->prefill.queries);
    add_saturating(at->decode_tokens, pass->decode.queries);
    at->knows_tokens = at->knows_tokens && pass->knows_tokens;
    add_saturating(at->time, step.span.length());
  }
  std::stable_sort(phases.begin(), phases.end(), [](const PhaseFigures& a, const PhaseFigures& b) { return a.time > b.time; });
  return phases;
}

std::string phase_words(const PhaseFigures& p) {
  const double each = static_cast<double>(p.requests) / static_cast<double>(std::max<std::uint64_t>(p.steps, 1));
  std::string out =
      fmt::format("{} {}, {}{}", format_count(static_cast<std::int64_t>(p.steps)), p.steps == 1 ? "step" : "steps",
                  p.requests % static_cast<std::int64_t>(std::max<std::uint64_t>(p.steps, 1)) == 0
                      ? fmt::format("{:.0f} {}", each, each == 1 ? "request" : "requests")
                      : fmt::format("{:.1f} requests", each),
                  p.steps == 1 ? "" : " each");
  if (!p.knows_tokens) return fmt::format("{}, in {}; their tokens are not stated", out, format_duration(p.time));
  const std::int64_t tokens = p.prefill_tokens + p.decode_tokens;
  return fmt::format("{}, {} {} in {}: {} tokens/s", out, format_count(tokens), tokens == 1 ? "token" : "tokens",
                     format_duration(p.time), format_count(static_cast<std::int64_t>(p.tokens_per_second())));
}

}  // namespace gapscope
