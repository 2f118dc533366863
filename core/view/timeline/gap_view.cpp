#include "core/view/timeline/gap_view.h"

#include <algorithm>
#include <map>
#include <memory>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/gallop.h"
#include "core/base/text.h"
#include "core/diagnose/advice.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

// Slices on a thread within a gap, beyond which no label looks for the one that takes longest (1 ms).
constexpr std::size_t kMostLookedAt = 5'000;
constexpr std::size_t kMostChosenSlices = 8;

std::size_t slices_within(const Document& document, LaneId lane, Span span) {
  std::size_t count = 0;
  for (std::uint32_t depth = 0; depth < document.trace.lane(lane).depth_count; ++depth) {
    const RowSlices row = document.lanes.slices_of(document.trace.row_id(lane, depth));
    const auto first = std::lower_bound(row.begin.begin(), row.begin.end(), span.begin);
    count += static_cast<std::size_t>(std::lower_bound(first, row.begin.end(), span.end) - first);
  }
  return count;
}

// Whether what the host did in it can be read within a frame.
bool is_quick(const Document& document, const DeviceGap& gap) {
  return gap.launch && slices_within(document, document.trace.lane_id(gap.launch), gap.span) <= kMostLookedAt;
}

// The first moment behind it: asked once, where many moments are compared with it.
Ns end_of_column(const PixelGrid& grid, int column) {
  Ns end = grid.begin_of(column + 1);
  while (grid.column(end - 1) > column) --end;  // begin_of() rounds on its own
  while (grid.column(end) <= column) ++end;
  return end;
}

constexpr double kNearlyAll = 0.95;  // of a gap: the rest is not worth a second number

}  // namespace

const TimeAccount* account_of(const Document& document) {
  const TraceSession* facts = document.analysis();
  return facts ? &facts->account() : nullptr;
}

GapPlace chosen_gap(const Document& document, const TraceView& view) {
  const TimeAccount* account = account_of(document);
  if (!account || !view.gaps.chosen) return {};
  const DeviceAccount* device = account->device(view.gaps.chosen->device);
  if (!device || view.gaps.chosen->gap >= device->gaps.size()) return {};
  return {device, &device->gaps[view.gaps.chosen->gap]};
}

AccountStretch account_stretch(const Document& document, const TraceView& view) {
  const TimeAccount* account = account_of(document);
  if (!account) return {};
  if (view.range) return {intersect(*view.range, account->window()), AccountStretch::Of::range};
  for (const TimeAccount::StepWindow& step : account->steps())
    if (view.selection && step.step == view.selection) return {step.span, AccountStretch::Of::step};
  return {account->window(), AccountStretch::Of::window};
}

const AccountSums& account_sums(const Document& document, const DeviceAccount& device, TraceView& view) {
  const TimeAccount& account = *account_of(document);
  const AccountStretch stretch = account_stretch(document, view);
  std::shared_ptr<const AccountSums>& kept = view.gaps.sums;
  if (kept && kept->of == &account && kept->device == device.device && kept->stretch == stretch.span) return *kept;
  auto sums = std::make_shared<AccountSums>();
  if (kept && kept->of == &account && kept->device == device.device) sums->steps = kept->steps;
  *sums = {&account, device.device, stretch.span,
           stretch.of == AccountStretch::Of::window ? device.times : account.times_in(device, stretch.span),
           std::move(sums->steps)};
  if (sums->steps.empty())
    for (const TimeAccount::StepWindow& step : account.steps()) sums->steps.push_back(account.times_in(device, step.span));
  kept = std::move(sums);
  return *kept;
}

const std::string& part_advice(const Document& document, const DeviceAccount& device, Span stretch, const AccountPart& part,
                               TraceView& view) {
  constexpr std::size_t kMostKept = 256;
  const TimeAccount* account = account_of(document);
  std::shared_ptr<PartAdvices>& kept = view.gaps.advices;
  if (!kept || kept->of != account || kept->texts.size() > kMostKept)
    kept = std::make_shared<PartAdvices>(PartAdvices{account, {}});
  const auto [at, is_new] = kept->texts.try_emplace({device.device, stretch.begin, stretch.end, part.kind, part.cause});
  if (!is_new) return at->second;
  const Practices practices(document.trace);
  const AdviceOn on{document.trace, *account, practices, document.lanes};
  if (part.kind == AccountPart::Kind::idle) at->second = said(practices, idle_advice(on, device, stretch, part.cause)).text;
  if (part.kind == AccountPart::Kind::copies) at->second = said(practices, copy_advice(on, device, stretch)).text;
  return at->second;
}

void paint_gaps(const DeviceAccount& device, const PixelGrid& grid, std::vector<GapRect>& out) {
  auto [at, last] = device.gaps_in(grid.span());
  while (at < last) {
    const Span gap = device.gaps[at].span;
    const int x0 = std::max(0, grid.column(gap.begin)), x1 = std::min(grid.width(), grid.column(gap.end));
    if (x0 < x1) {
      out.push_back({x0, x1, at++});
      continue;
    }
    if (x0 >= grid.width()) return;
    // It ends in the column that it begins in. So may many more.
    const Ns next = end_of_column(grid, x0);
    at = first_where(at + 1, last, [&](std::size_t i) { return device.gaps[i].span.end >= next; });
  }
}

std::vector<GapSlice> host_slices(const TimeAccount& account, const DeviceGap& gap, std::size_t most) {
  std::map<std::pair<std::uint32_t, IdleCause>, GapSlice> found;
  for (const HostPiece& piece : account.pieces(gap)) {
    if (!piece.slice) continue;
    GapSlice& slice =
        found.try_emplace({piece.slice.value, piece.cause}, GapSlice{piece.slice, piece.cause, 0, piece.span}).first->second;
    slice.time += piece.span.length();
    slice.in_gap = hull(slice.in_gap, piece.span);
  }
  std::vector<GapSlice> slices;
  for (const auto& [key, slice] : found) slices.push_back(slice);
  std::stable_sort(slices.begin(), slices.end(), [](const GapSlice& a, const GapSlice& b) { return a.time > b.time; });
  if (slices.size() > most) slices.resize(most);
  return slices;
}

const std::vector<GapSlice>& chosen_slices(const Document& document, TraceView& view) {
  static const std::vector<GapSlice> kNone;
  const GapPlace chosen = chosen_gap(document, view);
  if (!chosen.gap) return kNone;
  std::shared_ptr<const ChosenSlices>& kept = view.gaps.slices;
  if (!kept || kept->gap != chosen.gap)
    kept = std::make_shared<const ChosenSlices>(
        ChosenSlices{chosen.gap, host_slices(*account_of(document), *chosen.gap, kMostChosenSlices)});
  return kept->slices;
}

std::vector<GapPart> gap_parts(const Document& document, const DeviceAccount& device, std::size_t at) {
  constexpr Ns kLeastPart = 16;  // of the gap's length
  const DeviceGap& gap = device.gaps[at];
  const TimeAccount* account = account_of(document);
  if (!account || !is_quick(document, gap)) return {};
  struct Stretch {
    Span span;
    CauseTimes times{};
  };
  std::vector<Stretch> stretches;
  const auto label_of = [](const Stretch& s) {
    return idle_label(static_cast<IdleCause>(std::max_element(s.times.begin(), s.times.end()) - s.times.begin()));
  };
  for (const HostPiece& piece : account->pieces(gap)) {
    const bool is_new = stretches.empty() || (label_of(stretches.back()) != idle_label(piece.cause) &&
                                              piece.span.length() * kLeastPart >= gap.span.length());
    if (is_new) stretches.push_back({piece.span});
    stretches.back().span.end = piece.span.end;
    stretches.back().times[index_of(piece.cause)] += piece.span.length();
  }
  if (stretches.size() < 2) return {};
  std::vector<GapPart> parts;
  for (const Stretch& s : stretches) {
    const auto most = std::max_element(s.times.begin(), s.times.end());
    const auto cause = static_cast<IdleCause>(most - s.times.begin());
    Ns of_word = 0;
    for (std::size_t c = 0; c < s.times.size(); ++c)
      if (idle_label(static_cast<IdleCause>(c)) == idle_label(cause)) of_word += s.times[c];
    const std::string word(idle_label(cause));
    parts.push_back({s.span, cause, {word + " " + gap_time_words(of_word, s.span.length()), word}});
    if (is_host_part(cause) && 2 * *most > s.span.length())
      parts.back().texts.insert(parts.back().texts.begin(),
                                part_words({AccountPart::Kind::idle, cause, 0}, program_kind(document.trace)) + " " +
                                    gap_time_words(*most, s.span.length()));
  }
  return parts;
}

GapLabel gap_label(const Document& document, const DeviceAccount& device, std::size_t at) {
  const DeviceGap& gap = device.gaps[at];
  const ProgramKind program = program_kind(document.trace);
  GapLabel label{std::string(idle_label(gap.main)), 0, 0};
  device.each_cause(at, [&](IdleCause cause, Ns time) {
    if (cause == gap.main) label.time = time;
    if (cause == gap.main || (is_host_part(cause) && is_host_part(gap.main))) label.time_of_word += time;
  });
  if (!is_host_part(gap.main)) return label;
  label.words = part_words({AccountPart::Kind::idle, gap.main, 0}, program);
  const TimeAccount* account = account_of(document);
  if (!account || !is_quick(document, gap)) return label;
  // One slice represents the gap where it has half of it; else many do.
  for (const GapSlice& slice : host_slices(*account, gap, 1))
    if (slice.time * 2 >= gap.span.length()) {
      label.words = "host: " + printable(shown_name(document.trace, slice.slice));
      label.time = slice.time;
    }
  return label;
}

std::vector<std::string> gap_texts(const DeviceAccount& device, std::size_t at, const GapLabel& label) {
  const DeviceGap& gap = device.gaps[at];
  const Ns length = gap.span.length();
  const std::string word(idle_label(gap.main));
  std::vector<std::string> out{label.words + " " + gap_time_words(label.time, length)};
  out.push_back(word + " " + gap_time_words(label.time_of_word, length));
  // Why says more than how long, which is drawn to scale; but only of what is the larger part.
  if (2 * label.time_of_word > length) out.push_back(word);
  out.push_back(format_duration(length));
  return out;
}

std::string gap_time_words(Ns time, Ns gap) {
  const bool is_all = static_cast<double>(time) >= kNearlyAll * static_cast<double>(gap);
  return is_all ? format_duration(gap) : format_duration(time) + " of " + format_duration(gap);
}

std::optional<std::size_t> next_gap(const DeviceAccount& device, IdleCause cause, Span within,
                                    std::optional<std::size_t> after) {
  const auto longer = [&](std::size_t a, std::size_t b) {
    const Ns of_a = device.gaps[a].span.length(), of_b = device.gaps[b].span.length();
    return of_a != of_b ? of_a > of_b : a < b;
  };
  const auto find = [&](auto is_one) -> std::optional<std::size_t> {
    std::optional<std::size_t> longest, next;
    for (std::size_t at = 0; at < device.gaps.size(); ++at) {
      if (!within.contains(device.gaps[at].span.begin) || !is_one(device.gaps[at])) continue;
      if (!longest || longer(at, *longest)) longest = at;
      if (after && longer(*after, at) && (!next || longer(at, *next))) next = at;
    }
    const bool walks = after && is_one(device.gaps[*after]);
    return walks && next ? next : longest;
  };
  const auto main = find([&](const DeviceGap& gap) { return gap.main == cause; });
  return main ? main : find([&](const DeviceGap& gap) { return gap.has(cause); });
}

std::optional<std::size_t> longest_gap(const DeviceAccount& device, Span within) {
  std::optional<std::size_t> longest;
  for (std::size_t at = 0; at < device.gaps.size(); ++at)
    if (within.contains(device.gaps[at].span.begin) &&
        (!longest || device.gaps[at].span.length() > device.gaps[*longest].span.length()))
      longest = at;
  return longest;
}

void choose_gap(const Document& document, TraceView& view, const WindowState& window, std::int32_t device, std::size_t gap,
                bool go_there) {
  view.selection = {};
  view.gaps.chosen = ChosenGap{device, gap};
  const GapPlace place = chosen_gap(document, view);
  if (!place.gap) return;
  ++view.selections;  // what is known about it comes up, as about a slice
  const bool has_frames = document.arrangements() && document.arrangements()->any_python;
  const bool is_in_python = place.gap->main == IdleCause::python || place.gap->main == IdleCause::data_loading;
  if (is_in_python && has_frames && place.gap->launch)  // what the host was in would be out of sight
    fold_python(view.folds, document.trace.lane_id(place.gap->launch), false);
  if (!go_there) return;
  go_to(view, window, focused_on(place.gap->span, axis_reach(view, document.trace.span)));
}

}  // namespace gapscope
