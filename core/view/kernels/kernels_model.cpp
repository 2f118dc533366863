#include "core/view/kernels/kernels_model.h"

#include <algorithm>

#include "core/view/document.h"

namespace gapscope {
KernelCalls kernel_calls(const Trace& trace, std::span<const SliceId> named, StringId name, std::optional<Span> range) {
  KernelCalls calls;
  std::vector<Ns> durations;
  for (const SliceId s : named) {
    if (trace.name_id(s) != name || !is_gpu_work(trace.kind(s))) continue;
    if (range && !range->contains(trace.begin(s))) continue;
    calls.slices.push_back(s);
    durations.push_back(trace.duration(s));
    calls.longest = std::max(calls.longest, trace.duration(s));
  }
  sort_by_begin(trace, calls.slices);
  calls.histogram = duration_histogram(durations);
  return calls;
}

std::optional<std::size_t> bin_of(const DurationHistogram& histogram, Ns duration) {
  constexpr double kRounding = 1e-9;  // edges come from a logarithm: the outermost may miss its duration by a last bit
  const auto& edges = histogram.edges;
  const double value = std::max(1.0, static_cast<double>(duration));
  if (edges.size() < 2 || value < edges.front() * (1 - kRounding) || value > edges.back() * (1 + kRounding))
    return std::nullopt;
  if (value < edges.front()) return 0;
  const auto after = std::upper_bound(edges.begin(), edges.end(), value) - edges.begin();
  return std::min(static_cast<std::size_t>(after - 1), edges.size() - 2);
}

std::shared_ptr<const KernelsAnswer> answer(const Document& document, const KernelsQuestion& question,
                                            const std::atomic<bool>* cancel) {
  if (cancel && *cancel) return nullptr;
  return std::make_shared<const KernelsAnswer>(
      KernelsAnswer{question.range, kernel_table(document.trace, document.links, question.range)});
}

}  // namespace gapscope
