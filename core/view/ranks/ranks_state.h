#pragma once
// What the tab "Ranks" asks for, and what the user chose there. Apart from ranks_model.h so that code that only carries these
// (ViewState, the list of questions) does not see all of core/ranks.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/view/table/row_order.h"

namespace gapscope {

struct Document;
struct RanksAnswer;  // core/view/ranks/ranks_model.h

struct RanksQuestion {
  using Answer = RanksAnswer;
  static constexpr const char* kToDo = "read the ranks";
  std::vector<std::string> paths;  // files, or folders of them
  friend bool operator==(const RanksQuestion&, const RanksQuestion&) = default;
};
// Reads what is alongside `document` in the folders of the question. Ends early, with null, between two files once cancelled.
std::shared_ptr<const RanksAnswer> answer(const Document& document, const RanksQuestion& question,
                                          const std::atomic<bool>* cancel);

enum class RankFigure : std::uint8_t { time, exposed_communication, lost };
// Of the run: its GPUs on one axis, or a matrix of ranks and steps.
enum class RanksPicture : std::uint8_t { bands, matrix };

enum class RanksColumn : std::uint8_t { rank, waited, last, idled, cost, transfer, computes, file };

// Owned by WindowState: one for all traces, since the ranks of a run are opened in turn.
struct RanksState {
  std::vector<std::string> paths;  // that were opened as a run; empty: the folder of the open trace is offered
  bool wanted = false;             // they are to be read
  RanksPicture picture = RanksPicture::bands;
  RankFigure figure = RankFigure::exposed_communication;
  bool by_lateness = false;                                            // bands and matrix
  RowOrder order{static_cast<std::size_t>(RanksColumn::rank), false};  // of the table
  std::shared_ptr<const RanksAnswer> last;                             // of whichever trace of the run it was asked for
  struct Place {
    std::string file, step;
    std::optional<Span> time;  // of that file, in place of a step
  };
  std::optional<Place> go_to;        // once that file is open
  float lanes_x0 = 0, lanes_x1 = 0;  // px: where the axis of the lanes is in the window; written by AppUi
};

}  // namespace gapscope
