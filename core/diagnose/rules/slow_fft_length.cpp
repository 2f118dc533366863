#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <string>
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
  constexpr std::array<std::size_t, 4> kFastFactors = {2, 3, 5, 7};
  for (;; ++length) {
    std::size_t rest = length;
    for (const std::size_t factor : kFastFactors)
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

// What most of them transform, by their shapes: the last of their sizes that is slow, and whether the one before is, too. Those
// that end in real numbers have half of the length in their shapes.
struct Length {
  std::size_t elements = 0;  // 0 where shapes do not say it
  bool is_real = false, is_plane = false;
  friend auto operator<=>(const Length&, const Length&) = default;
};
Length length_of(const Facts& facts, const std::vector<SliceId>& transforms) {
  const auto slow = [](double size) {
    constexpr double kLongest = 1 << 30;
    return size >= 1 && size < kLongest && has_slow_length(static_cast<std::size_t>(size));
  };
  std::map<Length, std::size_t> counts;
  for (const SliceId s : transforms) {
    const std::string_view name = facts.trace.name(s);
    const auto call = recorded_call(facts, s);
    if (!call || name.ends_with("c2r")) continue;
    const Sizes& sizes = call->sizes(0);
    const auto last = std::find_if(sizes.rbegin(), sizes.rend(), slow);
    if (last == sizes.rend()) continue;
    const bool is_plane = last + 1 != sizes.rend() && slow(last[1]);
    ++counts[{static_cast<std::size_t>(*last), name.ends_with("r2c"), is_plane}];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? Length() : most->first;
}

// The line for it, of `fast` elements.
std::string padded_call(const Length& length, std::size_t fast) {
  const std::string_view real = length.is_real ? "r" : "";
  return length.is_plane ? fmt::format("spectrum = torch.fft.{0}fft2(x, s=({1}, {1}))", real, fast)
                         : fmt::format("spectrum = torch.fft.{}fft(x, n={})", real, fast);
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
  if (const Length length = length_of(facts, transforms); length.elements > 0) {
    const std::size_t fast = fast_length(length.elements);
    finding.summary += fmt::format(" Most are of {} elements. The next fast length is {}.", length.elements, fast);
    finding.evidence.add("length", length.elements);
    finding.evidence.add("fast_length", fast);
    finding.code = padded_call(length, fast);
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
