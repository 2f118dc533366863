#pragma once
// The page "Record a running program": who can be recorded, what of it, and how far that is.
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/view/view_state.h"
#include "ui/keys.h"
#include "ui/requests.h"

namespace gapscope {

// A program that asks whether it is to record.
struct AttachProgram {
  std::int64_t pid = 0;
  int rank = -1;           // -1: none
  std::int64_t job = 0;    // of Slurm; 0: none
  std::vector<int> gpus;   // on which it began to work while this program listened
  std::string command;     // empty: not known
  bool recording = false;  // on its own, or for another program: cannot be asked
  friend bool operator==(const AttachProgram&, const AttachProgram&) = default;
};

// Of a frame (FrameInput::attach).
struct AttachView {
  std::vector<AttachProgram> programs;
  std::string trouble;       // why listening is impossible
  std::string said;          // why the last recording came to no trace
  std::string folder;        // in which recordings lie unless another one is named
  std::string how_to_start;  // a program, so that it asks
  std::string stacks_risk;
  std::uint64_t recordings = 0;  // that came to a trace, so far
  // Of the recording that is under way:
  bool recording = false;
  std::size_t to_ask = 0, to_write = 0;  // programs that have not asked yet; that have, and have not written
  double seconds = 0, seconds_left = 0;  // until all have recorded, as foreseen, and now
  friend bool operator==(const AttachView&, const AttachView&) = default;
};

struct AttachPage {
  bool open = false;
  bool listens = false;             // as was asked for last
  std::uint64_t recordings = 0;     // as of the last frame: one more closes the page
  std::set<std::int64_t> left_out;  // pids that are not ticked
  std::size_t duration = 1;         // position in the choices
  RecordPrograms what;              // with the ticks; its pids and duration are not used
  bool enter = false;               // Enter was pressed: as the button
};

// How far the recording is, in words.
std::string attach_text(const AttachView& now);

// Takes Escape and Enter out of `presses`.
void take_attach_keys(AttachPage& page, std::vector<KeyPress>& presses);

// `can_compare`: a trace is open. Asks for listening as long as the page is open.
void draw_attach_page(AttachPage& page, const AttachView& now, bool can_compare, const WindowState& window, Requests& out);

}  // namespace gapscope
