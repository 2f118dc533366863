#include "core/compare/pair_findings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// As in the rule catalogue: below them measurements of the same program differ.
constexpr double kSameGpuTime = 0.10;    // GPU time within this share counts as the same work
constexpr double kCpuTax = 1.2;          // compiled host step / eager one
constexpr double kFewerLaunches = 0.75;  // launches left of what there were
constexpr double kGpuTimeUp = 1.10;
constexpr double kSameProblem = 1.02;  // largest products this close are of the same problem
constexpr auto kOperations = static_cast<std::size_t>(StepFigure::gpu_ops);
constexpr std::size_t kNamesInSentence = 3;
constexpr std::size_t kNameChars = 60;
constexpr double kShownSpread = 0.05;  // of a ratio; below it the spread is no news

struct Pair {
  const PairFacts& f;
  double a(StepFigure figure) const { return static_cast<double>(f.comparison.a.of(figure).median); }
  double b(StepFigure figure) const { return static_cast<double>(f.comparison.b.of(figure).median); }
  double growth(StepFigure figure) const { return a(figure) > 0 ? b(figure) / a(figure) : 0; }  // 0: not known
  Ns ns_a(StepFigure figure) const { return f.comparison.a.of(figure).median; }
  Ns ns_b(StepFigure figure) const { return f.comparison.b.of(figure).median; }
  const KernelClassTotal& total(KernelChangeClass c) const { return f.kernels.totals[static_cast<std::size_t>(c)]; }
  bool equal_work() const { return f.comparison.like.work != SameWork::other; }
  bool whole() const { return f.comparison.of_whole(); }
  // What the kernels are counted over.
  std::string_view counted_over() const { return whole() ? "in total" : f.all_steps ? "in all steps" : "per step"; }
  // Behind what is measured of a step.
  std::string_view per_step() const { return whole() ? "" : " per step"; }
};

ComparedNumber number(const Pair& p, std::string_view key, StepFigure figure) {
  const double unit = is_time(figure) ? static_cast<double>(kNsPerUs) : 1;
  return {std::string(key), p.a(figure) / unit, p.b(figure) / unit};
}

std::vector<ComparedNumber> evidence(const Pair& p) {
  return {number(p, "cpu_step_us", StepFigure::cpu), number(p, "gpu_step_us", StepFigure::gpu_time),
          number(p, "gpu_ops_per_step", StepFigure::gpu_ops), number(p, "launches_per_step", StepFigure::launches)};
}

std::string some_names(const std::vector<std::string>& names) {
  std::vector<std::string> shorter;
  for (const std::string& name : names)
    if (std::string text = elide_middle(short_kernel_name(name), kNameChars);
        std::find(shorter.begin(), shorter.end(), text) == shorter.end())
      shorter.push_back(std::move(text));
  std::string out;
  for (std::size_t i = 0; i < std::min(shorter.size(), kNamesInSentence); ++i) out += (i == 0 ? "" : ", ") + shorter[i];
  return shorter.size() > kNamesInSentence ? out + fmt::format(" and {} more", shorter.size() - kNamesInSentence) : out;
}

bool same_gpu_time(const Pair& p) {
  const double growth = p.growth(StepFigure::gpu_time);
  return growth <= 1 + kSameGpuTime && growth >= 1 / (1 + kSameGpuTime);
}

std::optional<ComparisonFinding> same_gpu_work(const Pair& p) {
  if (!p.f.kernels.same_names_and_grids || !same_gpu_time(p)) return std::nullopt;
  const bool compiled = p.f.comparison.a.has_compiled_regions != p.f.comparison.b.has_compiled_regions;
  const std::string_view why = compiled ? "torch.compile did not change the kernels" : "only the CPU side changed";
  return ComparisonFinding{
      "pair_same_gpu_work",
      "Same GPU work in both runs",
      fmt::format("Every GPU operation{} ({}) has the same name and grid as before. GPU time is {} ({} before): {}.",
                  p.whole() ? "" : " of a step", static_cast<std::uint64_t>(p.b(StepFigure::gpu_ops)),
                  format_duration(p.ns_b(StepFigure::gpu_time)), format_duration(p.ns_a(StepFigure::gpu_time)), why),
      Tone::neutral,
      evidence(p),
      {},
      {}};
}

std::optional<ComparisonFinding> kernel_changed(const Pair& p) {
  const auto& k = p.f.kernels;
  if (k.only_a.empty() && k.only_b.empty()) return std::nullopt;
  std::string summary;
  if (!k.only_a.empty()) summary += fmt::format("Only A runs {}. ", some_names(k.only_a));
  if (!k.only_b.empty()) summary += fmt::format("Only B runs {}. ", some_names(k.only_b));
  summary.pop_back();
  return ComparisonFinding{"pair_kernel_changed",
                           "The GPU runs other operations",
                           std::move(summary),
                           Tone::neutral,
                           evidence(p),
                           k.only_a,
                           k.only_b};
}

std::optional<ComparisonFinding> compile_cpu_tax(const Pair& p) {
  const double growth = p.growth(StepFigure::cpu);
  if (!p.f.comparison.b.has_compiled_regions || p.f.comparison.a.has_compiled_regions || growth < kCpuTax) return std::nullopt;
  return ComparisonFinding{
      "pair_compile_cpu_tax",
      "Compiling made the CPU side slower",
      fmt::format("{} is {} on the CPU ({} -> {}); the GPU is busy for {} of it instead of {}. Compiled code runs guards and "
                  "wrappers in each call.",
                  p.whole() ? "The recording" : "A step", ratio_text(StepFigure::cpu, 1 / growth, p.equal_work()),
                  format_duration(p.ns_a(StepFigure::cpu)), format_duration(p.ns_b(StepFigure::cpu)),
                  format_duration(p.ns_b(StepFigure::gpu_busy)), format_duration(p.ns_a(StepFigure::gpu_busy))),
      Tone::worse,
      evidence(p),
      {},
      {}};
}

std::optional<ComparisonFinding> fewer_launches(const Pair& p) {
  const double growth = p.growth(StepFigure::launches);
  if (p.a(StepFigure::launches) <= 0 || growth > kFewerLaunches) return std::nullopt;
  const bool graph = p.b(StepFigure::graph_launches) > p.a(StepFigure::graph_launches);
  return ComparisonFinding{
      "pair_fewer_launches",
      graph ? "A CUDA graph saves launches" : fmt::format("Fewer launches{}", p.per_step()),
      fmt::format("{}{} instead of {:.0f}{}.",
                  p.b(StepFigure::launches) == 1 ? "1 launch" : fmt::format("{:.0f} launches", p.b(StepFigure::launches)),
                  p.per_step(), p.a(StepFigure::launches),
                  graph ? fmt::format(", {:.0f} of them of a graph that starts several kernels at once",
                                      p.b(StepFigure::graph_launches))
                        : ""),
      p.equal_work() ? Tone::better : Tone::neutral,
      evidence(p),
      {},
      {}};
}

bool same_problem(const PairFacts& f) {
  if (!f.largest_product_a || !f.largest_product_b) return true;  // not recorded: nothing speaks against it
  const auto [less, more] = std::minmax(*f.largest_product_a, *f.largest_product_b);
  return more <= less * kSameProblem;
}

std::optional<ComparisonFinding> gpu_time_up(const Pair& p) {
  const double growth = p.growth(StepFigure::gpu_time);
  if (growth < kGpuTimeUp || !same_problem(p.f) || !p.equal_work()) return std::nullopt;
  const KernelClassTotal& added = p.total(KernelChangeClass::added);
  return ComparisonFinding{
      "pair_gpu_time_up",
      "GPU time went up",
      fmt::format("GPU time{} grew by {} ({} -> {}){}.", p.per_step(), format_percent(growth - 1),
                  format_duration(p.ns_a(StepFigure::gpu_time)), format_duration(p.ns_b(StepFigure::gpu_time)),
                  added.ns_b > 0
                      ? fmt::format("; work that only B has takes {} {}", format_duration(added.ns_b), p.counted_over())
                      : ""),
      Tone::worse,
      evidence(p),
      {},
      {}};
}

bool is_device_copy(const std::string& name) { return name.find("DtoD") != name.npos; }

// A copy on the device that only one side has: the bias laid into the result of addmm, a graph's inputs.
std::optional<ComparisonFinding> copy_added(const Pair& p, bool in_b) {
  std::vector<std::string> names, operators;
  std::uint32_t count = 0;
  Ns time = 0;
  for (const KernelChange& k : p.f.kernels.rows) {
    if (k.change != (in_b ? KernelChangeClass::added : KernelChangeClass::removed)) continue;
    const std::string& name = in_b ? k.name_b : k.name_a;
    if (!is_device_copy(name)) continue;
    names.push_back(name);
    operators.insert(operators.end(), k.operators.begin(), k.operators.end());
    count += k.count_a + k.count_b;
    time += k.ns_a + k.ns_b;
  }
  if (names.empty()) return std::nullopt;
  const bool addmm = std::find(operators.begin(), operators.end(), "aten::addmm") != operators.end();
  const auto only = [&](double value) { return in_b ? std::pair(0.0, value) : std::pair(value, 0.0); };
  const auto [copies_a, copies_b] = only(count);
  const auto [us_a, us_b] = only(static_cast<double>(time) / static_cast<double>(kNsPerUs));
  ComparisonFinding out;
  out.rule = in_b ? "pair_copy_added" : "pair_copy_gone";
  out.title = in_b ? "A copy on the GPU was added" : "A copy on the GPU is gone";
  out.tone = in_b ? Tone::worse : Tone::better;
  out.evidence = {{"copies", copies_a, copies_b}, {"copy_us", us_a, us_b}};
  out.summary = fmt::format("{} copies within the device {} {}, {} in total, under {}{}.", in_b ? "Only B" : "Only A",
                            count == 1 ? "once" : fmt::format("{} times", count), p.counted_over(), format_duration(time),
                            operators.empty() ? "no operator of the file" : printable(operators.front()),
                            addmm ? ": a full-size bias is copied into the result before the product" : "");
  (in_b ? out.names_b : out.names_a) = std::move(names);
  return out;
}

std::optional<ComparisonFinding> types_changed(const Pair& p) {
  const KernelClassTotal& total = p.total(KernelChangeClass::dtype);
  if (total.count_a == 0) return std::nullopt;
  std::string example;
  ComparisonFinding out;
  for (const KernelChange& k : p.f.kernels.rows) {
    if (k.change != KernelChangeClass::dtype) continue;
    if (example.empty()) example = k.detail;
    out.names_a.push_back(k.name_a);
    out.names_b.push_back(k.name_b);
  }
  out.rule = "pair_types_changed";
  out.title = "Kernels compute in other data types";
  out.summary = fmt::format("{} {}: {} -> {}{}. The first: {}.", counted(total.count_a, "kernel"), p.counted_over(),
                            format_duration(total.ns_a), format_duration(total.ns_b),
                            p.equal_work() ? "" : ", for amounts of work that may differ", example);
  out.tone = total.ns_b == total.ns_a || !p.equal_work() ? Tone::neutral : total.ns_b < total.ns_a ? Tone::better : Tone::worse;
  out.evidence = {{"kernels", static_cast<double>(total.count_a), static_cast<double>(total.count_b)},
                  {"kernel_us", static_cast<double>(total.ns_a) / static_cast<double>(kNsPerUs),
                   static_cast<double>(total.ns_b) / static_cast<double>(kNsPerUs)}};
  return out;
}

// Findings of one diagnosis that the other lacks. They are news where the time that they are of changed by about as much; else
// the time was there before under another name, or is too little to matter on the other side.
std::optional<ComparisonFinding> only_diagnosed(const Pair& p, bool in_b) {
  const std::vector<NamedFinding>&a = *p.f.a.diagnosed, &b = *p.f.b.diagnosed;
  const std::vector<NamedFinding>&in = in_b ? b : a, &not_in = in_b ? a : b;
  ComparisonFinding out;
  std::string news, others;
  for (const NamedFinding& f : in) {
    auto& names = in_b ? out.names_b : out.names_a;
    const auto same_rule = [&](const NamedFinding& other) { return other.rule == f.rule; };
    if (std::any_of(not_in.begin(), not_in.end(), same_rule) || std::find(names.begin(), names.end(), f.rule) != names.end())
      continue;
    names.push_back(f.rule);
    if (!f.problem) continue;
    const StepFigure figure = f.is_idle ? StepFigure::idle : StepFigure::gpu_busy;
    const Ns grown = (in_b ? 1 : -1) * (p.ns_b(figure) - p.ns_a(figure));
    std::string& list = grown > 0 && grown >= f.cost / 2 ? news : others;
    list += (list.empty() ? "" : "; ") + f.title;
  }
  const std::size_t count = out.names_a.size() + out.names_b.size();
  if (count == 0) return std::nullopt;
  out.rule = in_b ? "finding_new" : "finding_gone";
  out.title = in_b ? "Findings that only B has" : "Findings that only A has";
  out.summary = news.empty() && others.empty() ? fmt::format("{}, and none is a problem.", counted(count, "finding"))
                : news.empty()                 ? std::string()
                                               : news + ".";
  if (!others.empty())
    out.summary += fmt::format("{}{}: {}.", news.empty() ? "" : " ",
                               in_b ? "New, but the time did not grow" : "Gone, but the time did not shrink", others);
  out.tone = news.empty() ? Tone::neutral : in_b ? Tone::worse : Tone::better;
  out.evidence = {{"findings", in_b ? 0.0 : static_cast<double>(count), in_b ? static_cast<double>(count) : 0.0}};
  return out;
}

// Where the middle step hides what the others do: pauses of every third one, say.
std::string mean_sentence(const Pair& p) {
  constexpr double kOtherRatio = 1.25;
  const StepSpread &a = p.f.comparison.a.of(StepFigure::cpu), &b = p.f.comparison.b.of(StepFigure::cpu);
  if (a.median <= 0 || b.median <= 0 || a.mean <= 0 || b.mean <= 0 || p.f.all_steps) return {};
  const double medians = p.growth(StepFigure::cpu), means = static_cast<double>(b.mean) / static_cast<double>(a.mean);
  if (std::max(medians / means, means / medians) < kOtherRatio) return {};
  return fmt::format(" The mean step differs: {} -> {}, because single steps take up to {} in A and {} in B.",
                     format_duration(a.mean), format_duration(b.mean), format_duration(a.max), format_duration(b.max));
}

std::string time_sentence(const Pair& p, StepFigure figure, std::string_view name) {
  const std::string what = fmt::format("{}{}", name, p.per_step());
  const FigureChange& change = p.f.comparison.change(figure);
  const std::string both = fmt::format("{} -> {}", format_duration(p.ns_a(figure)), format_duration(p.ns_b(figure)));
  if (p.ns_a(figure) == p.ns_b(figure)) return fmt::format("{} is the same ({}).", what, format_duration(p.ns_a(figure)));
  if (!change.differs)
    return fmt::format("{} shows no difference {} ({}).", what, change.interval ? "that these steps can show" : "beyond noise",
                       both);
  if (!change.ratio || *change.ratio <= 0) return fmt::format("{}: {}.", what, both);
  const bool less = *change.ratio > 1;
  std::string spread;
  if (change.interval) {
    const double low = less ? change.interval->low : 1 / change.interval->high,
                 high = less ? change.interval->high : 1 / change.interval->low;
    const std::size_t steps = std::min(p.f.comparison.a.counted, p.f.comparison.b.counted);
    const std::string sure = steps < kEnoughSteps ? fmt::format("from {} steps only", steps) : "with 95 % confidence";
    if (high - low >= kShownSpread) spread = fmt::format(" ({:.2f}x to {:.2f}x {})", low, high, sure);
  }
  return fmt::format("{} went {}: {}{}.", what, both, ratio_text(figure, *change.ratio, change.equal_work), spread);
}

std::string change_words(const Pair& p, KernelChangeClass c) {
  const KernelClassTotal& t = p.total(c);
  if (t.count_a + t.count_b == 0) return {};
  const auto kernels = [](std::uint32_t n) { return counted(n, "kernel"); };
  const std::string_view has = t.count_a == 1 ? "has" : "have";
  switch (c) {
    case KernelChangeClass::epilogue: return fmt::format("{} {} another epilogue", kernels(t.count_a), has);
    case KernelChangeClass::layout: return fmt::format("{} {} another layout", kernels(t.count_a), has);
    case KernelChangeClass::dtype: return fmt::format("{} {} other data types", kernels(t.count_a), has);
    case KernelChangeClass::tile: return fmt::format("{} {} another tile or variant", kernels(t.count_a), has);
    case KernelChangeClass::family:
      return fmt::format("{} {} from another library or generator", kernels(t.count_a), t.count_a == 1 ? "comes" : "come");
    case KernelChangeClass::fused:
      if (t.count_a == t.count_b)
        return fmt::format("{} {} other operators", kernels(t.count_a), t.count_a == 1 ? "fuses" : "fuse");
      return fmt::format("{} became {} {}", kernels(t.count_a), t.count_b,
                         t.count_a > t.count_b ? "by fusing" : "with less fusing");
    case KernelChangeClass::added: return fmt::format("{} added", counted(t.count_b, "GPU operation"));
    case KernelChangeClass::removed: return fmt::format("{} gone", counted(t.count_a, "GPU operation"));
    default: return {};
  }
}

std::string gpu_sentence(const Pair& p) {
  const KernelChanges& k = p.f.kernels;
  const Comparison& c = p.f.comparison;
  if (!c.a.has_gpu_work && !c.b.has_gpu_work) return "Neither trace has GPU work.";
  if (!c.a.has_gpu_work || !c.b.has_gpu_work)
    return fmt::format("Only {} has GPU work, so there are no kernels to compare.", c.a.has_gpu_work ? "A" : "B");
  std::string list;
  for (std::size_t i = 1; i < kKernelChangeClasses; ++i)
    if (const std::string words = change_words(p, static_cast<KernelChangeClass>(i)); !words.empty())
      list += (list.empty() ? "" : ", ") + words;
  const std::uint32_t gemms = std::max(k.gemms_a, k.gemms_b);
  const auto operations = static_cast<std::uint64_t>(std::max(c.a.picked_values[kOperations], c.b.picked_values[kOperations]));
  const std::string equal =
      gemms > 0 ? fmt::format("{} of {} {}", format_count(k.gemms_equal), counted(gemms, "GEMM"),
                              gemms == 1 ? "keeps its kernel" : "keep their kernel")
                : fmt::format("{} of {} {}", format_count(p.total(KernelChangeClass::same).count_a),
                              counted(operations, "GPU operation"), operations == 1 ? "keeps its name" : "keep their name");
  if (!list.empty()) return fmt::format("The GPU does other work: {}; {}.", equal, list);
  const bool other_grid = std::any_of(k.rows.begin(), k.rows.end(), [](const KernelChange& row) { return row.other_grid; });
  if (other_grid) return fmt::format("The GPU runs the same kernels on other amounts of work: {}, with other grids.", equal);
  const bool cpu_changed = c.change(StepFigure::cpu).differs && same_gpu_time(p);
  return fmt::format("The GPU does the same math: {}{}.", equal, cpu_changed ? ", and only CPU overhead changed" : "");
}

// What speaks against "slower": the first difference, and the time that a unit of the work takes.
std::string work_sentence(const Likeness& like) {
  if (like.work != SameWork::other) return {};
  const std::string_view sure = like.per_unit.empty() ? "The two may not do equal work. " : "The two do not do equal work. ";
  std::string out = fmt::format("{}{} ", sure, like.differences.front());
  if (like.per_unit.empty() || like.per_unit.front().ns_a <= 0 || like.per_unit.front().ns_b <= 0) return out;
  const PerUnit& unit = like.per_unit.front();
  return out + fmt::format("Per {} the GPU is busy for {} in B instead of {}: {}. ", unit.unit,
                           per_unit_text(unit.unit, unit.ns_b), per_unit_text(unit.unit, unit.ns_a),
                           ratio_text(StepFigure::gpu_busy, unit.ns_a / unit.ns_b, /*equal_work=*/false));
}

bool nothing_differs(const Comparison& c) {
  for (std::size_t f = 0; f < kStepFigures; ++f) {
    const StepSpread &x = c.a.figures[f], &y = c.b.figures[f];
    if (x.median != y.median || x.min != y.min || x.max != y.max) return false;
  }
  return std::all_of(c.kernels.begin(), c.kernels.end(), [](const KernelChange& k) {
    return k.change == KernelChangeClass::same && k.count_a == k.count_b && k.ns_a == k.ns_b && !k.other_grid;
  });
}

}  // namespace

std::vector<ComparisonFinding> pair_findings(const PairFacts& facts) {
  const Pair p{facts};
  std::vector<ComparisonFinding> out;
  const auto add = [&](std::optional<ComparisonFinding> finding) {
    if (finding) out.push_back(std::move(*finding));
  };
  add(compile_cpu_tax(p));
  add(gpu_time_up(p));
  add(fewer_launches(p));
  add(same_gpu_work(p));
  add(kernel_changed(p));
  add(types_changed(p));
  for (ComparisonFinding& finding : work_findings(facts.kernels, p.equal_work())) out.push_back(std::move(finding));
  add(copy_added(p, true));
  add(copy_added(p, false));
  if (facts.a.diagnosed && facts.b.diagnosed) {
    add(only_diagnosed(p, true));
    add(only_diagnosed(p, false));
  }
  return out;
}

bool is_unchanged(const PairFacts& facts) { return Pair{facts}.equal_work() && nothing_differs(facts.comparison); }

std::string pair_verdict(const PairFacts& facts) {
  const Pair p{facts};
  if (facts.comparison.is_unchanged) return "No difference: times, launches and kernels of both traces are the same.";
  std::string out = work_sentence(facts.comparison.like);
  if (p.ns_a(StepFigure::cpu) > 0 || p.ns_b(StepFigure::cpu) > 0)
    out += time_sentence(p, StepFigure::cpu, "CPU time") + mean_sentence(p) + " ";
  out += gpu_sentence(p);
  if (facts.comparison.a.has_gpu_work && facts.comparison.b.has_gpu_work)
    out += " " + time_sentence(p, StepFigure::gpu_time, "GPU time");
  return out;
}

}  // namespace gapscope
