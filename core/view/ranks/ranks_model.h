#pragma once
// The tab "Ranks": a run of many ranks as a matrix of ranks and steps, and what makes ranks wait. The other ranks' files are
// read when that is asked for; of each rank there is what core/ranks keeps.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ranks/run_report.h"

namespace gapscope {

struct Document;
struct RanksAnswer;
struct BandIndex;  // core/view/ranks/rank_bands.h

struct RanksQuestion {
  using Answer = RanksAnswer;
  static constexpr const char* kToDo = "read the ranks";
  std::vector<std::string> paths;  // files, or folders of them
  friend bool operator==(const RanksQuestion&, const RanksQuestion&) = default;
};

enum class RankFigure : std::uint8_t { time, exposed_communication, lost };
// Of the run: its GPUs on one axis, or a matrix of ranks and steps.
enum class RanksPicture : std::uint8_t { bands, matrix };

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
  std::string sentence;  // what the run is about; empty where no rank could be read
};
// Reads what lies beside `document` in the folders of the question. Ends early, with null, between two files once cancelled.
std::shared_ptr<const RanksAnswer> answer(const Document& document, const RanksQuestion& question,
                                          const std::atomic<bool>* cancel);

RankMatrix rank_matrix(const RunReport& report);
Ns figure_of(const RankMatrix::Cell& cell, RankFigure figure);
Ns most_of(const RankMatrix& matrix, RankFigure figure);

// Positions of ranks: by number, or those that the others waited for longest first.
std::vector<std::uint32_t> order_of_ranks(const RunReport& report, bool by_lateness);

// "rank 1, ProfilerStep#5: 41.2 ms, ...": what the tooltip of a cell says, a line each.
std::string cell_text(const RanksAnswer& answer, std::size_t rank, std::size_t step);

// Owned by ViewState: one for all traces, since the ranks of a run are opened in turn.
struct RanksState {
  std::vector<std::string> paths;  // that were opened as a run; empty: the folder of the open trace is offered
  bool wanted = false;             // they are to be read
  RanksPicture picture = RanksPicture::bands;
  RankFigure figure = RankFigure::exposed_communication;
  bool by_lateness = false;
  std::shared_ptr<const RanksAnswer> last;  // of whichever trace of the run it was asked for
  struct Place {
    std::string file, step;
    std::optional<Span> time;  // of that file, in place of a step
  };
  std::optional<Place> go_to;        // once that file is open
  float lanes_x0 = 0, lanes_x1 = 0;  // px: where the axis of the lanes lies in the window; written by AppUi
};

}  // namespace gapscope
