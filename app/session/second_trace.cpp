#include "app/session/second_trace.h"

#include <limits>

namespace gapscope {
namespace {

// Its beginning is not shown: two traces that cannot be compared yet are no comparison.
LoadOptions without_parts(LoadOptions options) {
  options.least_bytes_for_parts = std::numeric_limits<decltype(options.least_bytes_for_parts)>::max();
  return options;
}

}  // namespace

SecondTrace::SecondTrace(LoadOptions options, std::function<void()> wake, FreeLater& free_later)
    : options_(without_parts(std::move(options))),
      wake_(wake),
      free_later_(free_later),
      analysis_(std::make_unique<AnalysisRun>(wake)),
      comparison_job_(
          "compare the traces",
          [](const Task& t) -> Done {
            return {t.a, t.b, answer_comparison(*t.a, *t.b, t.options, t.cancel.get())};
          },
          wake) {}

SecondTrace::~SecondTrace() { request_stop(); }

void SecondTrace::request_stop() {
  cancel_comparison();
  comparison_job_.request_stop();
  analysis_->request_stop();
  if (load_) load_->cancel();
}

void SecondTrace::open(std::string path) {
  if (load_) {
    load_->cancel();
    ending_.push_back(std::move(load_));
  }
  watch_.restart();
  load_ = std::make_shared<BackgroundLoad>(std::move(path), options_, wake_);
}

void SecondTrace::close() {
  if (load_) {
    load_->cancel();
    ending_.push_back(std::move(load_));
    return;
  }
  cancel_comparison();
  analysis_->cancel();
  free_document();
}

void SecondTrace::free_document() {
  if (!document_) return;
  free_later_.add(document_->trace_owner);
  free_later_.add(std::exchange(document_, nullptr));
}

std::optional<SecondTrace::News> SecondTrace::poll() {
  for (std::shared_ptr<BackgroundLoad>& load : ending_) {
    if (load->done()) free_later_.add(std::move(load));
  }
  std::erase(ending_, nullptr);
  if (const auto trouble = analysis_->take_trouble()) return News{"", trouble->message, {}, TabJob::analysis};
  if (const auto trouble = comparison_job_.take_trouble()) return News{"", trouble->message, {}, TabJob::comparison};
  if (!load_ || !load_->done()) return std::nullopt;
  const std::shared_ptr<BackgroundLoad> load = std::move(load_);
  free_later_.add(load);
  BackgroundLoad::Outcome outcome = load->take();
  if (!outcome) return News{"", outcome.error().message, {}};
  cancel_comparison();
  free_document();
  document_ = std::move(*outcome);
  analysis_->start(document_);
  return News{document_->trace.path, "", load->stamp()};
}

void SecondTrace::change_places(std::shared_ptr<const Document>& first, std::unique_ptr<AnalysisRun>& run) {
  cancel_comparison();
  std::swap(document_, first);
  std::swap(analysis_, run);
}

void SecondTrace::cancel_comparison() {
  if (cancelled_) *cancelled_ = true;
}

void SecondTrace::compare(std::shared_ptr<const Document> first, const CompareOptions& options) {
  if (!first || !document_) return;
  cancel_comparison();
  cancelled_ = std::make_shared<std::atomic<bool>>(false);
  comparison_job_.ask({std::move(first), document_, options, cancelled_});
}

void SecondTrace::take_comparison(const std::shared_ptr<const Document>& first, ViewState& view) {
  std::optional<Done> done = comparison_job_.take();
  if (!done || !done->answer || !first || !document_) return;
  if (done->a.lock() == first && done->b.lock() == document_) view.compare.answer = std::move(done->answer);
}

}  // namespace gapscope
