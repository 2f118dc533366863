#pragma once
// What the tab "What if" asks of a run of several ranks that is open: all of them replayed with the changes that are of ranks
// (core/replay/GAIN.md). What is asked last is what the person chose.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace gapscope {

struct Document;
struct RanksAnswer;  // core/view/ranks/ranks_model.h
struct RunWhatIfAnswer;

constexpr int kMostLinkRate = 1000;  // GB/s

struct RunWhatIfQuestion {
  using Answer = RunWhatIfAnswer;
  static constexpr const char* kToDo = "replay the ranks";
  std::shared_ptr<const RanksAnswer> run;
  std::vector<std::int64_t> never_late;  // ranks, ascending
  int link = 0;                          // GB/s, up to kMostLinkRate; 0: as it was

  bool changes_nothing() const { return never_late.empty() && link == 0; }
  friend bool operator==(const RunWhatIfQuestion&, const RunWhatIfQuestion&) = default;
};
std::shared_ptr<const RunWhatIfAnswer> answer(const Document& document, const RunWhatIfQuestion& question,
                                              const std::atomic<bool>* cancel);

}  // namespace gapscope
