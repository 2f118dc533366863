#pragma once
// The run as one GPU band a rank on one axis: what of each column of pixels a rank's GPU computed, copied, transferred and
// waited; which collectives are joined by lines; where a rank was late. Pure functions of the run and a PixelGrid of the rank
// that is open, so that the bands stand exactly under its lanes. "Shown" times are those of the open rank's file.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ranks/run_report.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {

// What is looked up again in each frame; made once for a run.
struct BandIndex {
  std::vector<std::uint32_t> by_begin;  // positions in Matches::all
  Ns longest_matched = 0;               // from the first one's coming to the last one's leaving
  std::vector<Ns> longest;              // collective, by rank
};
BandIndex band_index(const RunReport& report);

// From times of each rank's file to shown ones and back.
class ShownTime {
 public:
  // `open`: position of the rank whose file's times are shown.
  ShownTime(const RunReport& report, std::uint32_t open) : clocks_(report.clocks), open_(open) {}
  Ns of(std::uint32_t rank, Ns t) const { return rank == open_ ? t : of_axis(clocks_.ranks[rank].on_axis(t)); }
  Span of(std::uint32_t rank, Span s) const { return {of(rank, s.begin), of(rank, s.end)}; }
  Ns of_axis(Ns t) const { return clocks_.ranks[open_].in_file(t); }
  Ns in_file(std::uint32_t rank, Ns shown) const { return rank == open_ ? shown : clocks_.ranks[rank].in_file(to_axis(shown)); }
  Span in_file(std::uint32_t rank, Span s) const { return {in_file(rank, s.begin), in_file(rank, s.end)}; }
  Ns to_axis(Ns shown) const { return clocks_.ranks[open_].on_axis(shown); }

 private:
  const Clocks& clocks_;
  std::uint32_t open_;
};

// How far the recordings of all ranks go, in times of the open one's file: at most its own length beyond either end of it, so
// that it stays in sight where another one begins long before. Without those that nowhere lie next to it, as of a clock that
// could not be compared.
Span reach_of_run(const RunReport& report, std::uint32_t open);

// Shares of a column of pixels, 0 .. kWholeColumn. Waiting is no transfer.
constexpr int kWholeColumn = 16;
struct BandColumn {
  std::uint8_t compute = 0, copies = 0, transfer = 0, waiting = 0;
  friend bool operator==(const BandColumn&, const BandColumn&) = default;
};

struct BandScene {
  const RunReport& report;
  const BandIndex& index;
  ShownTime time;
  const PixelGrid& grid;
};

// One for each column of the grid.
void paint_band(const BandScene& scene, std::uint32_t rank, std::vector<BandColumn>& out);

// A stretch of a band that is wide enough for words: [x0, x1) in columns.
struct BandWords {
  enum class What : std::uint8_t { waiting, transfer, late } what;
  int x0 = 0, x1 = 0;
  std::string text;   // "waits 18.9 ms for rank 1", "all-reduce 4.0 MB", "late: planted_delay, 18.3 ms"
  std::string brief;  // where that is too long: "waits 18.9 ms", "3.20 ms" of a transfer, "late 18.3 ms"
};
// Waits and transfers at least `least_px` wide, and of every late stretch that shows (2 px) where it is.
std::vector<BandWords> band_words(const BandScene& scene, std::uint32_t rank, int least_px);

// Collectives to be joined by a line across the ranks: where they lie closer than `spacing_px` the one that was waited for
// most.
std::vector<std::uint32_t> joined_collectives(const BandScene& scene, int spacing_px);

// What a rank did at a shown time.
struct BandPlace {
  std::uint32_t rank = 0;
  Span shown;
  std::uint32_t matched = kUnmatched;  // of a collective
  std::string text;                    // lines
};
std::optional<BandPlace> band_place(const BandScene& scene, std::uint32_t rank, Ns shown, bool communication_first);

// Heights: all ranks in sight down to `least` px, and no higher than `most`.
float band_height(std::size_t ranks, float room, float least, float most);

}  // namespace gapscope
