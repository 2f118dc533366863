#pragma once
// The tab "Roofline": rows of calls with their floors, and where they lie under the GPU's roof.
#include <string>
#include <vector>

#include "core/analyze/work/roofline_rows.h"
#include "core/view/counters/counters_model.h"
#include "core/view/roofline/roofline_state.h"

namespace gapscope {

struct Document;

struct RooflineAnswer {
  WorkTable table;                   // of the module that was asked for
  std::vector<RooflineRow> rows;     // of it, the most headroom first
  std::vector<RooflineSum> modules;  // of the whole trace
  std::string module;
  std::string clock;  // clock_words()
};

// The roofs of the GPU whose rows took the most time, and axes with room for the rows.
RooflineChart row_chart(const Trace& trace, const std::vector<RooflineRow>& rows);
// Radius of a row's dot, 0..1: its area is the row's part of the longest row's time.
float dot_size(const RooflineRow& row, const std::vector<RooflineRow>& rows);
// Name, shapes and numbers, a line each.
std::string row_text(const RooflineRow& row);
// "98.2 % of kernel time is counted; 27.4 us at least of 307 us: 8.9 % reached".
std::string coverage_words(const Trace& trace, const WorkTable& table);

// The calls of a row in time order, of replayed ones the first kernel of each; position in `rows` of the row that a slice (a
// call, or a kernel of one) belongs to, or none.
std::vector<SliceId> calls_of_row(const Trace& trace, const RooflineAnswer& answer, std::size_t row);
std::optional<std::size_t> row_of_slice(const RooflineAnswer& answer, SliceId slice);

}  // namespace gapscope
