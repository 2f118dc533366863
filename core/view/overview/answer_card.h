#pragma once
// The answer in short: how long a step is, what costs most of it and where, what to do, and how long a step then is. One model
// of the card in the window, of the page's head and of JSON. It says what the verdict and the plan say, never more.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/diagnose/code_place.h"

namespace gapscope {

class TraceSession;
struct Diagnosis;
struct Headline;
struct RunOverview;
struct Trace;

// The recorded program: the mean length of its steps, and the share of the window in which the busiest GPU was busy.
struct RecordedRun {
  Ns step = 0;                 // 0: no step is recorded
  std::optional<double> busy;  // 0..1; none without an account
};
RecordedRun recorded_run(const TraceSession& session);
RecordedRun recorded_run(const RunOverview& overview);

struct AnswerCard {
  // A step without the profiler where `is_plain`, with its range, else as recorded; 0: there is no step.
  Ns step = 0, low = 0, high = 0;
  bool is_plain = false;
  Ns recorded = 0;                  // a step as recorded; 0: there is none
  std::optional<double> gpu_share;  // of a step, or of the recording, in which the GPU is busy: 0..1
  std::string what;                 // these in words; empty where nothing is known
  std::string doubt;                // why the limit is not judged, or which two it may be; empty where it is judged

  std::int32_t finding = -1;       // position in Diagnosis::findings of the cause; -1: none
  std::string cause;               // title and whereabouts: "Indexing with masks: step (train.py:54)"; or empty
  std::string figure;              // "The remedy saves about 3.73 ms a step (8 %)", or its cost as recorded
  std::optional<CodePlace> where;  // of the cause, in the program's own code
  Ns time = 0;                     // what the figure is of, a step where `of_step`
  bool of_step = false;
  std::string remedy;     // what to do: the first sentence; or what to do where no finding is first
  std::string code;       // the line that it is; empty where no single line does
  Ns after = 0;           // a step with the remedy, or the run where not `of_step`; 0: not known
  std::string line_hint;  // how the next recording shows the line; empty where it is known
  std::string then;       // the same in words, or why it is not known; empty without a finding
};

// `diagnosis` may be null while rules still run: the cause is empty then.
AnswerCard answer_card(const Trace& trace, const Headline& headline, const Diagnosis* diagnosis, const RecordedRun& recorded);
// Its lines in reading order, none empty. `with_doubt`: with the verdict where that is in doubt.
std::vector<std::string> answer_lines(const AnswerCard& card, bool with_doubt);

}  // namespace gapscope
