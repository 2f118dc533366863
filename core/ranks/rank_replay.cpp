#include "core/ranks/rank_replay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/analyze/steps.h"
#include "core/base/text.h"
#include "core/index/name_index.h"
#include "core/ranks/rank_data.h"
#include "core/ranks/rank_head.h"
#include "core/ranks/read_rank.h"
#include "core/replay/changes.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

// On A100s and H100s a kernel begins 1 to 8 us after the end of what it waits for on another stream.
constexpr Ns kEventTakes = 10 * kNsPerUs;
constexpr std::size_t kMostTried = 64;                // operations that ended shortly before
constexpr double kLeastLink = 1e-3, kMostLink = 1e6;  // GB/s

std::optional<std::int64_t> rank_of(std::string_view text) {
  std::int64_t rank = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size() || rank < 0 || rank > kMostRanks) return std::nullopt;
  return rank;
}

std::optional<double> rate_of(std::string_view text) {
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc() || end != text.data() + text.size() || !(rate >= kLeastLink) || rate > kMostLink)
    return std::nullopt;
  return rate;
}

// Both lists are in order of time.
std::vector<std::uint32_t> ops_of(const FullRank& rank, const RankData& data) {
  std::vector<std::uint32_t> out;
  std::uint32_t o = 0;
  for (const RankCollective& c : data.collectives) {
    const auto is_it = [&](const GpuOp& op) {
      return op.span == c.span && op.stream == data.whats[c.what]->stream &&
             rank.session->trace().kind(op.slice) == Kind::kernel;
    };
    while (o < rank.session->ops().size() && !is_it(rank.session->ops()[o])) ++o;
    if (o == rank.session->ops().size()) break;
    out.push_back(o++);
  }
  return out;
}

void take_changes(const Trace& trace, const NameIndex& names, std::int64_t rank, const RunChange& change, RankReplay& out) {
  std::vector<std::string> list;
  for (const RunChange::OfRanks& c : change.changes) {
    out.troubles.emplace_back();
    if (c.rank >= 0 && c.rank != rank) continue;
    if (const auto alone = read_changes(trace, names, *out.model, {c.text}); !alone.ok())
      out.troubles.back() = alone.error().message;
    else
      list.push_back(c.text);
  }
  Result<Change> together = read_changes(trace, names, *out.model, list);
  if (together.ok()) {
    out.change = std::move(*together);
    return;
  }
  for (std::size_t i = 0; i < change.changes.size(); ++i)
    if (change.changes[i].rank < 0 || change.changes[i].rank == rank) out.troubles[i] = together.error().message;
}

}  // namespace

Result<RunChange> read_run_change(const std::vector<std::string>& list) {
  RunChange out;
  std::int64_t on = -1;
  for (const std::string& text : list) {
    const std::size_t space = text.find(' ');
    const std::string word = text.substr(0, space), rest = space == text.npos ? "" : text.substr(space + 1);
    if (word == "link") {
      const std::optional<double> rate = rate_of(rest);
      if (!rate)
        return Error{
            fmt::format("\"{}\" is not the speed of a link: write GB/s from 0.001 to 1,000,000, as in 100.", printable(rest))};
      out.link = *rate;
    } else if (word == "rank" || word == "on") {
      const std::optional<std::int64_t> rank = rank_of(rest);
      if (!rank) return Error{fmt::format("\"{}\" is not a rank: write its number, 0 or more.", printable(rest))};
      if (word == "on")
        on = *rank;
      else
        out.never_late.push_back(*rank);
    } else {
      out.changes.push_back({on, text});
    }
  }
  if (on >= 0 && (out.changes.empty() || out.changes.back().rank != on))
    return Error{fmt::format("No change of rank {} follows --on.", on)};
  return out;
}

std::vector<std::uint32_t> stream_waits(const ReplayModel& model, const std::vector<std::uint32_t>& collectives) {
  const auto& ops = model.ops();
  if (collectives.empty()) return {};
  std::vector<std::uint32_t> out(ops.size(), ReplayModel::kNone), by_end(ops.size()), place(ops.size());
  std::vector<bool> communicates(ops.size());
  for (const std::uint32_t o : collectives) communicates[o] = true;
  for (std::uint32_t i = 0; i < model.order().size(); ++i) place[model.order()[i]] = i;
  std::iota(by_end.begin(), by_end.end(), 0u);
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return ops[a].span.end < ops[b].span.end; });
  std::size_t ended = 0;  // ops() is in order of begin
  for (std::uint32_t o = 0; o < ops.size(); ++o) {
    const ReplayModel::Operation& op = ops[o];
    while (ended < by_end.size() && ops[by_end[ended]].span.end <= op.span.begin) ++ended;
    if (op.first || op.gap <= 0) continue;
    const Ns since = op.span.begin - std::min(op.gap - 1, kEventTakes);
    for (std::size_t i = ended, tried = 0; i > 0 && tried < kMostTried; --i, ++tried) {
      const std::uint32_t p = by_end[i - 1];
      if (ops[p].span.end < since) break;
      const bool may = ops[p].device == op.device && ops[p].queue != op.queue && (communicates[p] || communicates[o]);
      if (!may || place[p] >= place[o]) continue;
      out[o] = p;
      break;
    }
  }
  return out;
}

std::shared_ptr<const RankReplay> rank_replay(const FullRank& rank, const RankData& data, const RunChange& change) {
  auto out = std::make_shared<RankReplay>();
  const Trace& trace = rank.session->trace();
  const NameIndex& names = rank.session->names();
  out->model = rank.session->model();
  if (!out->model->empty()) out->op_of = ops_of(rank, data);
  out->after = stream_waits(*out->model, out->op_of);
  for (const ReplayModel::StepSpan& s : out->model->steps())
    out->step_names.push_back(step_name(trace, s.slice, out->step_names.size()));
  take_changes(trace, names, data.rank >= 0 ? data.rank : rank_from_name(trace.path), change, *out);
  return out;
}

}  // namespace gapscope
