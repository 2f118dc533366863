#include "core/analyze/account/host_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace gapscope {
namespace {

// "train.py(12): step".
bool has_file_and_line(std::string_view name) { return name.find(".py(") != name.npos; }
bool is_of_pytorch(std::string_view name) {
  return name.starts_with("torch/") || name.find("/torch/") != name.npos || name.find("site-packages/") != name.npos;
}

struct Around {
  SliceId op, python;
};

// What is around slices. Each slice is looked at once, however many lie below it.
class Surroundings {
 public:
  Surroundings(const Trace& trace, const LaneIndex& lanes) : trace_(trace), lanes_(lanes) {}

  Around of(SliceId slice) {
    const Known& known = know(slice);
    const bool is_op = trace_.kind(slice) == Kind::op;
    return {is_op ? SliceId{} : known.op, known.own_python ? known.own_python : known.torch_python};
  }

 private:
  // The innermost of each kind, the slice itself among them.
  struct Known {
    SliceId op, own_python, torch_python;
  };

  const Known& know(SliceId slice) {
    std::vector<SliceId> unknown;  // from the inside out: thousands deep in some files
    SliceId at = slice;
    for (; at && !known_.contains(at.value); at = lanes_.parent(at)) unknown.push_back(at);
    Known known = at ? known_[at.value] : Known{};
    for (; !unknown.empty(); unknown.pop_back()) {
      take_in(unknown.back(), known);
      known_.emplace(unknown.back().value, known);
    }
    return known_[slice.value];
  }
  void take_in(SliceId s, Known& known) const {
    const std::string_view name = trace_.name(s);
    if (trace_.kind(s) == Kind::op && !name.starts_with("ProfilerStep#")) known.op = s;
    if (trace_.kind(s) == Kind::python && has_file_and_line(name))
      (is_of_pytorch(name) ? known.torch_python : known.own_python) = s;
  }

  const Trace& trace_;
  const LaneIndex& lanes_;
  std::unordered_map<std::uint32_t, Known> known_;
};

}  // namespace

std::vector<HostWork> host_work(const Trace& trace, const LaneIndex& lanes, const TimeAccount& account, const DeviceGap& gap,
                                Span clip) {
  Surroundings surroundings(trace, lanes);
  std::map<std::array<std::uint32_t, 4>, HostWork> sums;
  for (const HostPiece& piece : account.pieces(gap, clip)) {
    const Around about = piece.slice ? surroundings.of(piece.slice) : Around{};
    const auto name = [&](SliceId s) { return s ? trace.name_id(s).value : StringId::kNone; };
    HostWork& work = sums[{static_cast<std::uint32_t>(piece.cause), name(piece.slice), name(about.op), name(about.python)}];
    if (work.time == 0) work = {piece.cause, 0, piece.slice, about.op, about.python};
    work.time += piece.span.length();
  }
  std::vector<HostWork> out;
  for (const auto& [key, work] : sums) out.push_back(work);
  const auto begin = [&](const HostWork& w) { return w.slice ? trace.begin(w.slice) : 0; };
  std::stable_sort(out.begin(), out.end(), [&](const HostWork& a, const HostWork& b) {
    return a.time != b.time ? a.time > b.time : begin(a) < begin(b);
  });
  return out;
}

}  // namespace gapscope
