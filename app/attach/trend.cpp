#include "app/attach/trend.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/attach/recorded_facts.h"
#include "core/base/text.h"
#include "core/ranks/run_report.h"

namespace gapscope::attach {
namespace {

using TrendColumn = ColumnOf<TrendRow, TrendContext>;
constexpr TrendColumn kTrendColumns[] = {
    TrendColumn("recording", "Recording", "Its folder or file.", Quantity::text, &field<&TrendRow::name>, {.text = 28}),
    TrendColumn("traces", "Traces", "Ranks that could be read.", Quantity::count, &field<&TrendRow::traces>, {.text = 7}),
    TrendColumn("step", "Step", "Its median.", Quantity::ns, &field<&TrendRow::step>, {.text = 10}),
    TrendColumn("slower", "X first", "Times the first step.", Quantity::ratio, &field<&TrendRow::slower>, {.text = 8}),
    TrendColumn("gpu_busy", "GPU busy", "Share of the time in which the GPU computes, communicates or copies.", Quantity::share,
                &field<&TrendRow::busy>, {.text = 9}),
    TrendColumn("late_rank", "Late rank", "The one that the others waited for longest.", Quantity::id,
                &field<&TrendRow::late_rank>, {.text = 10}),
    TrendColumn("waited", "Waited", "By all others together for it.", Quantity::ns, &field<&TrendRow::waited>, {.text = 10}),
};

void add_late_rank(const std::vector<std::string>& files, TrendRow& row) {
  LocalReader reader;
  const RunReport report = analyze_run(files, reader, ClockAlignment{});
  for (std::uint32_t rank = 0; rank < report.run.ranks.size(); ++rank) {
    const Ns waited = report.waited_for(rank);
    if (waited <= row.waited.value_or(0)) continue;
    row.waited = waited;
    row.late_rank = report.run.ranks[rank].rank;
  }
}

TrendRow row_of(std::string name, const std::vector<std::string>& files, std::vector<std::string>& problems) {
  TrendRow row;
  row.name = std::move(name);
  std::vector<Ns> steps;
  Ns busy = 0, window = 0;
  for (const std::string& file : files) {
    const std::optional<RecordedFacts> facts = facts_of_recording(file);
    if (!facts) {
      problems.push_back(fmt::format("{} cannot be read.", printable(file)));
      continue;
    }
    ++row.traces;
    row.doubts.insert(row.doubts.end(), facts->doubts.begin(), facts->doubts.end());
    if (facts->step) steps.push_back(*facts->step);
    if (facts->busy) busy += *facts->busy, window += facts->window;
  }
  row.step = median(std::move(steps));
  if (window > 0) row.busy = static_cast<double>(busy) / static_cast<double>(window);
  if (row.traces > 1) add_late_rank(files, row);
  return row;
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code wrong, ignored;
  for (std::filesystem::directory_iterator at(folder, wrong), end; !wrong && at != end; at.increment(wrong))
    if (at->is_directory(ignored)) found.push_back(at->path().string());
  return found;
}

std::string last_part(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

Trend trend_of(const std::string& folder) {
  Trend trend;
  for (const std::string& file : find_rank_files({folder}).files)
    trend.rows.push_back(row_of(last_part(file), {file}, trend.problems));
  for (const std::string& inner : folders_in(folder))
    if (const std::vector<std::string> files = find_rank_files({inner}).files; !files.empty())
      trend.rows.push_back(row_of(last_part(inner), files, trend.problems));
  std::erase_if(trend.rows, [](const TrendRow& row) { return row.traces == 0; });
  std::sort(trend.rows.begin(), trend.rows.end(), [](const TrendRow& a, const TrendRow& b) { return a.name < b.name; });
  const auto first =
      std::find_if(trend.rows.begin(), trend.rows.end(), [](const TrendRow& row) { return row.step.value_or(0) > 0; });
  for (auto row = first; row != trend.rows.end(); ++row)
    if (row->step) row->slower = static_cast<double>(*row->step) / static_cast<double>(*first->step);
  return trend;
}

ListRows<TrendRow, TrendContext> trend_rows(const Trend& trend) { return table_of(kTrendColumns, TrendContext{}, trend.rows); }

}  // namespace gapscope::attach
