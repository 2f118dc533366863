#include "core/analyze/account/host_sums.h"

#include <algorithm>

namespace gapscope {
namespace {

constexpr std::uint32_t kApart = 128;
constexpr std::uint64_t kReadOften = 4;  // all of a window
constexpr std::uint64_t kFewPieces = 4096;

}  // namespace

HostSums::HostSums(const HostTime& host, Span window, std::size_t slice_count)
    : host_(host),
      window_(window),
      read_before_(kReadOften * (kFewPieces + slice_count)),
      in_order_(host, true),
      at_ends_(host) {}

HostSums::View& HostSums::view_of(LaneId lane) {
  if (!lane) return all_;
  if (last_ == nullptr || last_lane_ != lane) last_ = &views_[lane.value], last_lane_ = lane;
  return *last_;
}

void HostSums::add_times(LaneId lane, Span span, CauseTimes& times) {
  View& view = view_of(lane);
  if (view.at.empty() && view.read > read_before_) keep_sums(view, lane);
  if (view.at.empty()) {
    view.read += read(in_order_, lane, span, times);
    return;
  }
  const auto first = std::lower_bound(view.at.begin(), view.at.end(), span.begin);
  const auto stop = std::upper_bound(first, view.at.end(), span.end);
  if (stop - first < 2) return void(read(at_ends_, lane, span, times));
  const CauseTimes& from = view.before[static_cast<std::size_t>(first - view.at.begin())];
  const CauseTimes& to = view.before[static_cast<std::size_t>(stop - view.at.begin()) - 1];
  for (std::size_t c = 0; c < kIdleCauses; ++c) times[c] += to[c] - from[c];
  if (span.begin < *first) read(at_ends_, lane, {span.begin, *first}, times);
  if (*(stop - 1) < span.end) read(at_ends_, lane, {*(stop - 1), span.end}, times);
}

// Where a thread has nothing, it is all threads that are asked: the first of them is another one there, so that the reader, in
// the middle of this thread, is not asked about it.
std::uint64_t HostSums::read(HostReader& reader, LaneId lane, Span span, CauseTimes& times) {
  if (!lane) return reader.add_times(lane, span, times);
  struct Rest {
    HostSums& sums;
    CauseTimes& times;
    std::uint64_t stretches = 0;
  } rest{*this, times};
  // By one reference: what a function holds of more is allocated, for every gap.
  const std::function<void(Span)> uncovered = [&rest](Span part) {
    rest.sums.add_times({}, part, rest.times);
    ++rest.stretches;
  };
  return reader.add_times(lane, span, times, &uncovered) + rest.stretches;
}

void HostSums::keep_sums(View& view, LaneId lane) {
  std::vector<HostPiece> pieces;
  HostReader(host_, true).read(lane, window_, pieces);  // not one that may be in the middle of a lane
  view.at = moments_of(pieces, lane);
  CauseTimes sums{};
  auto piece = pieces.begin();
  for (const Ns moment : view.at) {
    for (; piece != pieces.end() && piece->span.end <= moment; ++piece) sums[index_of(piece->cause)] += piece->span.length();
    CauseTimes& before = view.before.emplace_back(sums);
    if (piece != pieces.end()) before[index_of(piece->cause)] += moment - piece->span.begin;
  }
}

// So that between two of them lie few pieces, and of each row few slices: those of no duration are in no piece.
std::vector<Ns> HostSums::moments_of(const std::vector<HostPiece>& pieces, LaneId lane) const {
  std::vector<Ns> moments;
  for (std::size_t i = 0; i < pieces.size(); i += kApart) moments.push_back(pieces[i].span.begin);
  const auto add_lane = [&](LaneId id) {
    const Lane& of = host_.trace_.lane(id);
    for (std::uint32_t r = of.first_row; r < of.first_row + of.depth_count; ++r) {
      const Row& row = host_.trace_.rows[r];
      for (std::uint32_t s = kApart; s < row.count; s += kApart) {
        const Ns begin = host_.trace_.slices.begin[row.first + s];
        if (window_.begin <= begin && begin < window_.end) moments.insert(moments.end(), {begin, begin + 1});
      }
    }
  };
  if (lane) add_lane(lane);
  if (!lane) std::for_each(host_.threads_.begin(), host_.threads_.end(), add_lane);
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

}  // namespace gapscope
