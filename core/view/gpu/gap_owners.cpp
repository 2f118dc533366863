#include "core/view/gpu/gap_owners.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/analyze/cpu_samples.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/diagnose/code_place.h"
#include "core/trace/source_place.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/idle_look.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kUnseen = static_cast<std::uint32_t>(-1);
constexpr std::string_view kStep = "ProfilerStep#";

bool is_step(const Trace& trace, SliceId slice) {
  return slice && trace.kind(slice) == Kind::annotation && trace.name(slice).starts_with(kStep);
}

// What the slices of an owner have in common: their name; all steps of the profiler are one owner, nothing recorded another.
using OwnerKey = std::uint32_t;
OwnerKey key_of(const Trace& trace, SliceId owner) {
  if (!owner) return 0;
  return is_step(trace, owner) ? 1 : static_cast<OwnerKey>(trace.name_id(owner).index() + 2);
}

// Times by owner, in one gap after another.
class GapTimes {
 public:
  explicit GapTimes(const Trace& trace) : trace_(trace), times_(trace.strings.size() + 2) {}
  void add(SliceId owner, Ns time) {
    const OwnerKey key = key_of(trace_, owner);
    Entry& entry = times_[key];
    if (entry.time == 0) entry.owner = owner, touched_.push_back(key);
    add_saturating(entry.time, time);
  }
  // The owner with the most time; what was added is gone then.
  SliceId take_largest() {
    SliceId most;
    Ns time = -1;
    for (const OwnerKey key : touched_) {
      Entry& entry = times_[key];
      if (entry.time > time) time = entry.time, most = entry.owner;
      entry = {};
    }
    touched_.clear();
    return most;
  }

 private:
  struct Entry {
    Ns time = 0;
    SliceId owner;
  };
  const Trace& trace_;
  std::vector<Entry> times_;
  std::vector<OwnerKey> touched_;
};

// One owner's gaps of one cause while they are gathered.
struct Gathered {
  SliceId owner;
  IdleCause cause{};
  Ns sum = 0;
  std::vector<std::pair<Ns, ChosenGap>> gaps;
};

using Context = GapOwnerContext;
using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv;
using TableColumn = ColumnOf<GapOwner, Context>;

CellText share_text(const Context& of, const GapOwner& row) {
  CellText text{format_duration(row.sum), format_duration_exact(row.sum)};
  if (of.idle > 0) text.share = static_cast<float>(static_cast<double>(row.sum) / static_cast<double>(of.idle));
  return text;
}

constexpr TableColumn kColumns[] = {
    TableColumn(
        "owner", "Owner", "The innermost function of your code on the launching thread; without frames the operator.", text,
        [](const Context&, const GapOwner& row) -> CellValue { return std::string_view(row.words.name); },
        {.in = kShown, .chars = 0},
        [](const Context&, const GapOwner& row) {
          return CellText{row.words.name, row.words.place.empty() ? row.words.name : row.words.name + "\n" + row.words.place};
        }),
    TableColumn(
        "line", "File:line", "Where the function begins.", text,
        [](const Context&, const GapOwner& row) -> CellValue { return std::string_view(row.words.place); },
        {.in = kShown, .chars = 22, .spare = 2},
        [](const Context&, const GapOwner& row) {
          const std::string& place = row.words.place;
          if (place.empty()) return CellText{"-", "Not a Python frame. with_stack=True records lines.", 0, true};
          return CellText{place.substr(place.rfind('/') + 1), place};
        }),
    TableColumn("cause", "Cause", "What most of each of these gaps is.", text,
                [](const Context& of, const GapOwner& row) -> CellValue {
                  return std::string(part_words({AccountPart::Kind::idle, row.cause, 0}, of.program));
                },
                {.in = kShown, .chars = 20, .spare = 1}),
    TableColumn("count", "Gaps", "How often the GPU was idle for it.", Quantity::count, &field<&GapOwner::count>,
                {.in = kShown, .chars = 8}),
    TableColumn("sum", "Sum", "How long the GPU was idle for it.", ns, &field<&GapOwner::sum>,
                {.in = kShown, .chars = 12, .sorted = true, .sum = true}, share_text),
    TableColumn("longest", "Longest", "A click on the row selects it, another click the next shorter one.", ns,
                &field<&GapOwner::longest>, {.in = kShown, .chars = 11}),
};

}  // namespace

OwnerFinder::OwnerFinder(const Trace& trace, const LaneIndex& lanes)
    : trace_(trace), lanes_(lanes), owners_(trace.slice_count(), kUnseen), is_own_(trace.strings.size(), -1) {}

OwnerFinder::Rank OwnerFinder::rank(SliceId slice) {
  switch (trace_.kind(slice)) {
    case Kind::python: {
      std::int8_t& own = is_own_[trace_.name_id(slice).index()];
      if (own < 0) own = is_own_frame(trace_.name(slice)) ? 1 : 0;
      return own == 1 ? Rank::frame : Rank::call;
    }
    case Kind::annotation: return Rank::annotation;
    case Kind::op: return Rank::op;
    default: return Rank::call;
  }
}

SliceId OwnerFinder::of(SliceId slice) {
  way_.clear();
  SliceId owner;
  for (SliceId at = slice; at; at = lanes_.parent(at)) {
    if (owners_[at.index()] != kUnseen) {
      owner = SliceId(owners_[at.index()]);
      break;
    }
    way_.push_back(at);
  }
  // From outside in: an inner one owns what is in it, unless one around it says more.
  for (auto at = way_.rbegin(); at != way_.rend(); ++at) {
    const bool says_more = !is_step(trace_, *at) && (is_step(trace_, owner) || !owner || rank(*at) >= rank(owner));
    if (!owner || says_more) owner = *at;
    owners_[at->index()] = static_cast<std::uint32_t>(owner.index());
  }
  return owner;
}

SliceId OwnerFinder::innermost(const HostPiece& piece) const {
  if (piece.cause != IdleCause::data_loading || !piece.slice) return piece.slice;
  return lanes_.innermost_at(trace_.lane_id(piece.slice), piece.span.begin + piece.span.length() / 2);
}

OwnerWords words_of_owner(const Trace& trace, SliceId owner) {
  if (!owner) return {"nothing recorded", {}};
  if (is_step(trace, owner)) return {"between operators", {}};
  const std::string_view name = trace.name(owner);
  const std::optional<SourcePlace> place = trace.kind(owner) == Kind::python ? source_place(name) : std::nullopt;
  if (!place) return {printable(shown_name(trace, owner)), {}};
  return {printable(function_of_frame(name)), printable(place_text(*place))};
}

std::int64_t GapOwners::row_of(const ChosenGap& gap) const {
  const auto at = static_cast<std::size_t>(std::find(gaps.begin(), gaps.end(), gap) - gaps.begin());
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (at >= rows[row].first && at < rows[row].first + rows[row].count) return static_cast<std::int64_t>(row);
  return -1;
}

std::shared_ptr<const GapOwners> answer(const Document& document, const GapOwnersQuestion& question,
                                        const std::atomic<bool>* cancel) {
  const TraceSession* facts = document.analysis();
  if (!facts) return nullptr;
  const Trace& trace = document.trace;
  const TimeAccount& account = facts->account();
  OwnerFinder finder(trace, document.lanes);
  GapTimes times(trace);
  std::map<std::pair<OwnerKey, IdleCause>, Gathered> gathered;
  for (const DeviceAccount& device : account.devices()) {
    std::size_t first = 0, last = device.gaps.size();
    if (question.range) std::tie(first, last) = device.gaps_in(*question.range);
    account.each_gap(device, first, last, [&](std::size_t at, std::span<const HostPiece> pieces) {
      if (cancel && *cancel) return;
      const DeviceGap& gap = device.gaps[at];
      if (question.range && !question.range->contains(gap.span.begin)) return;
      for (const HostPiece& piece : pieces) times.add(finder.of(finder.innermost(piece)), piece.span.length());
      const SliceId owner = times.take_largest();
      Gathered& of = gathered[{key_of(trace, owner), gap.main}];
      if (!of.owner) of.owner = owner, of.cause = gap.main;
      add_saturating(of.sum, gap.span.length());
      of.gaps.emplace_back(gap.span.length(), ChosenGap{device.device, at});
    });
    if (cancel && *cancel) return nullptr;
  }
  std::vector<Gathered*> order;
  for (auto& [key, of] : gathered) order.push_back(&of);
  std::sort(order.begin(), order.end(), [](const Gathered* a, const Gathered* b) {
    return a->sum != b->sum ? a->sum > b->sum : a->gaps.front().second.gap < b->gaps.front().second.gap;
  });
  auto out = std::make_shared<GapOwners>();
  for (Gathered* of : order) {
    std::stable_sort(of->gaps.begin(), of->gaps.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    out->rows.push_back({words_of_owner(trace, of->owner), of->cause, of->gaps.size(), of->sum, of->gaps.front().first,
                         static_cast<std::uint32_t>(out->gaps.size())});
    add_saturating(out->idle, out->rows.back().sum);
    for (const auto& [length, gap] : of->gaps) out->gaps.push_back(gap);
  }
  return out;
}

GapOwnerRows gap_owner_rows(const Trace& trace, const GapOwners& owners) {
  return table_of(kColumns, {program_kind(trace), owners.idle}, owners.rows);
}

ChosenGap next_of_owner(const GapOwners& owners, std::size_t row, const std::optional<ChosenGap>& chosen) {
  const GapOwner& of = owners.rows[row];
  const auto first = owners.gaps.begin() + of.first, last = first + static_cast<std::ptrdiff_t>(of.count);
  const auto at = chosen ? std::find(first, last, *chosen) : last;
  return at == last || at + 1 == last ? *first : *(at + 1);
}

std::vector<OwnerTime> owners_in(const Document& document, const TimeAccount& account, const DeviceGap& gap) {
  const Trace& trace = document.trace;
  OwnerFinder finder(trace, document.lanes);
  struct Found {
    OwnerTime owner;
    std::unordered_map<std::uint32_t, Ns> by_slice;  // of the owner
    struct Named {
      std::unordered_map<std::uint32_t, Ns> by_slice;
      Ns time = 0;
    };
    std::map<std::uint32_t, Named> inner;
  };
  const auto longest = [](const std::unordered_map<std::uint32_t, Ns>& times) {
    const auto most = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first > b.first;
    });
    return SliceId(most->first);
  };
  std::map<OwnerKey, Found> found;
  for (const HostPiece& piece : account.pieces(gap)) {
    const SliceId slice = finder.innermost(piece), owner = finder.of(slice);
    Found& of = found[key_of(trace, owner)];
    add_saturating(of.owner.time, piece.span.length());
    if (!owner) continue;
    add_saturating(of.by_slice[static_cast<std::uint32_t>(owner.index())], piece.span.length());
    if (trace.name_id(slice) == trace.name_id(owner)) continue;
    Found::Named& inner = of.inner[static_cast<std::uint32_t>(trace.name_id(slice).index())];
    add_saturating(inner.time, piece.span.length());
    add_saturating(inner.by_slice[static_cast<std::uint32_t>(slice.index())], piece.span.length());
  }
  std::vector<OwnerTime> out;
  for (auto& [key, of] : found) {
    if (!of.by_slice.empty()) of.owner.slice = longest(of.by_slice);
    of.owner.words = words_of_owner(trace, of.owner.slice);
    for (const auto& [inner_name, inner] : of.inner) {
      const SliceId slice = longest(inner.by_slice);
      of.owner.inner.push_back({printable(shown_name(trace, slice)), slice, inner.by_slice.size(), inner.time});
    }
    std::stable_sort(of.owner.inner.begin(), of.owner.inner.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
    out.push_back(std::move(of.owner));
  }
  std::stable_sort(out.begin(), out.end(), [](const OwnerTime& a, const OwnerTime& b) { return a.time > b.time; });
  return out;
}

std::vector<std::string> why_not_sooner(const Trace& trace, const DeviceGap& gap) {
  if (!gap.ended_by) return {"Nothing follows on this GPU in the window."};
  if (!gap.launch) return {"Its launch is not in the file: it came before the recording, or was not recorded."};
  const Span launch = trace.span_of(gap.launch);
  std::vector<std::string> out;
  if (launch.begin > gap.span.begin) {
    out.push_back("The host launched it " + format_duration(launch.begin - gap.span.begin) + " after the GPU became idle.");
    const bool is_host = gap.main != IdleCause::launching && gap.main != IdleCause::starting;
    if (is_host && gap.main != IdleCause::unrecorded)
      out.push_back("The largest part of the gap the host was " + std::string(idle_cause_words(gap.main, program_kind(trace))) +
                    ".");
  } else {
    out.push_back("The host launched it " + format_duration(gap.span.begin - launch.begin) + " before the GPU became idle.");
  }
  if (gap.span.end > launch.end)
    out.push_back("It began " + format_duration(gap.span.end - launch.end) + " after the launch call returned.");
  if (const auto sampled = most_sampled(trace, gap.launch, gap.span)) out.push_back(sampled_sentence(*sampled));
  return out;
}

const GapStory* gap_story(const Document& document, TraceView& view) {
  const GapPlace chosen = chosen_gap(document, view);
  if (!chosen.gap) return nullptr;
  const Span stretch = account_stretch(document, view).span;
  std::shared_ptr<const GapStory>& cached = view.gaps.story;
  if (cached && cached->gap == chosen.gap && cached->stretch == stretch) return cached.get();
  auto story = std::make_shared<GapStory>();
  story->gap = chosen.gap;
  story->stretch = stretch;
  story->owners = owners_in(document, *account_of(document), *chosen.gap);
  story->sooner = why_not_sooner(document.trace, *chosen.gap);
  for (const DeviceGap& gap : chosen.device->gaps) {
    if (gap.main != chosen.gap->main || !stretch.contains(gap.span.begin)) continue;
    ++story->alike;
    add_saturating(story->alike_time, gap.span.length());
    const bool is_before = gap.span.length() > chosen.gap->span.length() ||
                           (gap.span.length() == chosen.gap->span.length() && gap.span.begin <= chosen.gap->span.begin);
    if (is_before) ++story->place;
  }
  cached = std::move(story);
  return cached.get();
}

}  // namespace gapscope
