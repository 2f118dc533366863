#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Below this a message is bound by latency, not by bandwidth.
constexpr std::uint64_t kSmallMessage = 1u << 20;
constexpr std::size_t kLeastMessages = 8;
// Of the GPU time.
constexpr double kLeastMessageShare = 0.02;

// The number behind a key in the JSON text of a kernel's args; 0 where there is none.
std::uint64_t number_of(std::string_view args, std::string_view key) {
  std::size_t at = args.find(key);
  if (at == args.npos) return 0;
  at = args.find_first_of("0123456789", at + key.size());
  std::uint64_t value = 0;
  if (at != args.npos) std::from_chars(args.data() + at, args.data() + args.size(), value);
  return value;
}

std::uint64_t element_bytes(std::string_view args) {
  const auto has = [&](std::string_view type) { return args.find(type) != args.npos; };
  if (has("Double") || has("Long") || has("double") || has("int64")) return 8;
  if (has("Half") || has("BFloat16") || has("float16")) return 2;
  return has("\"Byte\"") || has("\"Char\"") || has("Float8") ? 1 : 4;
}

std::vector<Finding> check_small_all_reduces(const Facts& facts) {
  std::vector<GpuOp> small;
  std::uint64_t bytes = 0, all = 0;
  for (const GpuOp& op : facts.ops) {
    const OpRow* row = op.gpu_class == GpuClass::communication ? facts.trace.op_row(op.slice) : nullptr;
    if (row == nullptr || !row->collective_args.valid()) continue;
    const std::string_view args = facts.trace.strings[row->collective_args];
    if (facts.trace.strings[row->collective].find("allreduce") == std::string_view::npos) continue;
    const std::uint64_t size = number_of(args, "\"In msg nelems\"") * element_bytes(args);
    ++all;
    if (size == 0 || size >= kSmallMessage) continue;
    small.push_back(op);
    bytes += size;
  }
  const Ns time = total_time(small);
  const double share = share_of(time, facts.gpu_sum);
  if (small.size() < kLeastMessages || share < kLeastMessageShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = time;
  finding.summary = fmt::format("{} of {} move less than {} each, {} on average. They take {} of the GPU time ({}).",
                                shown_count(small.size()), counted(all, "all-reduce"), format_bytes(kSmallMessage),
                                format_bytes(bytes / small.size()), format_share(share), format_duration(time));
  finding.evidence =
      Evidence({{"n", small.size()}, {"share", share}, {"total_us", as_us(time)}, {"bytes", bytes}, {"all", all}});
  mark_slices(finding, facts.trace, slices_of(small));
  return {std::move(finding)};
}

}  // namespace

extern const Rule small_all_reduces = {
    .id = "small_all_reduces",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "Many all-reduces of small messages",
    .meaning = "Each message has the latency of the link, at any size. One message with all the data has it once.",
    .remedy =
        "Send them together: {|a larger bucket_cap_mb of DistributedDataParallel}, {|one tensor with all the data}, "
        "{|torch.distributed.all_reduce_coalesced}.",
    .check = check_small_all_reduces,
    .claim = Claim{.time = ClaimedTime::communication, .turn = 45},
    .evidence_names = {{{"all", "all-reduces"}}},
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
