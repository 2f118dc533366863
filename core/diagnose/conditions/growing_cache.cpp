#include "core/diagnose/conditions/growing_cache.h"

#include "core/analyze/work/work_call.h"
#include "core/diagnose/conditions/recorded_calls.h"

namespace gapscope {
namespace {

// What is there is this many times as long as what is appended.
constexpr double kLeastGrown = 16;
constexpr std::string_view kCacheFirst =
    "First give the cache of keys and values a fixed size (StaticCache in Transformers): torch.cat makes it grow with each "
    "token, and a graph has fixed sizes.";

// Two tensors that differ in one size alone, the first far longer there: a cache and what a token adds to it.
bool appends_little(const WorkCall& call) {
  const std::vector<Sizes>& tensors = call.at(0).list;
  if (tensors.size() != 2 || tensors[0].size() != tensors[1].size() || tensors[0].size() < 3) return false;
  std::size_t differ = 0;
  bool is_longer = false;
  for (std::size_t i = 0; i < tensors[0].size(); ++i) {
    if (tensors[0][i] == tensors[1][i]) continue;
    ++differ;
    is_longer = tensors[1][i] > 0 && tensors[0][i] >= kLeastGrown * tensors[1][i];
  }
  return differ == 1 && is_longer;
}

}  // namespace

std::vector<SliceId> cache_appends(const Facts& facts) {
  std::vector<SliceId> out;
  for (const SliceId s : cpu_slices_called(facts, "aten::cat", kIsOp)) {
    if (facts.trace.name(s) != "aten::cat") continue;
    const auto call = recorded_call(facts, s);
    if (call && appends_little(*call)) out.push_back(s);
  }
  return out;
}

Said with_cache_first(const Facts& facts, Said graph) {
  if (!graph.remedies.has(Remedy::cuda_graph) || cache_appends(facts).size() < kLeastAppends) return graph;
  graph.text.append(" ").append(kCacheFirst);
  return graph;
}

}  // namespace gapscope
