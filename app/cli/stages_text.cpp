#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "app/cli/info.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Stage = LoadTimeline::Stage;
using Stretches = std::vector<LoadTimeline::Stretch>;

constexpr std::size_t kColumns = 80;

struct StageWord {
  char letter;
  const char* word;
};
constexpr std::array<StageWord, 6> kWords = {
    {{'r', "reading"}, {'i', "inflating"}, {'p', "parsing"}, {'s', "storing"}, {'B', "building"}, {'X', "indexing"}}};

bool is_by_all(Stage stage) { return stage == Stage::building || stage == Stage::indexing; }

double end_of(const Stretches& stretches) {
  double end = 1e-9;
  for (const auto& s : stretches) end = std::max(end, s.end);
  return end;
}

// Seconds of each stage in each column, of one thread.
using Column = std::array<double, kWords.size()>;
std::vector<Column> columns_of(const Stretches& stretches, int thread, double column_seconds) {
  std::vector<Column> columns(kColumns, Column{});
  for (const auto& s : stretches) {
    if (s.thread != thread) continue;
    const auto first = static_cast<std::size_t>(std::max(0.0, s.begin / column_seconds));
    for (std::size_t c = first; c < kColumns && static_cast<double>(c) * column_seconds < s.end; ++c) {
      const double from = std::max(s.begin, static_cast<double>(c) * column_seconds);
      const double to = std::min(s.end, static_cast<double>(c + 1) * column_seconds);
      columns[c][static_cast<std::size_t>(s.stage)] += std::max(0.0, to - from);
    }
  }
  return columns;
}

char letter_of(const Column& column, double column_seconds) {
  double busy = 0;
  for (const double seconds : column) busy += seconds;
  const auto most = std::max_element(column.begin(), column.end());
  return column_seconds - busy > *most ? '.' : kWords[static_cast<std::size_t>(most - column.begin())].letter;
}

std::string thread_row(const Stretches& stretches, int thread, double column_seconds) {
  std::string row;
  for (const Column& column : columns_of(stretches, thread, column_seconds)) row += letter_of(column, column_seconds);
  return row;
}

struct StageSum {
  double begin = 1e300, end = 0, threads = 0, processors = 0;
};

StageSum sum_of(const Stretches& stretches, Stage stage) {
  StageSum sum;
  for (const auto& s : stretches) {
    if (s.stage != stage) continue;
    sum.begin = std::min(sum.begin, s.begin);
    sum.end = std::max(sum.end, s.end);
    sum.threads += s.end - s.begin;
    sum.processors += s.processor_seconds;
  }
  return sum;
}

std::string stage_row(const Stretches& stretches, Stage stage) {
  const StageSum sum = sum_of(stretches, stage);
  if (sum.end == 0) return {};
  const StageWord& word = kWords[static_cast<std::size_t>(stage)];
  const std::string took = is_by_all(stage) ? fmt::format("{:.1f} cores busy", sum.processors / std::max(sum.threads, 1e-9))
                                            : fmt::format("{:.3f} s of the threads", sum.threads);
  return fmt::format("  {} {:<10} {:.3f} to {:.3f} s, {}\n", word.letter, word.word, sum.begin, sum.end, took);
}

// Of the threads' time from the first block to the last, what none of the stages took.
std::string waiting_row(const Stretches& stretches, int threads) {
  StageSum all;
  for (const Stage stage : {Stage::reading, Stage::inflating, Stage::parsing, Stage::storing}) {
    const StageSum sum = sum_of(stretches, stage);
    all.begin = std::min(all.begin, sum.begin);
    all.end = std::max(all.end, sum.end);
    all.threads += sum.threads;
  }
  const double whole = (all.end - all.begin) * threads;
  const double waited = std::max(0.0, whole - all.threads);
  return fmt::format("  . {:<10} {:.3f} s of the threads, {:.0f} % of their time until the file was read\n", "waiting", waited,
                     whole > 0 ? 100 * waited / whole : 0.0);
}

}  // namespace

std::string stages_text(const Stretches& stretches, const LoadFigures& figures) {
  const double whole = end_of(stretches);
  const double column_seconds = whole / static_cast<double>(kColumns);
  int threads = 0;
  for (const auto& s : stretches) threads = std::max(threads, s.thread + 1);
  std::string out = fmt::format("{:.3f} s from file to queryable: {} on disk, {} of JSON; a column is {:.1f} ms\n", whole,
                                format_bytes(figures.file_bytes), format_bytes(figures.text_bytes), column_seconds * 1e3);
  for (int t = 0; t < threads; ++t) out += fmt::format("thread {:<3} {}\n", t, thread_row(stretches, t, column_seconds));
  for (std::size_t i = 0; i < kWords.size(); ++i) out += stage_row(stretches, static_cast<Stage>(i));
  return out + waiting_row(stretches, threads);
}

}  // namespace gapscope
