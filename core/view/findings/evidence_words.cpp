#include "core/view/findings/evidence_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/base/text.h"
#include "core/diagnose/catalogue.h"

namespace gapscope {
namespace {

enum class Unit : std::uint8_t { plain, us, share, times, bytes, gb_per_s };

struct Words {
  std::string_view key, what;
  Unit unit = Unit::plain;
};

// Keys whose words do not follow from themselves.
constexpr Words kWords[] = {
    {"at_us", "at", Unit::us},
    {"between_us", "time between", Unit::us},
    {"blocked", "launches that blocked"},
    {"bmm_total", "batched matrix products"},
    {"buffer_request_us", "longest buffer request", Unit::us},
    {"busy_us", "GPU busy", Unit::us},
    {"bytes", "bytes", Unit::bytes},
    {"call", "the call"},
    {"call_us", "time of the call", Unit::us},
    {"cat", "category in the file"},
    {"copy_us", "time of the copy", Unit::us},
    {"cpu_active_us", "host busy", Unit::us},
    {"cpu_total_share", "share of the host's time", Unit::share},
    {"distinct", "different kernels"},
    {"dram_of_peak", "DRAM, of its peak", Unit::share},
    {"dtod", "copies within the device"},
    {"dur_us", "duration", Unit::us},
    {"earlier_gpu_work_share", "GPU work that begins too early", Unit::share},
    {"exposed_us", "copying alone", Unit::us},
    {"extra_us", "longer than the others by", Unit::us},
    {"families", "by family"},
    {"fill", "SMs with a block", Unit::share},
    {"first", "the first"},
    {"first_us", "the first takes", Unit::us},
    {"first_gap_us", "before its first operator", Unit::us},
    {"gb_per_s", "bandwidth", Unit::gb_per_s},
    {"gemm", "matrix product"},
    {"gemm_us", "time of the matrix product", Unit::us},
    {"gpu_busy_inside_us", "GPU busy inside", Unit::us},
    {"gpu_busy_share", "GPU busy", Unit::share},
    {"gpu_ops", "GPU operations"},
    {"gpu_ops_per_call", "calls by their GPU operations"},
    {"gpu_util", "GPU busy", Unit::share},
    {"gpu_window_util", "GPU busy", Unit::share},
    {"graph_gpu_us", "GPU time of the graph", Unit::us},
    {"graph_us", "GPU time of the graph", Unit::us},
    {"held_by_heat", "throttled for heat", Unit::share},
    {"held_by_power", "throttled for power", Unit::share},
    {"host_late", "the launch came late"},
    {"host_region_us", "host time of the region", Unit::us},
    {"host_to_first_launch_us", "host before its first launch", Unit::us},
    {"idle_in_profiler_us", "idle while the profiler works", Unit::us},
    {"idle_in_waits_us", "idle while the host waits", Unit::us},
    {"idle_us", "GPU idle", Unit::us},
    {"joined", "operators known from a capture"},
    {"later_steps_host_median_us", "median of later steps", Unit::us},
    {"max_us", "longest", Unit::us},
    {"median_queue_us", "median time in the queue", Unit::us},
    {"median_rest_us", "median of the others", Unit::us},
    {"memcpy_share", "share of copies", Unit::share},
    {"memcpys", "copies"},
    {"meta_ops_that_did_copy", "of them copied"},
    {"n", "how often"},
    {"nodes", "kernels of the graph"},
    {"nodes_per_launch", "kernels of each graph launch"},
    {"not_queried", "launched without a query"},
    {"occupancy_of_these", "warp slots that these use", Unit::share},
    {"of", "out of"},
    {"offset_us", "offset", Unit::us},
    {"op", "operator"},
    {"ops", "operators"},
    {"overhead_events", "profiler events"},
    {"overhead_in_gap", "the profiler, meanwhile"},
    {"overhead_inside", "the profiler, meanwhile"},
    {"overhead_us", "time of the profiler", Unit::us},
    {"per_step", "in each step"},
    {"power_w", "power in W"},
    {"prev", "the kernel before"},
    {"next", "the kernel after"},
    {"queried", "queried before"},
    {"ratio", "against the others", Unit::times},
    {"readings", "readings of the driver"},
    {"region_cpu_us", "host time of a region", Unit::us},
    {"region_gpu_us", "GPU time of a region", Unit::us},
    {"region_us", "time of the regions", Unit::us},
    {"rest_median_us", "median of the others", Unit::us},
    {"row", "row of the table"},
    {"second_share", "share of the next one", Unit::share},
    {"self_over_total", "self time, share", Unit::share},
    {"short_share", "short ones", Unit::share},
    {"sm_active", "SM active", Unit::share},
    {"sm_clock_mhz", "SM clock in MHz"},
    {"smem", "shared memory of a block", Unit::bytes},
    {"spans", "stretches"},
    {"span_us", "time in them", Unit::us},
    {"sync_us", "time in waits", Unit::us},
    {"tb_sm_efficiency", "SM efficiency, as TensorBoard counts", Unit::share},
    {"tensor_pipe", "tensor pipe active", Unit::share},
    {"time_us", "total time", Unit::us},
    {"top", "the most frequent"},
    {"total_us", "total time", Unit::us},
    {"waited", "of them waited"},
    {"weighted_occupancy", "warp slots in use, of all kernels", Unit::share},
    {"window_us", "window", Unit::us},
};

const Words* known(std::string_view key) {
  const auto at = std::find_if(std::begin(kWords), std::end(kWords), [&](const Words& words) { return words.key == key; });
  return at == std::end(kWords) ? nullptr : &*at;
}

Unit unit_of(std::string_view key) {
  if (const Words* words = known(key)) return words->unit;
  if (key.ends_with("_us")) return Unit::us;
  if (key == "share" || key.starts_with("share_of") || key.ends_with("_share")) return Unit::share;
  return key.ends_with("_bytes") ? Unit::bytes : Unit::plain;
}

// "longest_us" -> "longest", "share_of_step" -> "share of step", "gpu_time" -> "GPU time"
std::string what_of(std::string_view key) {
  if (const Words* words = known(key)) return std::string(words->what);
  if (key.ends_with("_us")) key.remove_suffix(3);
  std::string out;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find('_'), key.size());
    const std::string_view word = key.substr(0, end);
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kShort = {
        {{"gpu", "GPU"}, {"cpu", "CPU"}, {"sm", "SM"}, {"sms", "SMs"}, {"dims", "sizes"}, {"ids", "numbers"}}};
    const auto at = std::find_if(kShort.begin(), kShort.end(), [&](const auto& pair) { return pair.first == word; });
    out += (out.empty() ? "" : " ") + std::string(at == kShort.end() ? word : at->second);
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return out;
}

std::string number_text(double number, Unit unit) {
  switch (unit) {
    case Unit::us: return format_duration(static_cast<Ns>(std::llround(number * static_cast<double>(kNsPerUs))));
    case Unit::share: return format_percent(number);
    case Unit::times: return format_significant(number) + "x";
    case Unit::bytes: return format_bytes(static_cast<std::uint64_t>(std::max(0.0, number)));
    case Unit::gb_per_s: return format_significant(number) + " GB/s";
    case Unit::plain: break;
  }
  return std::floor(number) == number && std::abs(number) < 1e15 ? format_count(static_cast<std::int64_t>(number))
                                                                 : format_significant(number);
}

struct ValueText {
  Unit unit;
  std::string operator()(std::int64_t i) const {
    return unit == Unit::plain ? format_count(i) : number_text(static_cast<double>(i), unit);
  }
  std::string operator()(double d) const { return number_text(d, unit); }
  std::string operator()(bool b) const { return b ? "yes" : "no"; }
  std::string operator()(const std::string& s) const { return s; }
  std::string operator()(const EvidenceList& list) const {
    std::string out;
    for (const EvidenceValue& item : list) out += (out.empty() ? "" : ", ") + std::visit(*this, item.value);
    return out;
  }
  // Names and how often, or for how long.
  std::string operator()(const EvidenceMap& map) const {
    std::string out;
    for (const auto& [name, value] : map) {
      const bool times = std::holds_alternative<std::int64_t>(value.value) && unit == Unit::plain;
      const std::string text = std::visit(*this, value.value);
      out += (out.empty() ? "" : ", ") + name + " " + (!times ? text : text == "1" ? "once" : text + " times");
    }
    return out;
  }
};

}  // namespace

std::vector<EvidenceLine> evidence_lines(std::string_view rule, const Evidence& evidence) {
  const Rule* const known_rule = rule_by_id(rule);
  const auto name_of = [&](std::string_view key) {
    if (known_rule != nullptr)
      for (const EvidenceName& own : known_rule->evidence_names)
        if (own.key == key) return std::string(own.words);
    return what_of(key);
  };
  std::vector<EvidenceLine> lines;
  for (const auto& [key, value] : evidence.entries())
    lines.push_back({name_of(key), std::visit(ValueText{unit_of(key)}, value.value)});
  return lines;
}

}  // namespace gapscope
