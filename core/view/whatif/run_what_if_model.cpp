#include "core/view/whatif/run_what_if_model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {

std::shared_ptr<const RunWhatIfAnswer> answer(const Document&, const RunWhatIfQuestion& question,
                                              const std::atomic<bool>* cancel) {
  auto out = std::make_shared<RunWhatIfAnswer>();
  out->question = question;
  RunChange change;
  change.never_late = question.never_late;
  change.link = question.link;
  if (question.run) out->replay = replay_run(question.run->report, change, cancel);
  return cancel != nullptr && *cancel ? nullptr : out;
}

std::vector<std::int64_t> late_ranks(const RunReport& report, std::size_t most) {
  std::vector<std::pair<Ns, std::int64_t>> waited;
  for (std::uint32_t r = 0; r < report.run.ranks.size(); ++r)
    if (const Ns time = report.waited_for(r); time > 0) waited.emplace_back(-time, report.run.ranks[r].rank);
  std::sort(waited.begin(), waited.end());
  std::vector<std::int64_t> out;
  for (const auto& [time, rank] : waited)
    if (out.size() < most) out.push_back(rank);
  return out;
}

void set_never_late(RunWhatIfQuestion& question, std::int64_t rank, bool on) {
  std::erase(question.never_late, rank);
  if (on) question.never_late.insert(std::lower_bound(question.never_late.begin(), question.never_late.end(), rank), rank);
}

std::string late_words(const RunWhatIfAnswer& answer) {
  const RunReplay& replay = answer.replay;
  if (!replay.is_late()) return "then no rank is late by itself";
  return fmt::format("then rank {} is late: the others wait {} for it", answer.question.run->report.run.ranks[replay.late].rank,
                     format_duration(replay.late_cost));
}

}  // namespace gapscope
