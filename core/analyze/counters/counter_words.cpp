#include "core/analyze/counters/counter_words.h"

#include <array>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {

std::span<const CounterWord> counter_words() {
  static constexpr std::array kWords = {
      CounterWord{CounterKind::sm_active, "sm_active_percent", "SM active", " %",
                  "Share of the cycles in which an SM has at least one warp, mean over all SMs."},
      CounterWord{CounterKind::tensor, "tensor_pipe_percent", "tensor pipe", " %",
                  "Share of the cycles in which the SMs' tensor pipes work, mean over all SMs. What a tile computes beyond the "
                  "matrix's edge counts too."},
      CounterWord{CounterKind::dram_share, "dram_of_peak_percent", "DRAM of peak", " %",
                  "Bytes read and written, of what the memory moves at its clock and width."},
      CounterWord{CounterKind::sm_issue, "sm_issue_percent", "SM issue", " %",
                  "Instructions issued, of as many as the SMs' schedulers could."},
      CounterWord{CounterKind::dram_read, "dram_read_gb_per_s", "DRAM read", " GB/s", "1 GB is 1,000,000,000 bytes."},
      CounterWord{CounterKind::dram_write, "dram_write_gb_per_s", "DRAM write", " GB/s", "1 GB is 1,000,000,000 bytes."},
      CounterWord{CounterKind::pcie_read, "pcie_read_gb_per_s", "PCIe read", " GB/s", "1 GB is 1,000,000,000 bytes."},
      CounterWord{CounterKind::pcie_write, "pcie_write_gb_per_s", "PCIe write", " GB/s", "1 GB is 1,000,000,000 bytes."},
      CounterWord{CounterKind::nvlink_received, "nvlink_received_gb_per_s", "NVLink received", " GB/s",
                  "1 GB is 1,000,000,000 bytes."},
      CounterWord{CounterKind::nvlink_sent, "nvlink_sent_gb_per_s", "NVLink sent", " GB/s", "1 GB is 1,000,000,000 bytes."},
      CounterWord{CounterKind::sm_clock, "sm_clock_mhz", "SM clock", " MHz", "Cycles of the SMs over the time that passed."},
      CounterWord{CounterKind::sm_mhz, "driver_sm_clock_mhz", "SM clock by the driver", " MHz",
                  "What the driver says some 50 times a second; it lags behind what the SMs do."},
      CounterWord{CounterKind::watts, "power_w", "power", " W", "As the driver says it some 50 times a second."},
      CounterWord{CounterKind::celsius, "temperature_c", "temperature", " C", "As the driver says it."},
  };
  return kWords;
}

std::string counter_value(const CounterMeans& means, const CounterWord& word) {
  return means.knows(word.kind) ? format_significant(means[word.kind]) + word.unit : std::string();
}

std::string samples_text(const CounterMeans& means) {
  const auto whole = static_cast<std::int64_t>(means.samples);
  return format_count(whole) + (whole == 1 ? " sample" : " samples");
}

std::string use_text(const CounterMeans& means) {
  std::string out;
  const auto add = [&](CounterKind kind, const char* form) {
    if (means.knows(kind)) out += (out.empty() ? "" : ", ") + fmt::format(fmt::runtime(form), means[kind]);
  };
  if (!means.measured()) return out;
  add(CounterKind::sm_active, "SM active {:.1f} %");
  add(CounterKind::tensor, "tensor pipe {:.1f} %");
  add(CounterKind::dram_share, "DRAM {:.1f} % of peak");
  return out;
}

}  // namespace gapscope
