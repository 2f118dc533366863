#include "core/build/row_store.h"

#include <algorithm>

namespace gapscope {
namespace {

constexpr std::uint32_t kUnmapped = 0xFFFF'FFFFu;
constexpr std::size_t kMaxCategories = 0xFFFFu;

template <class T>
auto claim_rows(PagedRows<T>& table, std::size_t n) {
  return table.pieces(table.extend(n), n);
}

// Copies `rows` to where they go, each after `translate`.
template <class Row, class Piece, class Translate>
void put(const std::vector<Row>& rows, const std::vector<Piece>& pieces, Translate translate) {
  const Row* from = rows.data();
  for (const Piece& piece : pieces) {
    for (std::size_t i = 0; i < piece.size; ++i) piece.begin[i] = translate(*from++);
  }
}

}  // namespace

std::uint32_t RowStore::category(StringId text) {
  if (text.index() >= category_of_text_.size())
    category_of_text_.resize(std::max(text.index() + 1, category_of_text_.size() * 2), kUnmapped);
  std::uint32_t& index = category_of_text_[text.index()];
  if (index != kUnmapped) return index;
  if (categories.size() == kMaxCategories) {
    report.add(ImportIssue::too_many, 0, strings[text]);
    return index = static_cast<std::uint32_t>(kMaxCategories - 1);
  }
  index = static_cast<std::uint32_t>(categories.size());
  categories.push_back({text, kind_from_category(strings[text])});
  return index;
}

std::uint32_t RowStore::lane(const std::string& process, const std::string& thread, bool is_async) {
  key_.assign(process);
  key_ += '\0';
  key_ += is_async ? "async" : "";
  key_ += '\0';
  key_ += thread;
  const auto [at, is_new] = lane_ids_.try_emplace(key_, static_cast<std::uint32_t>(lanes.size()));
  if (is_new) lanes.push_back({process, thread, is_async});
  return at->second;
}

RowStore::Claim RowStore::claim(const RawChunk& chunk) {
  Claim c;
  c.texts.reserve(chunk.texts.size());
  for (const UsedText& used : chunk.texts) c.texts.push_back(strings.intern(used.text).value);
  for (const std::uint32_t used : chunk.categories) c.categories.push_back(category(StringId(c.texts[used])));
  for (const UsedLane& used : chunk.lanes) c.lanes.push_back(lane(used.key->process, used.key->thread, false));
  c.side = side.get();
  c.first_slice = static_cast<std::uint32_t>(slices.size());
  c.slices = claim_rows(slices, chunk.slices.size());
  c.gpu = claim_rows(gpu, chunk.gpu.size());
  c.calls = claim_rows(calls, chunk.calls.size());
  c.ops = claim_rows(ops, chunk.ops.size());
  c.flows = claim_rows(flows, chunk.flows.size());
  c.instants = claim_rows(instants, chunk.instants.size());
  c.counters = claim_rows(counters, chunk.counters.size());
  c.memory = claim_rows(memory, chunk.memory.size());
  for (GpuRow g : chunk.half_gpu) {
    g.slice = SliceId(halves.size() + g.slice.index());
    each_arg<ArgPacking::shared>(g, [&]<class Value>(Value& value) {
      if constexpr (std::is_same_v<Value, StringId>)
        if (value) value = StringId(c.texts[value.index()]);
    });
    if (g.annotated_stream) g.annotated_stream = StringId(c.texts[g.annotated_stream.index()]);
    half_gpu.push_back(g);
  }
  for (RawHalf h : chunk.halves) {
    h.name = c.texts[h.name];
    h.category = c.categories[h.category];
    h.lane = c.lanes[h.lane];
    halves.push_back(h);
  }
  for (RawName n : chunk.names) {
    n.text = c.texts[n.text];
    n.lane = c.lanes[n.lane];
    names.push_back(n);
  }
  if (!step_name && !chunk.step_names.empty()) step_name = StringId(c.texts[chunk.step_names.front()]);
  events += chunk.events;
  at_zero += chunk.at_zero;
  bare_work += chunk.bare_work;
  foreign_gpu += chunk.foreign_gpu;
  graph_work += chunk.graph_work;
  for (std::size_t i = 0; i < phases.size(); ++i) phases[i] += chunk.phases[i];
  report.merge(chunk.report);
  return c;
}

void RowStore::fill(const Claim& c, const RawChunk& chunk) {
  const auto text = [&](StringId& id) {
    if (id) id = StringId(c.texts[id.index()]);
  };
  const auto texts = [&](auto& row) {
    each_arg<ArgPacking::shared>(row, [&]<class Value>(Value& value) {
      if constexpr (std::is_same_v<Value, StringId>) text(value);
    });
  };
  const auto slice = [&](SliceId id) { return SliceId(c.first_slice + id.value); };
  SideTables::Writer side(*c.side);
  put(chunk.slices, c.slices, [&](const RawSlice& raw) {
    StoredSlice s{raw.begin,
                  0,
                  side.overflow.pack(raw.external_id),
                  c.texts[raw.name],
                  c.lanes[raw.lane],
                  0,
                  0,
                  static_cast<std::uint16_t>(c.categories[raw.category])};
    set_end(s, raw.end, side);
    set_offset(s, chunk.base_offset + raw.offset);
    return s;
  });
  put(chunk.gpu, c.gpu, [&](GpuRow g) {
    g.slice = slice(g.slice);
    texts(g);
    text(g.annotated_stream);
    return pack(g, side);
  });
  put(chunk.calls, c.calls, [&](const Call& call) { return pack(Call{slice(call.slice), call.correlation}, side); });
  put(chunk.ops, c.ops, [&](OpRow o) {
    o.slice = slice(o.slice);
    texts(o);
    text(o.collective);
    text(o.collective_args);
    return pack(o, side);
  });
  put(chunk.flows, c.flows, [&](RawFlow f) {
    f.lane = c.lanes[f.lane];
    f.category = c.texts[chunk.categories[f.category]];
    f.name = c.texts[f.name];
    return pack(f, side);
  });
  put(chunk.instants, c.instants, [&](RawInstant i) {
    i.lane = c.lanes[i.lane];
    i.name = c.texts[i.name];
    i.category = c.categories[i.category];
    return pack(i);
  });
  put(chunk.counters, c.counters, [&](RawCounter v) {
    v.lane = c.lanes[v.lane];
    v.name = c.texts[v.name];
    v.series = c.texts[v.series];
    return v;
  });
  put(chunk.memory, c.memory, [&](MemoryRow m) {
    m.lane = LaneId(c.lanes[m.lane.index()]);
    return pack(m, side);
  });
}

std::vector<std::int32_t> RowStore::streams_of(std::span<const std::uint32_t> wanted) const {
  std::vector<std::int32_t> out(wanted.size(), -1);
  gpu.each([&](const StoredGpu& row, std::size_t) {
    const auto at = std::lower_bound(wanted.begin(), wanted.end(), row.slice);
    if (at != wanted.end() && *at == row.slice) out[static_cast<std::size_t>(at - wanted.begin())] = unpack(row, *side).stream;
  });
  return out;
}

RowStore RowStore::copy() const {
  RowStore twin;
  // Texts put in again in the order of their ids get the same ids.
  for (std::size_t i = 0; i < strings.size(); ++i) twin.strings.intern(strings[StringId(i)]);
  twin.categories = categories;
  twin.lanes = lanes;
  twin.slices = slices.copy();
  twin.gpu = gpu.copy();
  twin.calls = calls.copy();
  twin.ops = ops.copy();
  twin.flows = flows.copy();
  twin.instants = instants.copy();
  twin.counters = counters.copy();
  twin.memory = memory.copy();
  side->copy_to(*twin.side);
  twin.halves = halves;
  twin.half_gpu = half_gpu;
  twin.names = names;
  twin.process_marks = process_marks;
  twin.step_name = step_name;
  twin.events = events;
  twin.at_zero = at_zero;
  twin.bare_work = bare_work;
  twin.foreign_gpu = foreign_gpu;
  twin.graph_work = graph_work;
  twin.phases = phases;
  twin.report = report;
  twin.category_of_text_ = category_of_text_;
  twin.lane_ids_ = lane_ids_;
  return twin;
}

}  // namespace gapscope
