#pragma once
// The tab "Ranks": a run of many ranks as a matrix of ranks and steps, and what makes ranks wait. The other ranks' files are
// read when that is asked for; of each rank there is what core/ranks keeps.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/table/columns.h"
#include "core/ranks/run_report.h"
#include "core/view/ranks/ranks_state.h"

namespace gapscope {

struct BandIndex;  // core/view/ranks/rank_bands.h

// Ranks by steps. A rank lacks a step that it has no annotation of.
struct RankMatrix {
  std::vector<std::string> steps;  // in order of time
  struct Cell {
    bool there = false;
    Span span;  // times of the rank's file
    Ns time = 0;
    Ns exposed_communication = 0;
    Ns lost = 0;  // by the others, waiting for this rank
  };
  std::vector<Cell> cells;  // rank by rank
  const Cell& at(std::size_t rank, std::size_t step) const { return cells[rank * steps.size() + step]; }
};

struct RanksAnswer {
  RanksQuestion question;
  RunReport report;
  RankMatrix matrix;
  std::shared_ptr<const BandIndex> bands;
  std::string sentence;  // what the run is about, and what mending it gives; empty where no rank could be read
};

// What is said of the run as a whole next to one of its ranks, once the run was read, and what mending it would give; empty
// where this file is none of them.
std::string run_sentence(const RanksState& ranks, std::string_view file);

RankMatrix rank_matrix(const RunReport& report);
Ns figure_of(const RankMatrix::Cell& cell, RankFigure figure);
Ns most_of(const RankMatrix& matrix, RankFigure figure);

// Positions of ranks: by number, or those that the others waited for longest first.
std::vector<std::uint32_t> order_of_ranks(const RunReport& report, bool by_lateness);

// The table of ranks: rows are positions in the run. The report must outlive it.
std::unique_ptr<TableRows> rank_rows(const RunReport& report);

// "rank 1, ProfilerStep#5: 41.2 ms, ...": what the tooltip of a cell says, a line each.
std::string cell_text(const RanksAnswer& answer, std::size_t rank, std::size_t step);

}  // namespace gapscope
