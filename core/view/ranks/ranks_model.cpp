#include "core/view/ranks/ranks_model.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/table/csv.h"
#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/view/document.h"
#include "core/view/ranks/rank_bands.h"

namespace gapscope {
namespace {

// Slices of all the ranks' rows together that are kept for drawing: 64 MB; and of one row at least.
constexpr std::size_t kMostRowSlices = (std::size_t{64} << 20) / sizeof(RowSlice);
constexpr std::size_t kLeastRowSlices = 500;

// Reads file by file, since one rank is open in full already, and looks between them whether anybody still wants to know.
class WatchedReader : public RankReader {
 public:
  WatchedReader(const std::atomic<bool>* cancel, std::size_t files)
      : cancel_(cancel),
        local_(1,
               std::clamp<std::size_t>(kMostRowSlices / std::max<std::size_t>(1, files), kLeastRowSlices, kMostRowSlices / 2)) {
  }
  bool cancelled() const { return cancel_ && *cancel_; }

  std::vector<ReadFile> read(const std::vector<std::string>& files) override {
    std::vector<ReadFile> all;
    for (const std::string& file : files) {
      if (cancelled()) return all.resize(files.size(), ReadFile{{}, "not read"}), all;
      all.push_back(std::move(local_.read({file}).front()));
    }
    return all;
  }
  std::vector<DoingAnswer> answer(const std::vector<DoingQuestion>& questions) override {
    return cancelled() ? std::vector<DoingAnswer>(questions.size()) : local_.answer(questions);
  }

 private:
  const std::atomic<bool>* cancel_;
  LocalReader local_;
};

}  // namespace

RankMatrix rank_matrix(const RunReport& report) {
  RankMatrix matrix;
  std::unordered_map<std::string, std::size_t> column;
  std::vector<std::pair<Ns, std::string>> steps;  // earliest begin on the axis
  for (std::size_t r = 0; r < report.run.ranks.size(); ++r)
    for (const RankStep& step : report.run.ranks[r].steps) {
      const Ns begin = report.clocks.ranks[r].on_axis(step.span.begin);
      const auto [at, is_new] = column.try_emplace(step.name, steps.size());
      if (is_new) steps.emplace_back(begin, step.name);
      steps[at->second].first = std::min(steps[at->second].first, begin);
    }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [begin, name] : steps) {
    column[name] = matrix.steps.size();
    matrix.steps.push_back(std::move(name));
  }
  matrix.cells.resize(report.run.ranks.size() * matrix.steps.size());
  for (std::size_t r = 0; r < report.run.ranks.size(); ++r)
    for (const RankStep& step : report.run.ranks[r].steps) {
      RankMatrix::Cell& cell = matrix.cells[r * matrix.steps.size() + column[step.name]];
      cell = {true, step.span, step.span.length(), step.exposed_communication, 0};
    }
  for (const LateRank& late : report.waits.late)
    if (const auto at = column.find(late.step); at != column.end())
      matrix.cells[late.rank * matrix.steps.size() + at->second].lost += late.lost;
  return matrix;
}

std::shared_ptr<const RanksAnswer> answer(const Document&, const RanksQuestion& question, const std::atomic<bool>* cancel) {
  const RankFiles found = find_rank_files(question.paths);
  WatchedReader reader(cancel, found.files.size());
  auto made = std::make_shared<RanksAnswer>();
  made->question = question;
  made->report = analyze_run(found.files, reader, ClockAlignment::collectives);
  if (reader.cancelled()) return nullptr;
  std::vector<std::string>& problems = made->report.run.problems;
  problems.insert(problems.begin(), found.problems.begin(), found.problems.end());
  if (!made->report.run.ranks.empty()) made->sentence = first_sentence(made->report);
  made->matrix = rank_matrix(made->report);
  made->bands = std::make_shared<const BandIndex>(band_index(made->report));
  return made;
}

Ns figure_of(const RankMatrix::Cell& cell, RankFigure figure) {
  switch (figure) {
    case RankFigure::time: return cell.time;
    case RankFigure::exposed_communication: return cell.exposed_communication;
    default: return cell.lost;
  }
}

Ns most_of(const RankMatrix& matrix, RankFigure figure) {
  Ns most = 0;
  for (const RankMatrix::Cell& cell : matrix.cells) most = std::max(most, figure_of(cell, figure));
  return most;
}

std::vector<std::uint32_t> order_of_ranks(const RunReport& report, bool by_lateness) {
  std::vector<std::uint32_t> order(report.run.ranks.size());
  std::iota(order.begin(), order.end(), 0u);
  if (by_lateness)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return report.waits.lost[a] > report.waits.lost[b]; });
  return order;
}

std::string cell_text(const RanksAnswer& answer, std::size_t rank, std::size_t step) {
  const RankData& data = answer.report.run.ranks[rank];
  const RankMatrix::Cell& cell = answer.matrix.at(rank, step);
  std::string text = fmt::format("rank {}, {}", data.rank, answer.matrix.steps[step]);
  if (!cell.there) return text + "\nnot in this rank's recording";
  text += fmt::format("\n{} long\n{} of communication with no computing beside it", format_duration(cell.time),
                      format_duration(cell.exposed_communication));
  if (cell.lost > 0)
    text += fmt::format("\nthe others waited {} for it, all together, whether they computed beside or not",
                        format_duration(cell.lost));
  for (std::size_t i = 0; i < answer.report.waits.late.size(); ++i) {
    const LateRank& late = answer.report.waits.late[i];
    if (late.rank != rank || late.step != answer.matrix.steps[step] || i >= answer.report.doing.size()) continue;
    for (const Doing& doing : answer.report.doing[i].doing)
      text += fmt::format("\n  meanwhile {} in {}", format_duration(doing.time), doing.name);
  }
  return text;
}

double computing_share(const RankData& rank) {
  const Ns whole = rank.window.length();
  return whole > 0 ? static_cast<double>(rank.account.compute) / static_cast<double>(whole) : 0.0;
}

std::vector<std::uint32_t> ranks_rows(const RunReport& report, const RowOrder& order) {
  const auto number = [&](std::uint32_t rank) -> double {
    const RankNumbers& numbers = report.waits.ranks[rank];
    switch (static_cast<RanksColumn>(order.column)) {
      case RanksColumn::waited: return static_cast<double>(numbers.waiting_total());
      case RanksColumn::last: return static_cast<double>(numbers.times_last);
      case RanksColumn::cost: return static_cast<double>(report.waits.lost[rank]);
      case RanksColumn::transfer: return static_cast<double>(numbers.transfer);
      case RanksColumn::computes: return computing_share(report.run.ranks[rank]);
      case RanksColumn::rank:
      case RanksColumn::file: break;
    }
    return static_cast<double>(report.run.ranks[rank].rank);
  };
  return rows_in_order(report.run.ranks.size(), order, [&](std::uint32_t a, std::uint32_t b) {
    if (order.column == static_cast<std::size_t>(RanksColumn::file)) return report.run.ranks[a].file < report.run.ranks[b].file;
    return number(a) < number(b);
  });
}

std::string ranks_csv(const RunReport& report, const std::vector<std::uint32_t>& rows) {
  std::string out = "rank,waited_ns,times_last,cost_others_ns,transfer_ns,computes_share,file\n";
  for (const std::uint32_t rank : rows) {
    const RankNumbers& numbers = report.waits.ranks[rank];
    out += fmt::format("{},{},{},{},{},{:.6g},{}\n", report.run.ranks[rank].rank, numbers.waiting_total(), numbers.times_last,
                       report.waits.lost[rank], numbers.transfer, computing_share(report.run.ranks[rank]),
                       csv_cell(report.run.ranks[rank].file));
  }
  return out;
}

}  // namespace gapscope
