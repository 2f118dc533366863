#pragma once
// Everything about a run of many ranks, from its files to its findings. Two ranks are held in full at once at most; of the
// others there is RankData.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ranks/choose_run.h"
#include "core/ranks/doing.h"
#include "core/ranks/run_replay.h"
#include "core/ranks/waits.h"
#include "core/ranks/what_pool.h"

namespace gapscope {

enum class RunFindingKind : std::uint8_t {
  straggler,
  slow_link,
  not_overlapped,
  unequal_work,
  other_order,
  compiles_alone,
  collects_alone
};
std::string_view run_finding_word(RunFindingKind kind);  // "straggler", "slow_link", ...

struct RunFinding {
  RunFindingKind kind{};
  std::string text;                 // one or two sentences
  Ns cost = 0;                      // time of all ranks together; 0 where not known
  std::int64_t rank = -1;           // the rank that is meant; -1: none alone
  std::string group;                // of a slow link: its ranks, "[2, 3]"
  std::string step;                 // of a straggler: where it cost most
  RunChange remedy{};               // what mending it would change; empty where no replay says that
  std::optional<RunReplay> gain{};  // the run with it
};

struct RunReport {
  Run run;
  Matches matches;
  Clocks clocks;
  Waits waits;
  std::vector<DoingAnswer> doing;    // by Waits::late; empty where the rank was not asked
  std::vector<RunFinding> findings;  // most costly first

  // What the ranks' accounts cover, added up.
  Ns windows() const;
  // Exposed waiting for a rank (position), of all others.
  Ns waited_for(std::uint32_t rank) const;
};

// One file as far as it is known to all.
struct ReadFile {
  RankData data;      // where `error` is empty
  std::string error;  // a sentence
};
// What a late rank was doing: its file, when.
struct DoingQuestion {
  std::string file;
  SpanSet spans;
};

// Who reads the files: this process, or many.
class RankReader {
 public:
  virtual ~RankReader() = default;
  // By file.
  virtual std::vector<ReadFile> read(const std::vector<std::string>& files) = 0;
  // By question; an empty answer where the file is gone.
  virtual std::vector<DoingAnswer> answer(const std::vector<DoingQuestion>& questions) = 0;
};

// This process, with at most two ranks in full at once: the last two read are still there when questions come.
class LocalReader : public RankReader {
 public:
  struct Options {
    int at_once = 2;             // files
    std::size_t row_slices = 0;  // of each row of RankData::rows the most slices; 0: no rows
    RunChange change{};          // what is different when they are replayed
    Stated stated{};             // of each of them
  };
  LocalReader() = default;
  explicit LocalReader(Options options) : options_(std::move(options)) {}
  std::vector<ReadFile> read(const std::vector<std::string>& files) override;
  std::vector<DoingAnswer> answer(const std::vector<DoingQuestion>& questions) override;

 private:
  Options options_{};
  std::vector<FullRank> read_;
  WhatPool whats_;
};

// What the remedy of a finding changes, as `gapscope whatif` takes it: "--rank 1".
std::string gain_change(const RunFinding& finding);
// A sentence on what it gives: "If rank 1 were on time: 9.30 ms -> 8.45 ms (-9.1 %)."; empty without a gain.
std::string gain_sentence(const RunReport& report, const RunFinding& finding);

RunReport analyze_run(const std::vector<std::string>& files, RankReader& reader, ClockAlignment alignment);

// A folder, or an archive of several traces, or a folder in one: what find_rank_files() goes into.
bool holds_several_traces(const std::string& path);

// The files of ranks: of a folder or an archive every trace in it (.json, .json.gz, .json.xz, .json.zst), in order of their
// names; files as they are. Where a folder holds none itself: those of the folders in it if each is a rank's ("rank0/"), or the
// only one that is below it, else a sentence that says which of them hold some.
struct RankFiles {
  std::vector<std::string> files;
  std::vector<std::string> problems;
  std::string in_folders{};            // the last such sentence, without the command that opens one
  std::vector<std::string> ignored{};  // JSON of a folder or an archive that is plainly no trace, and why
  std::string ignored_words() const;   // a sentence; empty where there is none
};
RankFiles find_rank_files(const std::vector<std::string>& paths);

std::vector<RunFinding> find_in_run(const RunReport& report);
// What a team lead would forward: one or two sentences without a line break.
std::string first_sentence(const RunReport& report);

}  // namespace gapscope
