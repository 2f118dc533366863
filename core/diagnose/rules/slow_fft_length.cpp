#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastFftShare = 0.05;  // of the GPU time
// cuFFT transforms lengths with a prime factor above 127 by Bluestein's algorithm, which works out a convolution of at least
// twice the length. On an H200 the next length of small factors took a ninth to two thirds of the time (1,021 to 65,537
// elements): at most this is spared.
constexpr std::string_view kBluestein = "bluestein_fft";
constexpr double kSparedByPadding = 8.0 / 9;

bool has_slow_length(std::size_t length) {
  constexpr std::size_t kLargestFactor = 127;
  for (std::size_t factor = 2; factor <= kLargestFactor; ++factor)
    while (length > 1 && length % factor == 0) length /= factor;
  return length > 1;
}
std::size_t fast_length(std::size_t length) {
  for (;; ++length) {
    std::size_t rest = length;
    for (const std::size_t factor : {2, 3, 5, 7})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return length;
  }
}

// The operators of PyTorch around transforms by that algorithm.
std::vector<SliceId> slow_transforms(const Facts& facts) {
  std::vector<SliceId> out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !op.is_kernel() || facts.trace.name(op.slice).find(kBluestein) == std::string_view::npos) continue;
    const SliceId around = facts.ancestor(op.launch, kIsOp);
    if (around && (out.empty() || out.back() != around)) out.push_back(around);
  }
  return out;
}

// The length that most of them have, by their shapes; 0 where those do not say it.
std::size_t length_of(const Facts& facts, const std::vector<SliceId>& transforms) {
  constexpr double kLongest = 1 << 30;
  std::map<std::size_t, std::size_t> counts;
  for (const SliceId s : transforms)
    if (const auto call = recorded_call(facts, s))
      for (const double size : call->sizes(0))
        if (size >= 1 && size < kLongest && has_slow_length(static_cast<std::size_t>(size)))
          ++counts[static_cast<std::size_t>(size)];
  std::size_t most = 0;
  for (const auto& [length, count] : counts)
    if (most == 0 || count > counts[most]) most = length;
  return most;
}

std::vector<Finding> check_slow_fft_length(const Facts& facts) {
  const std::vector<SliceId> transforms = slow_transforms(facts);
  const LaunchedWork work = work_launched_in(facts, transforms);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastFftShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = static_cast<Ns>(kSparedByPadding * static_cast<double>(work.time));
  finding.summary = fmt::format("{} of lengths with a large prime factor {} {} of the GPU time ({}).",
                                sentence_start(counted(transforms.size(), "FFT")), transforms.size() == 1 ? "takes" : "take",
                                format_share(share), format_duration(work.time));
  finding.evidence = Evidence({{"n", transforms.size()}, {"total_us", as_us(work.time)}, {"share", share}});
  if (const std::size_t length = length_of(facts, transforms); length > 0) {
    const std::size_t fast = fast_length(length);
    finding.summary += fmt::format(" Most are of {} elements. The next fast length is {}.", length, fast);
    finding.evidence.add("length", length);
    finding.evidence.add("fast_length", fast);
    finding.code = fmt::format("spectrum = torch.fft.rfft(x, n={})", fast);
  }
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule slow_fft_length = {
    .id = "slow_fft_length",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "FFTs have a slow length",
    .meaning =
        "For a length with a prime factor above 127, cuFFT uses Bluestein's algorithm: several transforms of at least twice "
        "the length.",
    .remedy =
        "Pad the signals with zeros, or cut them, to a product of 2, 3, 5 and 7. torch.fft.rfft(x, n=length) does either. The "
        "frequencies are then those of the new length. A convolution by FFT stays exact when it is padded.",
    .check = check_slow_fft_length,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 263, .explains = {"gpu_hotspot"}},
    .evidence_names = {{{"length", "elements of most transforms"}, {"fast_length", "elements of a fast one"}}},
    .code = "spectrum = torch.fft.rfft(x, n=fast_length)",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
