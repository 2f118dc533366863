#include "core/view/overview/overview_page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/load/merge_counters.h"
#include "core/replay/plain_program.h"
#include "core/trace/crop_mark.h"
#include "core/view/compile/compile_model.h"

namespace gapscope {
namespace {

constexpr double kTrendWorthTelling = 0.05;
constexpr double kNearlyAll = 0.99;  // the rest is not worth a word

std::string share(Ns part, Ns whole) { return format_part(part, whole, "-"); }
double bar_share(Ns time, Ns longest) { return longest > 0 ? static_cast<double>(time) / static_cast<double>(longest) : 0; }
std::string share_text(const std::optional<double>& fraction) {
  return fraction ? format_percent(*fraction) : "not in this trace";
}
std::string device_title(const OverviewDevice& d) {
  return d.name.empty() ? fmt::format("GPU {}", d.device) : fmt::format("GPU {}: {}", d.device, d.name);
}

const MissingPart* missing(const RunOverview& overview, std::string_view key) {
  const auto& all = overview.recording.missing;
  const auto found = std::find_if(all.begin(), all.end(), [&](const MissingPart& m) { return m.key == key; });
  return found != all.end() ? &*found : nullptr;
}

// Of a crop, and of others than PyTorch's profiler, it is not known what was to be recorded.
std::string add_words(const MissingPart& part, bool is_crop) {
  if (part.how.empty()) return fmt::format("{}{}", part.what, is_crop ? "" : " The profiler was set to record this.");
  return fmt::format("{} Add {}.", part.what, part.how);
}

// What the section lacks, and what records it.
void add_missing(const RunOverview& overview, std::string_view key, bool is_crop, PageSection& out) {
  if (const MissingPart* part = missing(overview, key)) out.notes.push_back(add_words(*part, is_crop));
}

// One remedy after the other, and what a step takes then.
PageSection plan_section(const Diagnosis& diagnosis) {
  PageSection out;
  out.key = "plan";
  out.title = "Expected gain, one after the other";
  for (const PlanLine& line : plan_lines(diagnosis)) out.lines.push_back({line.what, line.value});
  if (!out.lines.empty()) out.notes.emplace_back(kGainLegend);
  return out;
}

PageSection account_section(const RunOverview& overview, const Headline& headline, bool is_crop) {
  PageSection out;
  out.key = "account";
  out.title = "Where the GPU's time went";
  if (headline.plain_times)
    out.bars.push_back({"Without the profiler", headline.plain_times->window, parts_of(*headline.plain_times),
                        overview.recording.program, headline.plain->steps > 0 ? "a step of" : "a run of"});
  const std::size_t plain_bars = out.bars.size();
  for (const OverviewDevice& d : overview.devices) {
    if (d.account == nullptr) continue;
    out.bars.push_back({device_title(d) + (plain_bars > 0 ? " as recorded" : ""), d.account->times.window,
                        parts_of(d.account->times), overview.recording.program, "window of"});
  }
  if (!out.bars.empty()) return out;
  if (missing(overview, "gpu") != nullptr) {
    add_missing(overview, "gpu", is_crop, out);
  } else {
    out.notes.emplace_back("No launch of the GPU work is recorded, so its time has no account.");
  }
  return out;
}

std::string trend_text(const StepFigures& s) {
  if (!s.trend || std::abs(*s.trend - 1) < kTrendWorthTelling) return {};
  return fmt::format("The later half of the steps is {} {} than the earlier one, by the medians.",
                     format_percent(std::abs(*s.trend - 1)), *s.trend > 1 ? "longer" : "shorter");
}

PageSection steps_section(const RunOverview& overview, bool is_crop) {
  PageSection out;
  out.key = "steps";
  out.title = "Steps";
  if (!overview.steps) {
    add_missing(overview, "steps", is_crop, out);
    if (out.notes.empty()) out.notes.emplace_back("This recording has no step whose GPU work is complete.");
    return out;
  }
  const StepFigures& s = *overview.steps;
  const std::string count = format_count(static_cast<std::int64_t>(s.count));
  out.lines = {s.iterations_of.empty() ? PageLine{"steps", count}
                                       : PageLine{"iterations", fmt::format("{}, each to the end of {}; no step is marked",
                                                                            count, s.iterations_of)}};
  if (s.count == 1) {
    out.lines.push_back({"length", format_duration(s.median)});
  } else {
    out.lines.push_back({"median, mean", fmt::format("{}, {}", format_duration(s.median), format_duration(s.mean))});
    out.lines.push_back({"range", fmt::format("{} to {}, the first {}", format_duration(s.min), format_duration(s.max),
                                              format_duration(s.first))});
    out.lines.push_back(
        {"standard deviation", fmt::format("{}, {} of the mean", format_duration(s.deviation), share(s.deviation, s.mean))});
  }
  for (const PhaseFigures& phase : overview.phases) out.lines.push_back({std::string(phase.phase), phase_words(phase)});
  if (const std::string trend = overview.phases.size() > 1 ? "" : trend_text(s); !trend.empty()) out.notes.push_back(trend);
  if (s.dropped > 0)
    out.notes.push_back(fmt::format("{} at the end without all of the GPU work: left out.", counted(s.dropped, "step")));
  add_missing(overview, "warm_up", is_crop, out);
  return out;
}

void add_tensor_cores(const RunOverview& overview, PageSection& out) {
  if (overview.kernel_time <= 0) return;
  std::string value = share(overview.tensor_core_time, overview.kernel_time) + " of kernel time";
  if (overview.matrix_time > 0)
    value += fmt::format("; products, convolutions and attention are {}", share(overview.matrix_time, overview.kernel_time));
  out.lines.push_back({"in tensor-core kernels", value});
  if (overview.matrix_unknown_time > 0)
    out.notes.push_back(fmt::format("Judged by kernel names. For {} of product time the names do not show it.",
                                    share(overview.matrix_unknown_time, overview.matrix_time)));
}

void add_rates(const RunOverview& overview, bool is_crop, PageSection& out) {
  if (!overview.rates) {
    if (missing(overview, "gpu") == nullptr) add_missing(overview, "shapes", is_crop, out);
    if (overview.matrix_time > 0 && missing(overview, "shapes") == nullptr)
      out.notes.emplace_back(
          "No kernel of a product has recorded shapes (those of a CUDA graph or without an operator have none), so no rate is "
          "given.");
    return;
  }
  const RateFigures& r = *overview.rates;
  if (r.gpu_time < overview.matrix_time / 2) {
    out.notes.push_back(fmt::format(
        "Operations are known for only {} of the time of products, convolutions and attention, so no rate is given.",
        share(r.gpu_time, overview.matrix_time)));
    return;
  }
  const auto of_peak = [](const std::optional<double>& s) {
    return s ? fmt::format(", {} of the dense peak", format_percent(*s)) : std::string();
  };
  out.lines.push_back({"rate of products", rate_text(r.per_second) + of_peak(r.peak_share)});
  // Products without shapes did their operations, too: launched before the recording, or in CUDA graphs.
  constexpr double kAll = 0.98;
  const bool is_part = static_cast<double>(r.gpu_time) < kAll * static_cast<double>(overview.matrix_time);
  out.lines.push_back(
      {"over the window", (is_part ? "at least " : "") + rate_text(r.per_second_of_window) + of_peak(r.peak_share_of_window)});
  out.notes.push_back(
      fmt::format("Operations are counted from recorded shapes, of products, convolutions and attention that own {} "
                  "of the kernel time.",
                  share(r.gpu_time, r.kernel_time)));
}

bool are_marked(const RunOverview& overview) { return overview.steps && overview.steps->iterations_of.empty(); }

// What the plugin's figures are of.
std::string_view figures_base(const RunOverview& overview, const GpuActivity& activity, bool is_crop) {
  if (are_marked(overview)) return "the steps";
  const bool own = activity.over.begin == activity.all.span.begin && activity.over.end == activity.all.span.end;
  if (own) return "the time from the first GPU work to the last";
  return is_crop ? "this part" : "the whole recording";
}

// Where that is not the account's window, as after a recording that began in mid-flight.
std::optional<std::string> figures_span_note(const RunOverview& overview, const OverviewDevice& d, bool is_crop) {
  constexpr double kAlike = 0.05;
  if (d.account == nullptr) return std::nullopt;
  const auto own = static_cast<double>(d.activity->over.length());
  const auto window = static_cast<double>(d.account->times.window);
  if (std::abs(own - window) <= kAlike * window) return std::nullopt;
  return fmt::format("Utilization, SM efficiency and occupancy are of {}, {}{}; the window is {}.",
                     format_duration(d.activity->over.length()), figures_base(overview, *d.activity, is_crop),
                     are_marked(overview) ? " as the TensorBoard plugin bounds them" : "",
                     format_duration(d.account->times.window));
}

// As the account's shares are of the window; kernels without copies.
std::string utilization_base(const RunOverview& overview, const GpuActivity& activity, bool is_crop) {
  if (!activity.figures.utilization) return {};
  return fmt::format(", kernels alone, of {}", figures_base(overview, activity, is_crop));
}

PageSection use_section(const RunOverview& overview, bool is_crop) {
  PageSection out;
  out.key = "use";
  out.title = "How well the GPU is used";
  const bool several = overview.devices.size() > 1;
  for (const OverviewDevice& d : overview.devices) {
    if (d.activity == nullptr) continue;
    const GpuFigures& f = d.activity->figures;
    const std::string of = several ? fmt::format(" of GPU {}", d.device) : "";
    out.lines.push_back({"utilization" + of, share_text(f.utilization) + utilization_base(overview, *d.activity, is_crop)});
    out.lines.push_back({"est. SM efficiency" + of, share_text(f.sm_efficiency)});
    out.lines.push_back({"est. achieved occupancy" + of, f.achieved_occupancy_percent
                                                             ? format_percent(*f.achieved_occupancy_percent / 100)
                                                             : "not in this trace"});
    if (auto note = figures_span_note(overview, d, is_crop)) out.notes.push_back(std::move(*note));
  }
  if (overview.zero_occupancy_time > 0)
    out.notes.push_back(fmt::format(
        "The occupancy is understated: kernels of {} of the kernel time count as 0 %, since the profiler has no value for "
        "blocks with more than 48 KiB of shared memory.",
        share(overview.zero_occupancy_time, overview.kernel_time)));
  add_tensor_cores(overview, out);
  add_rates(overview, is_crop, out);
  add_missing(overview, "gpu", is_crop, out);
  return out;
}

PageSection kinds_section(const RunOverview& overview) {
  PageSection out;
  out.key = "kinds";
  out.title = "GPU work by kind";
  out.table.head = {"kind", "time", "of GPU work", "count"};
  for (const KindTime& k : overview.kinds) {
    out.table.rows.push_back({std::string(kernel_kind_name(k.kind)), format_duration(k.time), share(k.time, overview.gpu_time),
                              format_count(static_cast<std::int64_t>(k.count))});
    out.table.marks.push_back({bar_share(k.time, overview.kinds.front().time), {}});
  }
  return out;
}

PageSection kernels_section(const RunOverview& overview) {
  PageSection out;
  out.key = "kernels";
  out.title = "Hottest kernels";
  out.table.head = {"kernel", "kind", "time", "of GPU work", "count"};
  out.table.text_columns = 2;
  for (const HotKernel& k : overview.hottest) {
    out.table.rows.push_back({k.short_name, std::string(kernel_kind_name(k.kind)), format_duration(k.time),
                              format_percent(k.share), format_count(static_cast<std::int64_t>(k.count))});
    out.table.marks.push_back({bar_share(k.time, overview.hottest.front().time), k.longest});
  }
  const auto found =
      std::find_if(overview.hottest.begin(), overview.hottest.end(), [](const HotKernel& k) { return k.ncu.has_value(); });
  if (found == overview.hottest.end()) return out;
  out.notes.push_back(fmt::format("This command lets Nsight Compute profile the longest launch of {} again. {}",
                                  found == overview.hottest.begin() ? "the hottest kernel" : found->short_name,
                                  ncu_note(overview.recording.program)));
  out.code.push_back(found->ncu->command);
  return out;
}

// `gpu_time`: of all that ran on the GPU.
PageSection headroom_section(const RooflineFigures& r, Ns gpu_time) {
  PageSection out;
  out.key = "roofline";
  out.title = "What kernels reach of their roofline";
  out.lines.push_back(
      {"reached", fmt::format("{}: kernels took {}, their floor is {}", format_percent(r.sum.reached()),
                              format_duration(r.sum.kernel_ns), format_duration(static_cast<Ns>(r.sum.floor_ns)))});
  if (r.coverage) {
    const bool is_all = static_cast<double>(r.sum.kernel_ns) > kNearlyAll * static_cast<double>(gpu_time);
    out.lines.push_back(
        {"counted",
         fmt::format("{} of the time of kernels with an operator{}", format_percent(*r.coverage),
                     is_all ? "" : fmt::format(", {} of the time of all GPU work", share(r.sum.kernel_ns, gpu_time)))});
  }
  if (r.joined > 0)
    out.lines.push_back(
        {"replayed", fmt::format("{} in graphs, by the operators of their capture", format_duration(r.joined))});
  out.table.head = {"operator", "input shapes", "GPU time", "reached", "headroom"};
  out.table.text_columns = 2;
  for (const RooflineRow& row : r.most)
    out.table.rows.push_back({std::string(row.work.op), elide_middle(shapes_text(row.work.input_dims), 48),
                              format_duration(row.work.kernel_ns), format_percent(*row.floor.reached),
                              format_duration(static_cast<Ns>(*row.floor.headroom_ns))});
  return out;
}

PageSection memory_section(const RunOverview& overview, bool is_crop) {
  PageSection out;
  out.key = "memory";
  out.title = "Memory";
  for (const OverviewDevice& d : overview.devices) {
    if (!d.peak_bytes) continue;
    std::string value = format_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(0, *d.peak_bytes)));
    if (d.peak_reserved_bytes) value += ", reserved " + format_bytes(static_cast<std::uint64_t>(*d.peak_reserved_bytes));
    if (d.properties != nullptr && d.properties->total_global_mem > 0)
      value += fmt::format(", of {}", format_bytes(static_cast<std::uint64_t>(d.properties->total_global_mem)));
    out.lines.push_back({fmt::format("peak of GPU {}", d.device), value});
  }
  add_missing(overview, "memory", is_crop, out);
  if (out.lines.empty() && out.notes.empty())
    out.notes.emplace_back("No record states how much memory a GPU has allocated in all.");
  return out;
}

PageSection machine_section(const RunOverview& overview) {
  PageSection out;
  out.key = "machine";
  out.title = "Device and software";
  for (const OverviewDevice& d : overview.devices) {
    const DeviceProperties* p = d.properties;
    std::string value = !d.name.empty() ? d.name : p ? "no name in this trace" : "not described in this trace";
    if (p) {
      if (p->sms > 0) value += fmt::format(", {} SMs", p->sms);
      if (p->total_global_mem > 0) value += ", " + format_bytes(static_cast<std::uint64_t>(p->total_global_mem));
      if (p->compute_major > 0) value += fmt::format(", compute {}.{}", p->compute_major, p->compute_minor);
    }
    out.lines.push_back({fmt::format("GPU {}", d.device), value});
  }
  for (const auto& [title, value] : overview.recording.software) out.lines.push_back({title, value});
  const RecordingFacts& r = overview.recording;
  if (r.rank >= 0)
    out.lines.push_back({"rank", r.world_size > 0 ? fmt::format("{} of {}", r.rank, r.world_size) : std::to_string(r.rank)});
  return out;
}

// `above`: what is missing in it and said there is not said again.
PageSection recording_section(const Trace& trace, const RunOverview& overview, const std::vector<PageSection>& above) {
  PageSection out;
  out.key = "recording";
  out.title = "The recording";
  const RecordingFacts& r = overview.recording;
  if (!r.recorder.empty()) out.lines.push_back({"made by", r.recorder});
  out.lines.push_back({"length", format_duration(trace.span.length())});
  out.lines.push_back({"events", format_count(static_cast<std::int64_t>(trace.figures.events))});
  if (!r.options.empty()) out.lines.push_back({"options", fmt::format("{}", fmt::join(r.options, ", "))});
  if (holds_counters_alone(trace)) {
    out.notes.push_back(counters_alone_words(trace, "TRACE"));
    return out;
  }
  if (r.missing.empty()) out.notes.emplace_back("It has everything that this page needs.");
  std::vector<std::string> missing;
  for (const MissingPart& m : r.missing)
    missing.push_back(add_words(m, crop_mark(trace).has_value() || !trace.producer->is_pytorch));
  for (const PageSection& section : above)
    for (const std::string& note : section.notes) std::erase(missing, note);
  if (r.recorder == "gapscope record" && r.program == ProgramKind::python && !missing.empty())
    out.notes.emplace_back("gapscope record sees CUDA calls and GPU work alone; torch.profiler.profile adds what is missing:");
  out.notes.insert(out.notes.end(), missing.begin(), missing.end());
  return out;
}

// Names of the trace stand in the tables.
void say_in_words_of(Vendor vendor, PageSection& section) {
  for (PageLine& line : section.lines)
    line.label = in_words_of(vendor, line.label), line.value = in_words_of(vendor, line.value);
  for (std::string& note : section.notes) note = in_words_of(vendor, note);
  for (std::string& head : section.table.head) head = in_words_of(vendor, head);
}

bool says_nothing(const PageSection& section) {
  return section.lines.empty() && section.bars.empty() && section.table.rows.empty() && section.notes.empty() &&
         section.code.empty();
}

}  // namespace

std::string largest_part_words(const PageBar& bar) {
  const auto largest = std::max_element(bar.parts.begin(), bar.parts.end(),
                                        [](const AccountPart& a, const AccountPart& b) { return a.time < b.time; });
  return largest == bar.parts.end() ? std::string()
                                    : fmt::format("{} {}", part_words(*largest, bar.program), share(largest->time, bar.window));
}

std::string rate_text(double per_second) {
  const auto in = [&](double unit, const char* name) {
    return fmt::format("{} {}FLOP/s", format_significant(per_second / unit), name);
  };
  if (per_second >= 1e15) return in(1e15, "P");
  if (per_second >= 1e12) return in(1e12, "T");
  return per_second >= 1e9 ? in(1e9, "G") : in(1e6, "M");
}

OverviewPage overview_page(const Trace& trace, const RunOverview& overview, const Diagnosis& diagnosis,
                           const CompileUse& compiled) {
  OverviewPage page{
      trace.path, diagnosis.verdict, diagnosis.trust, {}, answer_card(trace, diagnosis, &diagnosis, recorded_run(overview))};
  const bool is_crop = crop_mark(trace).has_value();
  page.sections.push_back(account_section(overview, diagnosis, is_crop));
  page.sections.push_back(findings_section(trace, diagnosis));
  page.sections.push_back(plan_section(diagnosis));
  page.sections.push_back(use_section(overview, is_crop));
  page.sections.push_back(steps_section(overview, is_crop));
  if (!overview.kinds.empty()) page.sections.push_back(kinds_section(overview));
  if (!overview.hottest.empty()) page.sections.push_back(kernels_section(overview));
  if (overview.roofline) page.sections.push_back(headroom_section(*overview.roofline, overview.gpu_time));
  if (!compiled.empty())
    page.sections.push_back({"compile", "torch.compile", {}, false, {}, {}, compile_summary(trace, compiled), {}});
  if (!overview.devices.empty()) page.sections.push_back(memory_section(overview, is_crop));
  if (PageSection machine = machine_section(overview); !machine.lines.empty()) page.sections.push_back(std::move(machine));
  page.sections.push_back(recording_section(trace, overview, page.sections));
  std::erase_if(page.sections, says_nothing);
  const Vendor vendor = vendor_of(trace);
  for (PageSection& section : page.sections) say_in_words_of(vendor, section);
  return page;
}

}  // namespace gapscope
