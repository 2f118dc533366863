#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastShare = 0.05;          // of the GPU time, or of the host's
constexpr std::size_t kLeastConstants = 4;    // equal ones in a step
constexpr std::size_t kLongestConstant = 40;  // operators

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
// What makes a tensor of no other one; what is worked out of it; and what such a tensor ends with.
constexpr std::array<std::string_view, 6> kBegins = {"aten::arange", "aten::linspace", "aten::ones",
                                                     "aten::zeros",  "aten::full",     "aten::scalar_tensor"};
constexpr std::array<std::string_view, 20> kGoesOn = {
    "aten::to",  "aten::_to_copy", "aten::div",    "aten::pow",   "aten::reciprocal", "aten::mul",  "aten::neg",
    "aten::log", "aten::exp",      "aten::outer",  "aten::ger",   "aten::einsum",     "aten::cat",  "aten::stack",
    "aten::add", "aten::sub",      "aten::expand", "aten::polar", "aten::unsqueeze",  "aten::slice"};
constexpr std::array<std::string_view, 4> kEnds = {"aten::cos", "aten::sin", "aten::tril", "aten::triu"};

// Tables of angles come of two ranges, positions and frequencies. Of one range and another tensor they may differ each time.
bool is_constant(std::size_t begins, std::string_view end) { return begins >= 2 || end == "aten::tril" || end == "aten::triu"; }

// A constant that begins at `at`: one past its last operator; `at` where none does.
std::size_t end_of_constant(const Facts& facts, const Operators& ops, std::size_t at) {
  std::size_t begins = 0, end = at;
  for (std::size_t i = at; i < ops.size() && i < at + kLongestConstant; ++i) {
    const std::string_view name = facts.trace.name(ops[i]);
    if (is_one_of(name, kBegins))
      ++begins;
    else if (is_one_of(name, kEnds) && is_constant(begins, name))
      end = i + 1;
    else if (begins == 0 || (!is_one_of(name, kGoesOn) && !is_one_of(name, kEnds)))
      break;
    // A mask is made of one tensor; what follows is another constant.
    if (end == i + 1 && (name == "aten::tril" || name == "aten::triu")) break;
  }
  return end;
}

// Its operators and their shapes.
std::string key_of(const Facts& facts, const Operators& ops, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) {
    const OpRow* const row = facts.trace.op_row(ops[i]);
    out += fmt::format("{} {};", facts.trace.name_id(ops[i]).value, row != nullptr ? row->input_dims.value : 0);
  }
  return out;
}

std::vector<Finding> check_constants_made_anew(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<FindingSpan> again;  // but for the first of each step
  for (const Operators& ops : operators_by_thread_and_step(facts)) {
    std::map<std::string, std::vector<FindingSpan>> equal;
    for (std::size_t at = 0; at < ops.size();) {
      const std::size_t end = end_of_constant(facts, ops, at);
      if (end > at)
        equal[key_of(facts, ops, at, end)].push_back(
            {facts.trace.lane_id(ops[at]), {facts.trace.begin(ops[at]), facts.trace.end(ops[end - 1])}, {}});
      at = std::max(end, at + 1);
    }
    for (const auto& [key, places] : equal)
      if (places.size() >= kLeastConstants) again.insert(again.end(), places.begin() + 1, places.end());
  }
  if (again.empty()) return {};
  const std::size_t times = again.size();
  Finding finding;
  const SparedTime spared = mark_spared(facts, finding, std::move(again));
  if (spared.share < kLeastShare) return {};
  finding.severity = Severity::costly;
  finding.summary =
      fmt::format("A table or mask is made from nothing again {}, by the same operators: {}.", often(times), spared.words());
  finding.evidence = spared.evidence({{"n", times}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule constants_made_anew = {
    .id = "constants_made_anew",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Constant tensors are made in each layer",
    .meaning =
        "Rotary tables and causal masks depend on the length of a sequence only. Here the same operators make them from "
        "nothing several times a step.",
    .remedy = "Make them once for the longest sequence, register them as buffers, and pass slices of them to each layer.",
    .check = check_constants_made_anew,
    .claim =
        Claim{.time = ClaimedTime::work,
              .turn = 269,
              .explains = {"unfused_elementwise_chain", "many_small_kernels", "many_calls", "overhead_bound", "host_gaps"}},
    .code = "self.register_buffer(\"cos\", cos, persistent=False)",
    .gives = {Cure::gone},
};

}  // namespace gapscope
