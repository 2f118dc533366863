#include "core/analyze/work/owned_calls.h"

#include <algorithm>
#include <unordered_map>

namespace gapscope {
namespace {

// Python frames may lie between an operator and those inside it, but not many.
constexpr int kMostBetween = 24;

SliceId whole_call(const Trace& trace, const LaneIndex& lanes, SliceId owner) {
  SliceId out = owner;
  int between = 0;
  for (SliceId s = lanes.parent(owner); s && between < kMostBetween; s = lanes.parent(s)) {
    ++between;
    if (trace.kind(s) != Kind::op) continue;
    const WorkModel* model = work_model(trace.name(s));
    if (model && model->is_whole) out = s, between = 0;
  }
  return out;
}

bool counts(const Trace& trace, const GpuRow& row) {
  const Kind kind = trace.kind(row.slice);
  if (kind == Kind::kernel) return true;
  return kind == Kind::memcpy && trace.name(row.slice).find("DtoD") != std::string_view::npos;
}

}  // namespace

std::vector<OwnedWork> owned_work(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                  const std::optional<Span>& range) {
  std::vector<OwnedWork> out;
  std::unordered_map<std::uint32_t, SliceId> known;
  for (const GpuRow& row : trace.gpu) {
    if (!counts(trace, row) || (range && !range->contains(trace.begin(row.slice)))) continue;
    const SliceId owner = links.owner_op(row);
    if (!owner || trace.kind(owner) != Kind::op) {
      out.push_back({{}, {}, &row});
      continue;
    }
    const auto [at, is_new] = known.try_emplace(owner.value);
    if (is_new) at->second = whole_call(trace, lanes, owner);
    out.push_back({at->second, owner, &row});
  }
  std::sort(out.begin(), out.end(), [](const OwnedWork& a, const OwnedWork& b) {
    return std::pair(a.op, a.gpu->slice) < std::pair(b.op, b.gpu->slice);
  });
  return out;
}

std::vector<SliceId> made_inside(const Trace& trace, const LaneIndex& lanes, SliceId op) {
  constexpr std::size_t kMostInside = 2000;
  std::vector<SliceId> out, open{op};
  for (std::size_t i = 0; i < open.size() && i < kMostInside; ++i)
    for (const SliceId child : lanes.children(open[i])) {
      if (trace.name(child) == "aten::empty") out.push_back(child);
      open.push_back(child);
    }
  return out;
}

std::vector<SliceId> values_needed(const Trace& trace, const LaneIndex& lanes, const std::vector<OwnedWork>& work) {
  std::vector<SliceId> out;
  SliceId before;
  for (const OwnedWork& w : work) {
    if (!w.op || w.op == before) continue;
    before = w.op;
    const WorkModel* model = work_model(trace.name(w.op));
    if (!model) continue;
    if ((model->needs & kNeedsValues) != 0) out.push_back(w.op);
    if ((model->needs & kNeedsMade) != 0)
      for (const SliceId made : made_inside(trace, lanes, w.op)) out.push_back(made);
  }
  return out;
}

}  // namespace gapscope
