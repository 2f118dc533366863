#include "core/view/ranks/rank_bands.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/time_text.h"

namespace gapscope {
namespace {

constexpr int kLeastLate = 2;  // px
constexpr float kLeastShare = 0.002f;
constexpr std::size_t kNameLength = 48;

const RankRows& rows_of(const RankData& rank) {
  static const RankRows kNone;
  return rank.rows ? *rank.rows : kNone;
}

bool is_waited_for(CollectiveType type) { return waits_for_all(type) || is_point_to_point(type); }

// Work of a row from one column to the next, walking on from the last.
class RowWalk {
 public:
  explicit RowWalk(const RankRow& row) : slices_(row.slices) {}

  Ns busy_until(Ns t) {
    if (slices_.empty() || t <= slices_.front().begin) return 0;
    for (int steps = 0; at_ + 1 < slices_.size() && slices_[at_ + 1].begin <= t; ++at_)
      if (++steps > kNear) {
        at_ = static_cast<std::size_t>(std::upper_bound(slices_.begin() + static_cast<std::ptrdiff_t>(at_), slices_.end(), t,
                                                        [](Ns time, const RowSlice& s) { return time < s.begin; }) -
                                       slices_.begin()) -
              1;
        break;
      }
    const RowSlice& s = slices_[at_];
    if (s.length == 0) return s.busy_before;
    const Ns busy = slices_[at_ + 1].busy_before - s.busy_before;
    if (t >= s.end()) return s.busy_before + busy;
    return s.busy_before + static_cast<Ns>(static_cast<double>(t - s.begin) * static_cast<double>(busy) / s.length);
  }

 private:
  static constexpr int kNear = 8;
  const std::vector<RowSlice>& slices_;
  std::size_t at_ = 0;
};

// A column shorter than a nanosecond is busy or not.
float share_of(RowWalk& walk, const RankRow& row, Ns begin, Ns end) {
  if (end <= begin) return row.at(begin) != nullptr ? 1.0f : 0.0f;
  const Ns before = walk.busy_until(begin);
  return static_cast<float>(walk.busy_until(end) - before) / static_cast<float>(end - begin);
}

// Short work shows; what a column's edge cuts off by rounding to nanoseconds does not.
std::uint8_t sixteenths(float share) {
  if (share < kLeastShare) return 0;
  return static_cast<std::uint8_t>(std::max(1.0f, std::round(std::min(share, 1.0f) * kWholeColumn)));
}

// Visits the rank's collectives that overlap `file`, a stretch of its file.
template <class Visit>
void each_collective(const BandScene& scene, std::uint32_t rank, Span file, Visit visit) {
  const std::vector<RankCollective>& all = scene.report.run.ranks[rank].collectives;
  const auto first = std::lower_bound(all.begin(), all.end(), file.begin - scene.index.longest[rank],
                                      [](const RankCollective& c, Ns t) { return c.span.begin < t; });
  for (auto c = first; c != all.end() && c->span.begin < file.end; ++c)
    if (c->span.end > file.begin) visit(static_cast<std::uint32_t>(c - all.begin()));
}

// The waiting at the begin of a collective, in times of its file; empty where none is known.
Span waiting_of(const BandScene& scene, std::uint32_t rank, std::uint32_t at) {
  const Span span = scene.report.run.ranks[rank].collectives[at].span;
  const std::uint32_t matched = scene.report.waits.matched_of[rank][at];
  if (matched == kUnmatched) return {span.begin, span.begin};
  const Ns wait = wait_of(scene.report.clocks.ranks[rank].on_axis(span), scene.report.waits.collectives[matched],
                          scene.report.run.ranks[rank].what(at).type);
  return {span.begin, span.begin + wait};
}

void add_waits(const BandScene& scene, std::uint32_t rank, const std::vector<Ns>& edges, std::vector<float>& out) {
  each_collective(scene, rank, {edges.front(), edges.back()}, [&](std::uint32_t at) {
    const Span wait = waiting_of(scene, rank, at);
    if (wait.empty()) return;
    auto edge = std::upper_bound(edges.begin(), edges.end(), wait.begin);
    if (edge != edges.begin()) --edge;
    for (; edge + 1 != edges.end() && *edge < wait.end; ++edge) {
      const Ns part = std::min(wait.end, edge[1]) - std::max(wait.begin, edge[0]);
      const float share = edge[1] > edge[0] ? static_cast<float>(std::max<Ns>(0, part)) / static_cast<float>(edge[1] - edge[0])
                                            : static_cast<float>(wait.contains(*edge));
      out[static_cast<std::size_t>(edge - edges.begin())] += share;
    }
  });
}

std::string size_text(const CollectiveWhat& what) { return what.full_bytes() > 0 ? " " + format_bytes(what.full_bytes()) : ""; }

void add_words(const BandScene& scene, std::uint32_t rank, BandWords::What what, Span file, std::string text, int least_px,
               std::vector<BandWords>& out) {
  const Span shown = scene.time.of(rank, file);
  const int x0 = std::max(0, scene.grid.column(shown.begin)), x1 = std::min(scene.grid.width(), scene.grid.column(shown.end));
  if (x1 - x0 < least_px) return;
  const std::string_view is = what == BandWords::What::waiting ? "waits " : what == BandWords::What::late ? "late " : "";
  out.push_back({what, x0, x1, std::move(text), std::string(is) + format_duration(file.length())});
}

// What the late rank did, said once: at its longest stretch.
void add_late(const BandScene& scene, std::size_t i, std::vector<BandWords>& out) {
  const LateRank& late = scene.report.waits.late[i];
  const auto longest = std::max_element(late.meanwhile.begin(), late.meanwhile.end(),
                                        [](const Span& a, const Span& b) { return a.length() < b.length(); });
  for (const Span& span : late.meanwhile) {
    std::string text = "late";
    if (&span == &*longest && i < scene.report.doing.size() && !scene.report.doing[i].doing.empty()) {
      const Doing& doing = scene.report.doing[i].doing.front();
      text += fmt::format(": {}, {}", elide_middle(printable(doing.name), kNameLength), format_duration(doing.time));
    }
    add_words(scene, late.rank, BandWords::What::late, span, std::move(text), kLeastLate, out);
  }
}

std::string collective_text(const BandScene& scene, std::uint32_t rank, std::uint32_t at) {
  const RankData& data = scene.report.run.ranks[rank];
  const CollectiveWhat& what = data.what(at);
  const Span span = data.collectives[at].span, wait = waiting_of(scene, rank, at);
  std::string text = fmt::format("{}{}, {}", collective_type_words(what.type), size_text(what), format_duration(span.length()));
  const std::uint32_t matched = scene.report.waits.matched_of[rank][at];
  if (matched == kUnmatched) return text + "\nno partner of it is in another rank's recording";
  const CollectiveNumbers& n = scene.report.waits.collectives[matched];
  if (!wait.empty())
    text += fmt::format("\nwaits {} for rank {}, then transfers for {}", format_duration(wait.length()),
                        scene.report.run.ranks[n.last].rank, format_duration(span.end - wait.end));
  else if (n.last == rank && is_waited_for(what.type) && n.total_wait > 0)
    text += fmt::format("\nthe last to come: the others wait {} for it, all together", format_duration(n.total_wait));
  return text;
}

}  // namespace

BandIndex band_index(const RunReport& report) {
  BandIndex index;
  index.by_begin.resize(report.waits.collectives.size());
  std::iota(index.by_begin.begin(), index.by_begin.end(), 0u);
  const std::vector<CollectiveNumbers>& numbers = report.waits.collectives;
  std::sort(index.by_begin.begin(), index.by_begin.end(),
            [&](std::uint32_t a, std::uint32_t b) { return numbers[a].begin < numbers[b].begin; });
  for (const CollectiveNumbers& n : numbers) index.longest_matched = std::max(index.longest_matched, n.end - n.begin);
  for (const RankData& rank : report.run.ranks) {
    Ns longest = 0;
    for (const RankCollective& c : rank.collectives) longest = std::max(longest, c.span.length());
    index.longest.push_back(longest);
  }
  return index;
}

Span reach_of_run(const RunReport& report, std::uint32_t open) {
  const ShownTime time(report, open);
  const Span own = report.run.ranks[open].span;
  Span reach = own;
  for (std::uint32_t r = 0; r < report.run.ranks.size(); ++r) {
    const Span shown = time.of(r, report.run.ranks[r].span);
    if (shown.begin <= own.end && shown.end >= own.begin) reach = hull(reach, shown);
  }
  return intersect(reach, {own.begin - own.length(), own.end + own.length()});
}

void paint_band(const BandScene& scene, std::uint32_t rank, std::vector<BandColumn>& out) {
  const auto width = static_cast<std::size_t>(std::max(0, scene.grid.width()));
  out.assign(width, {});
  if (width == 0) return;
  std::vector<Ns> edges(width + 1);
  for (std::size_t i = 0; i <= width; ++i) edges[i] = scene.time.in_file(rank, scene.grid.begin_of(static_cast<int>(i)));
  const RankRows& rows = rows_of(scene.report.run.ranks[rank]);
  std::vector<float> waiting(width);
  add_waits(scene, rank, edges, waiting);
  RowWalk compute(rows.compute), communication(rows.communication), copies(rows.copies);
  for (std::size_t i = 0; i < width; ++i) {
    const float share = share_of(communication, rows.communication, edges[i], edges[i + 1]);
    const float waits = std::min(waiting[i], share);
    out[i] = {sixteenths(share_of(compute, rows.compute, edges[i], edges[i + 1])),
              sixteenths(share_of(copies, rows.copies, edges[i], edges[i + 1])), sixteenths(share - waits), sixteenths(waits)};
  }
}

std::vector<BandWords> band_words(const BandScene& scene, std::uint32_t rank, int least_px) {
  std::vector<BandWords> out;
  const RankData& data = scene.report.run.ranks[rank];
  each_collective(scene, rank, scene.time.in_file(rank, scene.grid.span()), [&](std::uint32_t at) {
    const Span span = data.collectives[at].span, wait = waiting_of(scene, rank, at);
    const std::uint32_t matched = scene.report.waits.matched_of[rank][at];
    if (!wait.empty())
      add_words(scene, rank, BandWords::What::waiting, wait,
                fmt::format("waits {} for rank {}", format_duration(wait.length()),
                            scene.report.run.ranks[scene.report.waits.collectives[matched].last].rank),
                least_px, out);
    const CollectiveWhat& what = data.what(at);
    add_words(scene, rank, BandWords::What::transfer, {wait.end, span.end},
              std::string(collective_type_words(what.type)) + size_text(what), least_px, out);
  });
  for (std::size_t i = 0; i < scene.report.waits.late.size(); ++i)
    if (scene.report.waits.late[i].rank == rank) add_late(scene, i, out);
  return out;
}

std::vector<std::uint32_t> joined_collectives(const BandScene& scene, int spacing_px) {
  std::vector<std::uint32_t> out;
  const RunReport& report = scene.report;
  const Span axis{scene.time.to_axis(scene.grid.span().begin), scene.time.to_axis(scene.grid.span().end)};
  const std::vector<CollectiveNumbers>& numbers = report.waits.collectives;
  const auto first =
      std::lower_bound(scene.index.by_begin.begin(), scene.index.by_begin.end(), axis.begin - scene.index.longest_matched,
                       [&](std::uint32_t m, Ns t) { return numbers[m].begin < t; });
  int place = -1;
  for (auto at = first; at != scene.index.by_begin.end() && numbers[*at].begin < axis.end; ++at) {
    const CollectiveNumbers& n = numbers[*at];
    const Member& member = report.matches.of(report.matches.all[*at]).front();
    if (n.end <= axis.begin || !is_waited_for(report.run.ranks[member.rank].what(member.at).type)) continue;
    const int now = (scene.grid.column(scene.time.of_axis(n.latest_begin)) + spacing_px) / std::max(1, spacing_px);
    if (now != place || out.empty())
      out.push_back(*at);
    else if (numbers[out.back()].total_wait < n.total_wait)
      out.back() = *at;
    place = now;
  }
  return out;
}

std::optional<BandPlace> band_place(const BandScene& scene, std::uint32_t rank, Ns shown, bool communication_first) {
  const RankData& data = scene.report.run.ranks[rank];
  const Ns t = scene.time.in_file(rank, shown);
  const RankRows& rows = rows_of(data);
  std::optional<BandPlace> found;
  const auto collective = [&] {
    each_collective(scene, rank, {t, t + 1}, [&](std::uint32_t at) {
      found = BandPlace{rank, scene.time.of(rank, data.collectives[at].span), scene.report.waits.matched_of[rank][at],
                        collective_text(scene, rank, at)};
    });
    return found.has_value();
  };
  const auto work = [&](const RankRow& row) {
    const RowSlice* s = row.at(t);
    if (s == nullptr) return false;
    const Ns busy = (s + 1)->busy_before - s->busy_before;
    std::string text = rows.names[s->name] + "\n" + format_duration(busy);
    if (busy < static_cast<Ns>(s->length)) text += fmt::format(" of work in {}, this and others", format_duration(s->length));
    found = BandPlace{rank, scene.time.of(rank, Span{s->begin, s->end()}), kUnmatched, std::move(text)};
    return true;
  };
  if (communication_first && (collective() || work(rows.communication))) return found;
  if (work(rows.compute) || work(rows.copies)) return found;
  if (!communication_first && (collective() || work(rows.communication))) return found;
  return found;
}

float band_height(std::size_t ranks, float room, float least, float most) {
  return std::clamp(std::floor(room / static_cast<float>(std::max<std::size_t>(1, ranks))), least, most);
}

}  // namespace gapscope
