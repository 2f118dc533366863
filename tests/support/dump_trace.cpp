#include "tests/support/dump_trace.h"

#include <fmt/format.h>

namespace gapscope::test {

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
  for (const GpuRow& g : t.gpu) {
    out += fmt::format(
        "gpu {} dev {} stream {} ctx {} corr {} bytes {} graph {} {} regs {} smem {} grid {},{},{} block {},{},{} {} {} {}\n",
        g.slice.index(), g.device, g.stream, g.context, g.correlation, g.bytes, g.graph_id, g.graph_node_id, g.registers,
        g.shared_memory, g.grid[0], g.grid[1], g.grid[2], g.block[0], g.block[1], g.block[2], g.blocks_per_sm, g.warps_per_sm,
        g.occupancy_percent);
  }
  for (const Call& c : t.calls) out += fmt::format("call {} {}\n", c.slice.index(), c.correlation);
  for (const OpRow& o : t.ops) {
    out += fmt::format("op {} {} {} {} {} {}\n", o.slice.index(), o.sequence, t.strings[o.input_dims], t.strings[o.input_types],
                       t.strings[o.collective], o.unfinished);
  }
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
