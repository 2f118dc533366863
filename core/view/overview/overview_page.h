#pragma once
// The overview of a run as sections of lines and tables: what the command line prints, a report holds and a tab shows. Names
// are as in the file: the code that shows them makes them harmless.
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/diagnose.h"
#include "core/session/overview.h"
#include "core/view/overview/answer_card.h"
#include "core/view/timeline/idle_look.h"

namespace gapscope {

struct CompileUse;

struct PageLine {
  std::string label, value;
  std::string place{};  // place_in_link() of where it is (core/view/link.h); empty: nowhere
};

// Of a row: a bar behind its name, and where a click on it goes.
struct PageMark {
  double share = 0;  // 0..1, of the longest bar
  SliceId slice;     // none: nowhere
};

struct PageTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // as long as the head
  std::size_t text_columns = 1;                // so many at the left hold words, all others numbers
  std::vector<PageMark> marks;                 // of the rows; empty where they have none
};

// A GPU's window as parts; they add up to `window`.
struct PageBar {
  std::string title;  // "GPU 0: NVIDIA H200"
  Ns window = 0;
  std::vector<AccountPart> parts;
  ProgramKind program = ProgramKind::python;
  std::string_view of = "window of";  // what is as long as `window`
};

struct PageSection {
  std::string_view key;  // "steps"
  std::string title;
  std::vector<PageLine> lines;
  bool reads_as_text = false;  // the lines are paragraphs with a heading each
  std::vector<PageBar> bars;
  PageTable table;                 // without rows: none
  std::vector<std::string> notes;  // sentences: what is missing, what numbers mean
  std::vector<std::string> code;   // to be copied: commands, Python
};

struct OverviewPage {
  std::string file;     // the path as it was given
  std::string verdict;  // one line
  std::string trust;    // what limits it; empty where nothing does
  std::vector<PageSection> sections;
  AnswerCard answer{};  // above all of it
};

// The findings that come first, at most three: the first of the plan. Where it has none, costly ones for which no replay knows
// what they give; where nothing was replayed, by cost.
struct FirstFinding {
  const RankedFinding* ranked = nullptr;
  const Plan::Item* planned = nullptr;  // null: what it gives is not known
};
std::vector<FirstFinding> first_findings(const Diagnosis& diagnosis);
// What to do where there is none of these: to record again, and how, or nothing. Empty where there are some.
std::string instead_of_findings(const Trace& trace, const Diagnosis& diagnosis);
// Where the verdict is of the plain program.
constexpr std::string_view kFiguresAsRecorded = "Findings quote times as recorded. What remedies save is without the profiler.";
// Of these, a paragraph each, with its first place.
PageSection findings_section(const Trace& trace, const Diagnosis& diagnosis);

// `compiled`: of the trace; a section where there is any.
OverviewPage overview_page(const Trace& trace, const RunOverview& overview, const Diagnosis& diagnosis,
                           const CompileUse& compiled);

// "host: operators 41.2 %": the largest part of a bar; empty where it has none.
std::string largest_part_words(const PageBar& bar);
// "812 TFLOP/s", of operations a second.
std::string rate_text(double per_second);

}  // namespace gapscope
