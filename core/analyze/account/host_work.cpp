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

Around find_around(const Trace& trace, const LaneIndex& lanes, SliceId slice) {
  Around out;
  SliceId of_pytorch;
  const auto look_at_frame = [&](SliceId s) {
    if (out.python || trace.kind(s) != Kind::python || !has_file_and_line(trace.name(s))) return;
    if (!is_of_pytorch(trace.name(s))) out.python = s;
    else if (!of_pytorch) of_pytorch = s;
  };
  look_at_frame(slice);
  for (SliceId s = lanes.parent(slice); s; s = lanes.parent(s)) {
    if (!out.op && trace.kind(s) == Kind::op && trace.kind(slice) != Kind::op && !trace.name(s).starts_with("ProfilerStep#")) out.op = s;
    look_at_frame(s);
  }
  if (!out.python) out.python = of_pytorch;
  return out;
}

}  // namespace

std::vector<HostWork> host_work(const Trace& trace, const LaneIndex& lanes, const TimeAccount& account, const DeviceGap& gap, Span clip) {
  std::unordered_map<std::uint32_t, Around> around;
  std::map<std::array<std::uint32_t, 4>, HostWork> sums;
  for (const HostPiece& piece : account.pieces(gap, clip)) {
    Around about;
    if (piece.slice) {
      const auto [at, is_new] = around.try_emplace(piece.slice.value);
      if (is_new) at->second = find_around(trace, lanes, piece.slice);
      about = at->second;
    }
    const auto name = [&](SliceId s) { return s ? trace.name_id(s).value : StringId::kNone; };
    HostWork& work = sums[{static_cast<std::uint32_t>(piece.cause), name(piece.slice), name(about.op), name(about.python)}];
    if (work.time == 0) work = {piece.cause, 0, piece.slice, about.op, about.python};
    work.time += piece.span.length();
  }
  std::vector<HostWork> out;
  for (const auto& [key, work] : sums) out.push_back(work);
  const auto begin = [&](const HostWork& w) { return w.slice ? trace.begin(w.slice) : 0; };
  std::stable_sort(out.begin(), out.end(), [&](const HostWork& a, const HostWork& b) { return a.time != b.time ? a.time > b.time : begin(a) < begin(b); });
  return out;
}

}  // namespace gapscope
