#include "tests/support/dump_trace.h"

#include <concepts>
#include <string>

#include <fmt/format.h>

namespace gapscope::test {
namespace {

std::string value_text(const Trace&, std::integral auto value) { return std::to_string(value); }
std::string value_text(const Trace&, float value) { return fmt::format("{}", value); }
std::string value_text(const Trace&, const Dim3& value) { return fmt::format("{},{},{}", value[0], value[1], value[2]); }
std::string value_text(const Trace& trace, StringId value) { return std::string(trace.strings[value]); }

}  // namespace

std::string dump_trace(const Trace& t, bool with_offsets) {
  std::string out = fmt::format("events {} span {} {}\n", t.figures.events, t.span.begin, t.span.end);
  for (std::size_t i = 0; i < t.strings.size(); ++i) out += fmt::format("string {} {}\n", i, t.strings[StringId(i)]);
  for (const Category& c : t.categories) out += fmt::format("category {} {}\n", t.strings[c.name], static_cast<int>(c.kind));
  for (const Process& p : t.processes)
    out += fmt::format("process {} {} {} {} {}\n", p.key, p.name, p.labels, p.sort_index, p.title);
  for (const Lane& l : t.lanes) {
    out += fmt::format("lane {} {} {} {} depth {} overlap {} busy {} total {}\n", l.process.index(), l.key, l.title,
                       lane_kind_name(l.kind), l.depth_count, l.overlapping, l.busy, l.total_dur);
  }
  for (std::size_t i = 0; i < t.slice_count(); ++i) {
    const SliceId s(i);
    out += fmt::format("slice {} {} {} {} {} row {} ext {}", i, t.begin(s), t.end(s), t.name(s), t.category_name(s),
                       t.slices.row[i].index(), t.slices.external_id[i]);
    out += with_offsets ? fmt::format(" at {}\n", t.slices.offset[i]) : "\n";
  }
#define GAPSCOPE_DUMP(field, type, absent, key, often, packing, shown) \
  out += fmt::format(" {} {}", key, value_text(t, row.field));
  for (const GpuRow& row : t.gpu) {
    out += fmt::format("gpu {} bytes {}", row.slice.index(), row.bytes);
    GAPSCOPE_GPU_ARGS(GAPSCOPE_DUMP)
    out += '\n';
  }
  for (const Call& c : t.calls) out += fmt::format("call {} {}\n", c.slice.index(), c.correlation);
  for (const OpRow& row : t.ops) {
    out += fmt::format("op {} collective {} unfinished {}", row.slice.index(), t.strings[row.collective], row.unfinished);
    GAPSCOPE_OP_ARGS(GAPSCOPE_DUMP)
    out += '\n';
  }
#undef GAPSCOPE_DUMP
  for (const Instant& i : t.instants) out += fmt::format("instant {} {} {}\n", i.time, t.strings[i.name], i.lane.value);
  for (const MemoryRow& m : t.memory) {
    out += fmt::format("memory {} {} {} {} {} {} {} {}\n", m.time, m.lane.value, m.bytes, m.address, m.total_allocated,
                       m.total_reserved, m.device_type, m.device);
  }
  for (const Counter& c : t.counters) {
    out += fmt::format("counter {} {} {}\n", c.process.value, t.strings[c.name], t.strings[c.series]);
    for (const CounterSample& v : c.samples) out += fmt::format("  {} {}\n", v.time, v.value);
  }
  for (const Flow& f : t.flows) out += fmt::format("flow {} {} {}\n", f.from.index(), f.to.index(), t.strings[f.category]);
  const FlowCounts& n = t.flow_counts;
  out += fmt::format("flows {} {} {} {} {} {}\n", n.starts, n.steps, n.ends, n.bound, n.unbound_starts, n.unbound_ends);
  for (const DeviceProperties& d : t.header.devices) out += fmt::format("device {} {} {}\n", d.id, d.name, d.sms);
  if (!with_offsets) return out;
  for (const auto& [key, value] : t.header.metadata) out += fmt::format("header {} {}\n", key, value);
  for (const ImportIssueEntry& e : t.report.entries()) {
    out += fmt::format("odd {} {}\n", import_issue_word(e.kind), e.count);
    for (const ImportIssueExample& x : e.first) out += fmt::format("  {} {}\n", x.offset, x.text);
  }
  if (with_offsets)
    for (const std::uint64_t offset : t.never_ended) out += fmt::format("never ended {}\n", offset);
  return out;
}

}  // namespace gapscope::test
