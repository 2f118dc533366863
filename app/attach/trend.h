#pragma once
// How step time and GPU use went over recordings that were made one after another, as by `gapscope attach --watch`: a row each.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/table/columns.h"
#include "core/base/time.h"
#include "core/trace/doubt.h"

namespace gapscope::attach {

struct TrendRow {
  std::string name;              // of the folder, or of the file
  std::size_t traces = 0;        // that could be read: ranks
  std::optional<Ns> step;        // the lower median of each trace, and of these; none: nothing marks steps
  std::optional<double> slower;  // times the first of the rows that has a step
  std::optional<double> busy;    // of all traces together: RecordedFacts::busy / window; none: no GPU work
  // Of several ranks the one that the others waited for longest, exposed; none: no rank waited.
  std::optional<std::int64_t> late_rank;
  std::optional<Ns> waited;     // for it, by all others together
  std::vector<Doubt> doubts{};  // about its traces
};

struct Trend {
  std::vector<TrendRow> rows;         // by name: those of --watch are times
  std::vector<std::string> problems;  // sentences on what could not be read
};

// Of a folder: each trace in it, and each folder with traces.
Trend trend_of(const std::string& folder);

struct TrendContext {};
ListRows<TrendRow, TrendContext> trend_rows(const Trend& trend);

}  // namespace gapscope::attach
