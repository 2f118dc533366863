#include "core/view/ranks/ranks_model.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/view/document.h"
#include "core/view/ranks/rank_bands.h"

namespace gapscope {
namespace {

// Slices of all the ranks' rows together that are cached for drawing: 64 MB; and of one row at least.
constexpr std::size_t kMostRowSlices = (std::size_t{64} << 20) / sizeof(RowSlice);
constexpr std::size_t kLeastRowSlices = 500;

// Reads file by file, since one rank is open in full already, and looks between them whether anybody still wants to know.
class WatchedReader : public RankReader {
 public:
  WatchedReader(const std::atomic<bool>* cancel, std::size_t files, const Stated& stated)
      : cancel_(cancel),
        local_({.at_once = 1,
                .row_slices = std::clamp<std::size_t>(kMostRowSlices / std::max<std::size_t>(1, files), kLeastRowSlices,
                                                      kMostRowSlices / 2),
                .stated = stated}) {}
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

struct RankContext {
  const RunReport& report;
  const RankData& rank(std::uint32_t r) const { return report.run.ranks[r]; }
  const RankNumbers& numbers(std::uint32_t r) const { return report.waits.ranks[r]; }
};

// Share of its window in which its GPU computed.
CellValue computing_share(const RankContext& of, const std::uint32_t& r) {
  const Ns whole = of.rank(r).window.length();
  return whole > 0 ? static_cast<double>(of.rank(r).account.compute) / static_cast<double>(whole) : 0.0;
}
CellText file_text(const RankContext& of, const std::uint32_t& r) {
  const std::string& file = of.rank(r).file;
  return {printable(std::filesystem::path(file).filename().string()), printable(file), 0, true};
}

using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv;

using TableColumn = ColumnOf<std::uint32_t, RankContext>;
// In the order of RanksColumn.
constexpr TableColumn kColumns[] = {
    TableColumn("rank", "Rank", "A row is a rank of the run.", id,
                [](const RankContext& of, const std::uint32_t& r) -> CellValue { return of.rank(r).rank; },
                {.in = kShown, .chars = 7, .sorted = true, .ascends = true}),
    TableColumn("waited", "Waited", "How long it waited in collectives for the others without computing meanwhile.", ns,
                [](const RankContext& of, const std::uint32_t& r) -> CellValue { return of.numbers(r).waiting_total(); },
                {.in = kShown}),
    TableColumn("times_last", "Came last", "In how many collectives it was the last to come.", count,
                [](const RankContext& of, const std::uint32_t& r) -> CellValue { return of.numbers(r).times_last; },
                {.in = kShown, .chars = 10, .spare = 1}),
    TableColumn("idled_others", "Others idled", "How long all the others waited for it without computing meanwhile.", ns,
                [](const RankContext& of, const std::uint32_t& r) -> CellValue { return of.report.waited_for(r); },
                {.in = kShown, .chars = 12}),
    TableColumn("cost_others", "In all", "How long all the others waited for it, also while they computed.", ns,
                [](const RankContext& of, const std::uint32_t& r) -> CellValue { return of.report.waits.lost[r]; },
                {.in = kShown, .chars = 10, .spare = 1}),
    TableColumn("transfer", "Transfer", "Of its exposed communication, what was transfer and no waiting.", ns,
                [](const RankContext& of, const std::uint32_t& r) -> CellValue { return of.numbers(r).transfer; },
                {.in = kShown, .spare = 3}),
    TableColumn("computes", "Computes", "Share of its window in which its GPU computed.", share, computing_share,
                {.in = kShown, .key = "computes_share", .chars = 10, .spare = 2}),
    TableColumn(
        "file", "File", "The recording.", text,
        [](const RankContext& of, const std::uint32_t& r) -> CellValue { return std::string_view(of.rank(r).file); },
        {.in = kShown, .chars = 0, .spare = 4}, file_text),
};

// With what mending it gives.
std::string sentence_of(const RunReport& report) {
  const std::string sentence = first_sentence(report);
  for (const RunFinding& finding : report.findings)
    if (const std::string gain = gain_sentence(report, finding); !gain.empty()) return sentence + ' ' + gain;
  return sentence;
}

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

std::shared_ptr<const RanksAnswer> answer(const Document& document, const RanksQuestion& question,
                                          const std::atomic<bool>* cancel) {
  const RankFiles found = find_rank_files(question.paths);
  WatchedReader reader(cancel, found.files.size(), document.trace.stated);
  auto made = std::make_shared<RanksAnswer>();
  made->question = question;
  made->report = analyze_run(found.files, reader, ClockAlignment::collectives);
  if (reader.cancelled()) return nullptr;
  std::vector<std::string>& problems = made->report.run.problems;
  problems.insert(problems.begin(), found.problems.begin(), found.problems.end());
  if (!found.ignored.empty()) problems.push_back(found.ignored_words());
  if (!made->report.run.ranks.empty()) made->sentence = sentence_of(made->report);
  made->matrix = rank_matrix(made->report);
  made->bands = std::make_shared<const BandIndex>(band_index(made->report));
  return made;
}

std::string run_sentence(const RanksState& ranks, std::string_view file) {
  if (!ranks.last || ranks.last->report.run.ranks.size() < 2) return {};
  const RunReport& report = ranks.last->report;
  if (std::none_of(report.run.ranks.begin(), report.run.ranks.end(), [&](const RankData& rank) { return rank.file == file; }))
    return {};
  return ranks.last->sentence;
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
  text += fmt::format("\n{} long\n{} of exposed communication", format_duration(cell.time),
                      format_duration(cell.exposed_communication));
  if (cell.lost > 0)
    text += fmt::format("\nthe others waited {} for it, all together, with or without computing meanwhile",
                        format_duration(cell.lost));
  for (std::size_t i = 0; i < answer.report.waits.late.size(); ++i) {
    const LateRank& late = answer.report.waits.late[i];
    if (late.rank != rank || late.step != answer.matrix.steps[step] || i >= answer.report.doing.size()) continue;
    for (const Doing& doing : answer.report.doing[i].doing)
      text += fmt::format("\n  meanwhile {} in {}", format_duration(doing.time), doing.name);
  }
  return text;
}

std::unique_ptr<TableRows> rank_rows(const RunReport& report) {
  const auto at = [](std::size_t row) { return static_cast<std::uint32_t>(row); };
  return std::make_unique<RowsOf<std::uint32_t, RankContext, decltype(at)>>(kColumns, RankContext{report},
                                                                            report.run.ranks.size(), at);
}

}  // namespace gapscope
