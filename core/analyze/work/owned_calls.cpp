#include "core/analyze/work/owned_calls.h"

#include <algorithm>
#include <unordered_map>

#include "core/analyze/captured/captured_work.h"
#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

// Python frames may lie between an operator and those inside it, but not many.
constexpr int kMostBetween = 24;

// The innermost operator at or above a slice whose model covers all inside it, and how many slices lie between. What is above
// an owner is asked once: operators of one module share what is around them.
class WholeCalls {
 public:
  WholeCalls(const Trace& trace, const LaneIndex& lanes) : trace_(trace), lanes_(lanes), known_(trace.slice_count()) {}

  SliceId around(SliceId owner) {
    if (owner != owner_) owner_ = owner, call_ = outermost(owner);
    return call_;
  }

 private:
  static constexpr std::int32_t kUnasked = -1;
  struct Found {
    SliceId op;
    std::int32_t between = kUnasked;
  };

  SliceId outermost(SliceId owner) {
    SliceId out = owner;
    for (;;) {
      const Found found = at_or_above(lanes_.parent(out));
      if (!found.op || found.between > kMostBetween) return out;
      out = found.op;
    }
  }

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
    Found found{{}, 0};
    for (; s && path_.size() <= std::size_t{kMostBetween}; s = lanes_.parent(s)) {
      if (const Found& known = known_[s.index()]; known.between != kUnasked) {
        found = known;
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
      known_[path_[i].index()] = found;
    }
    return found;
  }

  const Trace& trace_;
  const LaneIndex& lanes_;
  std::unordered_map<std::uint32_t, bool> whole_names_;
  std::vector<Found> known_;  // by slice
  SliceId owner_, call_;      // asked last, and what is around it: pieces of work of one owner follow each other
  std::vector<SliceId> path_;
};

bool counts(const Trace& trace, const GpuRow& row) {
  const Kind kind = trace.kind(row.slice);
  if (kind == Kind::kernel) return true;
  return kind == Kind::memcpy && trace.name(row.slice).find("DtoD") != std::string_view::npos;
}

std::vector<OperatorRecording> recordings_of(const Trace& trace, const LaneIndex& lanes, const CapturedWork* captured) {
  std::vector<OperatorRecording> out{{&trace, &lanes, nullptr}};
  if (captured == nullptr) return out;
  for (const Trace* recording : captured->recordings()) {
    if (recording == &trace) continue;
    auto owner = std::make_shared<const LaneIndex>(*recording);
    const LaneIndex* const index = owner.get();
    out.push_back({recording, index, std::move(owner)});
  }
  return out;
}

}  // namespace

OwnedCalls owned_work(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const std::optional<Span>& range) {
  const CapturedWork* const captured = trace.captured.get();
  OwnedCalls out{recordings_of(trace, lanes, captured), {}};
  std::vector<WholeCalls> sides;  // by recording
  std::unordered_map<const Trace*, std::uint32_t> place;
  for (const OperatorRecording& recording : out.recordings) {
    place.emplace(recording.trace, static_cast<std::uint32_t>(sides.size()));
    sides.emplace_back(*recording.trace, *recording.lanes);
  }
  std::unordered_map<std::uint32_t, bool> graph_launches;  // by name
  const auto launches_graph = [&](SliceId call) {
    if (!call) return false;
    const auto [at, is_new] = graph_launches.try_emplace(trace.name_id(call).value);
    if (is_new) at->second = is_graph_launch_name(trace.name(call));
    return at->second;
  };
  out.work.reserve(trace.gpu.size());
  for (const GpuRow& row : trace.gpu) {
    if (!counts(trace, row) || (range && !range->contains(trace.begin(row.slice)))) continue;
    const OperatorCall by = operator_call(trace, links, captured, row);
    // What is around the launch of a graph did none of its work.
    if (!by.op || by.trace->kind(by.op) != Kind::op || (!by.joined && launches_graph(by.call))) {
      out.work.push_back({0, {}, {}, {}, &row});
      continue;
    }
    const std::uint32_t at = place.at(by.trace);
    out.work.push_back({at, sides[at].around(by.op), by.op, by.joined ? links.call_of(row) : SliceId{}, &row});
  }
  // By call; the GPU work of each stays in its order.
  std::vector<OwnedWork> other;
  radix_sort(out.work, other, [](const OwnedWork& w) { return w.replay.value; });
  radix_sort(out.work, other, [](const OwnedWork& w) { return w.op.value; });
  radix_sort(out.work, other, [](const OwnedWork& w) { return w.recording; });
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

std::vector<ArgTexts> values_of_calls(const OwnedCalls& calls, const ReadValues& read) {
  std::vector<ArgTexts> out(calls.recordings.size());
  if (!read) return out;
  std::vector<std::vector<SliceId>> needed(out.size());
  std::pair<std::uint32_t, SliceId> before;
  for (const OwnedWork& w : calls.work) {
    if (!w.op || std::pair(w.recording, w.op) == before) continue;
    before = {w.recording, w.op};
    const OperatorRecording& of = calls.recordings[w.recording];
    const WorkModel* model = work_model(of.trace->name(w.op));
    if (!model) continue;
    if ((model->needs & kNeedsValues) != 0) needed[w.recording].push_back(w.op);
    if ((model->needs & kNeedsMade) != 0)
      for (const SliceId made : made_inside(*of.trace, *of.lanes, w.op)) needed[w.recording].push_back(made);
  }
  for (std::size_t r = 0; r < out.size(); ++r)
    if (!needed[r].empty()) out[r] = read(*calls.recordings[r].trace, std::move(needed[r]));
  return out;
}

}  // namespace gapscope
