// Collectives: 0 operations; what crosses the links, by algorithm and number of ranks (bus bytes of nccl-tests), as in the
// table of ranks.
#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/analyze/work/families.h"
#include "core/base/parse_json.h"

namespace gapscope::work {
namespace {

using Json = nlohmann::ordered_json;

double number_of(const Json& args, const char* key) {
  const auto at = args.find(key);
  return at != args.end() && at->is_number() ? at->get<double>() : 0;
}

double bytes_of_word(std::string_view dtype) {
  constexpr auto kBytes = std::to_array<std::pair<std::string_view, double>>(
      {{"BFloat16", 2}, {"Half", 2}, {"Float", 4}, {"Int", 4}, {"Double", 8}, {"Long", 8}, {"Short", 2}});
  const auto* at = std::find_if(kBytes.begin(), kBytes.end(), [&](const auto& b) { return b.first == dtype; });
  return at != kBytes.end() ? at->second : 1;
}

// Bus bytes over the bytes of the whole result (or of the whole input, where that is the larger one).
double factor_of(std::string_view name, double ranks) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (ranks < 1) return 1;
  if (has("allreduce") || has("all_reduce")) return 2 * (ranks - 1) / ranks;
  return has("gather") || has("scatter") || has("to_all") || has("toall") ? (ranks - 1) / ranks : 1;
}

}  // namespace

Work collective(const WorkCall& call) {
  const Result<Json> args = parse_json('{' + std::string(call.collective) + '}');
  if (!call.collective.empty() && args && args->contains("Collective name") && (*args)["Collective name"].is_string()) {
    const std::string name = (*args)["Collective name"].get<std::string>();
    const auto dtype = args->find("dtype");
    const double element = dtype != args->end() && dtype->is_string() ? bytes_of_word(dtype->get<std::string>()) : 1;
    const double most = std::max(number_of(*args, "In msg nelems"), number_of(*args, "Out msg nelems"));
    return counted(0, factor_of(name, number_of(*args, "Group size")) * most * element);
  }
  double bytes = 0;  // nothing says how many take part: once
  for (const WorkArgument& a : call.arguments)
    bytes += a.is_list() ? list_elements(a) * bytes_of_kernel(call.kernel) : a.sizes.empty() ? 0 : a.bytes();
  return counted(0, bytes);
}

}  // namespace gapscope::work
