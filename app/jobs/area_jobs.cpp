#include "app/jobs/area_jobs.h"

#include <utility>

namespace gapscope {
namespace {

using Flag = std::shared_ptr<std::atomic<bool>>;

void stop(const Flag& flag) {
  if (flag) *flag = true;
}

// Stops the one under way.
Flag renew(Flag& flag) {
  stop(flag);
  return flag = std::make_shared<std::atomic<bool>>(false);
}

}  // namespace

std::shared_ptr<const AreaStats> answer_area(const Document& document, const Area& area, const std::atomic<bool>* cancel) {
  std::optional<AreaStats> stats = area_stats(document.trace, document.lanes, area, cancel);
  return stats ? std::make_shared<const AreaStats>(std::move(*stats)) : nullptr;
}

std::shared_ptr<const FlameAnswer> answer_flame(const Document& document, const FlameQuestion& question,
                                                const std::atomic<bool>* cancel) {
  std::optional<CallPaths> paths =
      call_paths(document.trace, document.lanes, document.links, question.area, question.time, cancel);
  return paths ? std::make_shared<const FlameAnswer>(FlameAnswer{question, std::move(*paths)}) : nullptr;
}

AreaJobs::AreaJobs(const std::function<void()>& wake)
    : stats_job_(
          "look at what is selected",
          [](const Task<Area>& t) -> Done<AreaStats> {
            return {t.document, answer_area(*t.document, t.question, t.cancel.get())};
          },
          wake),
      flame_job_(
          "add up the call paths",
          [](const Task<FlameQuestion>& t) -> Done<FlameAnswer> {
            return {t.document, answer_flame(*t.document, t.question, t.cancel.get())};
          },
          wake) {}

void AreaJobs::cancel() {
  stop(stats_cancelled_);
  stop(flame_cancelled_);
}

void AreaJobs::request_stop() {
  cancel();
  stats_job_.request_stop();
  flame_job_.request_stop();
}

void AreaJobs::ask(std::shared_ptr<const Document> document, Area area) {
  stats_job_.ask({std::move(document), std::move(area), renew(stats_cancelled_)});
}

void AreaJobs::ask(std::shared_ptr<const Document> document, FlameQuestion question) {
  flame_job_.ask({std::move(document), std::move(question), renew(flame_cancelled_)});
}

void AreaJobs::take(const std::shared_ptr<const Document>& shown, ViewState& view) {
  if (auto done = stats_job_.take(); done && done->answer && shown && done->document.lock() == shown)
    view.area.answer = std::move(done->answer);
  if (auto done = flame_job_.take(); done && done->answer && shown && done->document.lock() == shown)
    view.flame.answer = std::move(done->answer);
}

}  // namespace gapscope
