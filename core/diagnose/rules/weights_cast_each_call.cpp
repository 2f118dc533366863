#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/autocast.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of a product: its weights, and its bias or its input. One alone may be the input.
constexpr std::size_t kLeastCasts = 2;
constexpr std::size_t kLeastProducts = 8;
constexpr double kLeastCastShare = 0.05;  // of the window

// Autocast casts inside the operator that it casts for; a cast that the program writes comes before it.
std::vector<Finding> check_weights_cast_each_call(const Facts& facts) {
  if (facts.practices().trains || facts.compiling()) return {};  // in training the weights change between two casts
  std::map<SliceId, std::vector<SliceId>> casts;                 // by product
  for (const SliceId s : facts.slices_with(kIsCopyOp)) {
    if (facts.trace.name(s) != "aten::to" || (facts.below(s) & kIsLaunch) == 0) continue;
    if (const SliceId product = product_cast_for(facts, s)) casts[product].push_back(s);
  }
  std::vector<SliceId> places;
  Ns time = 0;
  std::size_t products = 0;
  for (const auto& [product, of] : casts) {
    if (of.size() < kLeastCasts) continue;
    ++products;
    for (const SliceId s : of) add_saturating(time, facts.trace.duration(s));
    places.insert(places.end(), of.begin(), of.end());
  }
  const double share = share_of(time, facts.window_length);
  if (products < kLeastProducts || share < kLeastCastShare) return {};
  std::sort(places.begin(), places.end());
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format(
      "Autocast casts the weights of {}: {} take {} on the host, {} of the window. No backward pass changes the weights in "
      "between.",
      counted(products, "product"), counted(places.size(), "cast"), format_duration(time), format_share(share));
  finding.evidence = Evidence({{"n", places.size()}, {"products", products}, {"total_us", as_us(time)}, {"share", share}});
  mark_slices(finding, facts.trace, places);
  return {std::move(finding)};
}

}  // namespace

extern const Rule weights_cast_each_call = {
    .id = "weights_cast_each_call",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "Weights are cast again in each call",
    .meaning =
        "The weights are in 32 bits, and autocast casts them again in each of its regions. In inference they do not change, so "
        "one conversion is enough.",
    .remedy = "Convert the model once before the loop, model.to(torch.bfloat16), and do not use autocast.",
    .check = check_weights_cast_each_call,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 93, .explains = {"unfused_elementwise_chain", "many_small_kernels"}},
    .evidence_names = {{{"products", "matrix products and convolutions"}}},
    .code = "model = model.to(torch.bfloat16)",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
