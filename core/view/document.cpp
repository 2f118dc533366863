#include "core/view/document.h"

#include "core/analyze/work/work_table.h"
#include "core/base/parallel.h"
#include "core/load/arg_texts.h"
#include "core/view/answers.h"

namespace gapscope {
namespace {

// So few slices are arranged before the document is shown, and its lanes never jump (10 ms); more follow it.
constexpr std::size_t kArrangedAtOnce = 1'000'000;

}  // namespace

Document::Document(std::shared_ptr<const Trace> t, const std::atomic<bool>* cancel)
    : trace_owner(std::move(t)),
      trace(*trace_owner),
      names_under_way_(start([this, cancel] { return NameIndex(trace, hardware_threads(), cancel); })),
      lanes(trace, hardware_threads(), cancel),
      links(trace, lanes, hardware_threads(), cancel),
      names(names_under_way_.get()),
      index_seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()),
      vendor(vendor_of(trace)),
      answers(std::make_shared<Answers>()),
      work_(trace, lanes, links, concrete_inputs()) {}

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
  if (analysis() && !counters())
    counters_.publish(std::make_unique<const std::vector<CounterLane>>(counter_lanes(trace, *analysis())));
  if (arrows_under_way.valid()) arrows_under_way.get();
}

void Document::find_facts(const std::atomic<bool>* cancel) const {
  if (analysis()) return;
  progress_.done = 0;
  if (std::unique_ptr<const Analysis> facts = Analysis::make(trace, lanes, links, cancel, &progress_, &work_))
    analysis_.publish(std::move(facts));
}

// The table of work takes as long as all other facts, and the first rule that needs shapes asks for it, so it begins with them,
// on a thread of its own. Who lets it begin waits for its end: the thread refers to the document.
std::future<void> Document::begin_work(const std::atomic<bool>* cancel) const {
  const bool is_asked_for = !analysis() && !trace.gpu.empty() && (cancel == nullptr || !*cancel) && has_shapes(trace);
  return is_asked_for ? start([this] { (void)work_.get(); }) : std::future<void>();
}

void Document::diagnose(const std::atomic<bool>* cancel) const {
  const std::future<void> work = begin_work(cancel);
  analyze(cancel);
  judge(cancel);
}

void Document::judge(const std::atomic<bool>* cancel) const {
  const std::future<void> work = begin_work(cancel);
  find_facts(cancel);
  if (!analysis() || diagnosis()) return;
  const Facts facts(trace, lanes, links, names, *analysis());
  if (!headline()) headline_.publish(std::make_unique<const Headline>(headline_of(facts)));
  Diagnosis found = gapscope::diagnose(facts, *headline(), cancel);
  if (cancel == nullptr || !*cancel) diagnosis_.publish(std::make_unique<const Diagnosis>(std::move(found)));
}

}  // namespace gapscope
