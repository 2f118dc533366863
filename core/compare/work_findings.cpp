// What kernels of equal names took on both sides, and the casts between types, added up.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/compare/pair_findings.h"

namespace gapscope {
namespace {

// Of one kernel's time, and of the GPU time of both sides: less is noise, or not worth a sentence.
constexpr double kLeastChange = 0.15;
constexpr double kLeastOfAll = 0.02;
constexpr double kLeastCasts = 0.02;
constexpr std::size_t kMostNamed = 3;

double all_time(const KernelChanges& kernels) {
  double sum = 0;
  for (const KernelClassTotal& total : kernels.totals) sum += static_cast<double>(total.ns_a) + static_cast<double>(total.ns_b);
  return sum;
}

double growth(const KernelChange& k) { return static_cast<double>(k.ns_b) / static_cast<double>(k.ns_a); }

// The same name, grid and number of launches, and another time.
bool is_slower_or_faster(const KernelChange& k, double all) {
  if (k.change != KernelChangeClass::same || k.other_grid || k.count_a != k.count_b || k.ns_a <= 0) return false;
  return std::abs(growth(k) - 1) >= kLeastChange && std::abs(static_cast<double>(k.ns_b - k.ns_a)) >= kLeastOfAll * all / 2;
}

std::optional<ComparisonFinding> same_kernel_time(const KernelChanges& kernels, bool equal_work) {
  std::vector<const KernelChange*> changed;
  Ns a = 0, b = 0;
  for (const KernelChange& k : kernels.rows)
    if (is_slower_or_faster(k, all_time(kernels))) changed.push_back(&k), add_saturating(a, k.ns_a), add_saturating(b, k.ns_b);
  if (changed.empty()) return std::nullopt;
  std::stable_sort(changed.begin(), changed.end(), [](const KernelChange* x, const KernelChange* y) {
    return std::abs(x->ns_b - x->ns_a) > std::abs(y->ns_b - y->ns_a);
  });
  ComparisonFinding out;
  out.rule = "pair_same_kernel_time";
  out.title = "Kernels of the same name take another time";
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const KernelChange& k = *changed[i];
    out.names_a.push_back(k.name_a);
    if (i < kMostNamed)
      out.summary +=
          fmt::format("{}{} {} -> {} ({:+.0f} %)", i == 0 ? "" : ", ", elide_middle(printable(short_kernel_name(k.name_a)), 60),
                      format_duration(k.ns_a), format_duration(k.ns_b), (growth(k) - 1) * 100);
  }
  out.summary += changed.size() > kMostNamed ? fmt::format(" and {} more", changed.size() - kMostNamed) : "";
  out.summary += equal_work ? "." : ", for amounts of work that may differ.";
  out.tone = !equal_work ? Tone::neutral : b < a ? Tone::better : b > a ? Tone::worse : Tone::neutral;
  out.evidence = {{"kernel_us", static_cast<double>(a) / static_cast<double>(kNsPerUs),
                   static_cast<double>(b) / static_cast<double>(kNsPerUs)}};
  return out;
}

// PyTorch's kernels that turn 32 bits into 16; other casts have no name of their own.
bool is_cast(const std::string& name) { return name.find("float16_copy") != std::string::npos; }

std::optional<ComparisonFinding> casts(const KernelChanges& kernels) {
  KernelClassTotal total;
  for (const KernelChange& k : kernels.rows) {
    if (!is_cast(k.name_a) && !is_cast(k.name_b)) continue;
    if (is_cast(k.name_a)) total.count_a += k.count_a, add_saturating(total.ns_a, k.ns_a);
    if (is_cast(k.name_b)) total.count_b += k.count_b, add_saturating(total.ns_b, k.ns_b);
  }
  const Ns most = std::max(total.ns_a, total.ns_b);
  if (total.ns_a == total.ns_b || static_cast<double>(most) < kLeastCasts * all_time(kernels) / 2) return std::nullopt;
  ComparisonFinding out;
  out.rule = "pair_casts";
  out.title = "Casts to 16 bits";
  out.summary = fmt::format("{} -> {}: {} -> {}.", counted(total.count_a, "cast"), counted(total.count_b, "cast"),
                            format_duration(total.ns_a), format_duration(total.ns_b));
  out.tone = total.ns_b < total.ns_a ? Tone::better : Tone::worse;
  out.evidence = {{"casts", static_cast<double>(total.count_a), static_cast<double>(total.count_b)},
                  {"cast_us", static_cast<double>(total.ns_a) / static_cast<double>(kNsPerUs),
                   static_cast<double>(total.ns_b) / static_cast<double>(kNsPerUs)}};
  return out;
}

}  // namespace

std::vector<ComparisonFinding> work_findings(const KernelChanges& kernels, bool equal_work) {
  std::vector<ComparisonFinding> out;
  for (auto& finding : {same_kernel_time(kernels, equal_work), casts(kernels)})
    if (finding) out.push_back(*finding);
  return out;
}

}  // namespace gapscope
