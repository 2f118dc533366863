#pragma once
// A line about each recording, worked out in the background and remembered as long as the file stays as it is.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "app/serve/listing.h"
#include "core/base/parallel.h"

namespace gapscope {

struct ItemSummary {
  std::string gpu;                      // "2 x NVIDIA H200"; empty where there is none, and of a run
  std::optional<std::int64_t> steps{};  // none where the recording marks none, and of a run
  std::string verdict;                  // or why there is none
  bool failed = false;
  // Of a step without its profiler, where that is known; none of a run.
  std::optional<double> step_ns{};
  std::optional<double> gpu_share{};  // of it, or of the recording where there are no steps
};

// Of what `gapscope overview --json` says, and of what `gapscope ranks` prints.
ItemSummary summary_of_overview(const std::string& json);
ItemSummary summary_of_ranks(const std::string& text);

class Summaries {
 public:
  using Work = std::function<ItemSummary(const ListedItem&, const std::stop_token&)>;
  // Throws std::system_error if no thread can be created.
  explicit Summaries(Work work);
  ~Summaries();
  Summaries(const Summaries&) = delete;
  Summaries& operator=(const Summaries&) = delete;

  // None: it is being read. Two are read at a time, small ones first, and only one that is large: it keeps no others waiting.
  std::optional<ItemSummary> of(const ListedItem& item);

 private:
  void run(const std::stop_token& stop);
  std::deque<ListedItem>::iterator next();

  Work work_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<ListedItem> waiting_;
  std::set<std::string> under_way_;           // keys
  std::map<std::string, ItemSummary> known_;  // by key
  bool reads_large_ = false;
  std::vector<Thread> threads_;  // last: they use the rest
};

}  // namespace gapscope
