#include "core/analyze/work/owned_calls.h"

#include <algorithm>
#include <unordered_map>

namespace gapscope {
namespace {

// Python frames may lie between an operator and those inside it, but not many.
constexpr int kMostBetween = 24;

// The innermost operator at or above a slice whose model covers all inside it, and how many slices lie between. Each slice is
// asked once: operators of one module share what is around them.
class WholeCalls {
 public:
  WholeCalls(const Trace& trace, const LaneIndex& lanes) : trace_(trace), lanes_(lanes) {}

  SliceId around(SliceId owner) {
    SliceId out = owner;
    for (;;) {
      const Found found = at_or_above(lanes_.parent(out));
      if (!found.op || found.between > kMostBetween) return out;
      out = found.op;
    }
  }

 private:
  struct Found {
    SliceId op;
    int between = 0;
  };

  bool is_whole(SliceId s) {
    if (trace_.kind(s) != Kind::op) return false;
    const auto [at, is_new] = whole_names_.try_emplace(trace_.name_id(s).value);
    if (is_new) {
      const WorkModel* model = work_model(trace_.name(s));
      at->second = model && model->is_whole;
    }
    return at->second;
  }

  Found at_or_above(SliceId s) {
    path_.clear();
    Found found;
    for (; s && path_.size() <= std::size_t{kMostBetween}; s = lanes_.parent(s)) {
      if (const auto at = known_.find(s.value); at != known_.end()) {
        found = at->second;
        break;
      }
      if (is_whole(s)) {
        found = {s, 0};
        break;
      }
      path_.push_back(s);
    }
    if (path_.size() > std::size_t{kMostBetween}) return {};  // too far: what is above is not looked at, and so not learned
    for (std::size_t i = path_.size(); i-- > 0;) {
      ++found.between;
      known_[path_[i].value] = found;
    }
    return found;
  }

  const Trace& trace_;
  const LaneIndex& lanes_;
  std::unordered_map<std::uint32_t, bool> whole_names_;
  std::unordered_map<std::uint32_t, Found> known_;
  std::vector<SliceId> path_;
};

bool counts(const Trace& trace, const GpuRow& row) {
  const Kind kind = trace.kind(row.slice);
  if (kind == Kind::kernel) return true;
  return kind == Kind::memcpy && trace.name(row.slice).find("DtoD") != std::string_view::npos;
}

}  // namespace

std::vector<OwnedWork> owned_work(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                  const std::optional<Span>& range) {
  std::vector<OwnedWork> out;
  WholeCalls whole(trace, lanes);
  std::unordered_map<std::uint32_t, SliceId> known;
  for (const GpuRow& row : trace.gpu) {
    if (!counts(trace, row) || (range && !range->contains(trace.begin(row.slice)))) continue;
    const SliceId owner = links.owner_op(row);
    if (!owner || trace.kind(owner) != Kind::op) {
      out.push_back({{}, {}, &row});
      continue;
    }
    const auto [at, is_new] = known.try_emplace(owner.value);
    if (is_new) at->second = whole.around(owner);
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
