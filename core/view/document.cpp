#include "core/view/document.h"

#include <chrono>

#include "core/base/parallel.h"
#include "core/view/answers.h"

namespace gapscope {
namespace {

// So few slices are arranged before the document is shown, and its lanes never jump (10 ms); more follow it.
constexpr std::size_t kArrangedAtOnce = 1'000'000;

double seconds_to_index(const TraceSession& session, const std::atomic<bool>* cancel) {
  const auto begin = std::chrono::steady_clock::now();
  session.index(cancel);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Document::Document(std::shared_ptr<const Trace> t, const std::atomic<bool>* cancel)
    : session_owner(std::make_shared<const TraceSession>(std::move(t))),
      session(*session_owner),
      trace_owner(session.owner()),
      trace(session.trace()),
      index_seconds(seconds_to_index(session, cancel)),
      lanes(session.lanes()),
      links(session.links()),
      names(session.names()),
      vendor(vendor_of(trace)),
      answers(std::make_shared<Answers>()) {}

std::shared_ptr<const Document> Document::make(std::shared_ptr<const Trace> t, const std::atomic<bool>* cancel) {
  auto document = std::make_shared<const Document>(std::move(t), cancel);
  if (document->trace.slice_count() <= kArrangedAtOnce) document->arrange(cancel);
  return cancel != nullptr && *cancel ? nullptr : document;
}

void Document::arrange(const std::atomic<bool>* cancel) const {
  if (arrangements()) return;
  auto made = std::make_unique<const Arrangements>(make_arrangements(trace, cancel));
  if (cancel == nullptr || !*cancel) arrangements_.publish(std::move(made));
}

void Document::analyze(const std::atomic<bool>* cancel) const {
  std::future<void> arrows_under_way;  // alongside the others; waited for at the end
  if (!arrows() && (cancel == nullptr || !*cancel))
    arrows_under_way = start([this] { arrows_.publish(std::make_unique<const ArrowIndex>(trace, links)); });
  arrange(cancel);
  find_facts(cancel);
  if (analysis() && !counters()) counters_.publish(std::make_unique<const std::vector<CounterLane>>(counter_lanes(session)));
  if (arrows_under_way.valid()) arrows_under_way.get();
}

void Document::find_facts(const std::atomic<bool>* cancel) const {
  if (!is_analyzed_ && session.prefetch(cancel, &progress_)) is_analyzed_ = true;
}

// The table of work takes as long as all other facts, and the first rule that needs shapes asks for it, so it begins with them,
// on a thread of its own. Who lets it begin waits for its end: the thread refers to the document.
std::future<void> Document::begin_work(const std::atomic<bool>* cancel) const {
  const bool is_asked_for = !analysis() && !trace.gpu.empty() && (cancel == nullptr || !*cancel) && session.has_shapes();
  return is_asked_for ? start([this] { (void)session.work(); }) : std::future<void>();
}

void Document::diagnose(const std::atomic<bool>* cancel) const {
  const std::future<void> work = begin_work(cancel);
  analyze(cancel);
  judge(cancel);
}

void Document::judge(const std::atomic<bool>* cancel) const {
  const std::future<void> work = begin_work(cancel);
  find_facts(cancel);
  if (!analysis()) return;
  (void)headline_of(session);  // shown while the rules are at work
  (void)diagnosis_of(session, cancel);
}

}  // namespace gapscope
