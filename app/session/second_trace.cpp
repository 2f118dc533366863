#include "app/session/second_trace.h"
#include "core/view/document.h"

#include <limits>

namespace gapscope {
namespace {

// Its beginning is not shown: two traces that cannot be compared yet are no comparison.
LoadOptions without_parts(LoadOptions options) {
  options.least_bytes_for_parts = std::numeric_limits<decltype(options.least_bytes_for_parts)>::max();
  return options;
}

}  // namespace

SecondTrace::SecondTrace(std::function<void()> wake, FreeLater& free_later)
    : wake_(wake), free_later_(free_later), jobs_(std::make_unique<DocumentJobs>(wake)), comparison_job_(wake) {}

SecondTrace::~SecondTrace() { request_stop(); }

void SecondTrace::request_stop() {
  comparison_job_.request_stop();
  jobs_->request_stop();
  if (load_) load_->cancel();
}

void SecondTrace::open(std::string path, const LoadOptions& options, const std::filesystem::path& states) {
  if (load_) {
    load_->cancel();
    ending_.push_back(std::move(load_));
  }
  watch_.restart();
  load_ = std::make_shared<BackgroundLoad>(std::move(path), without_parts(options), wake_, states);
}

void SecondTrace::close() {
  if (load_) {
    load_->cancel();
    ending_.push_back(std::move(load_));
    return;
  }
  let_go();
}

void SecondTrace::let_go() {
  comparison_job_.cancel();
  jobs_->cancel();
  if (!document_) return;
  free_later_.add(document_->trace_owner);
  free_later_.add(std::exchange(document_, nullptr));
}

std::optional<SecondTrace::News> SecondTrace::poll() {
  for (std::shared_ptr<BackgroundLoad>& load : ending_) {
    if (load->done()) free_later_.add(std::move(load));
  }
  std::erase(ending_, nullptr);
  if (std::string trouble = jobs_->take(); !trouble.empty()) return News{"", std::move(trouble)};
  if (!load_ || !load_->done()) return std::nullopt;
  const std::shared_ptr<BackgroundLoad> load = std::move(load_);
  free_later_.add(load);
  BackgroundLoad::Outcome outcome = load->take();
  if (!outcome) return News{"", outcome.error().message};
  let_go();
  document_ = std::move(*outcome);
  jobs_->ask(document_, AnalysisQuestion{});
  return News{document_->trace.path, "", load->stamp()};
}

void SecondTrace::change_places(std::shared_ptr<const Document>& first, std::unique_ptr<DocumentJobs>& jobs) {
  comparison_job_.cancel();
  std::swap(document_, first);
  std::swap(jobs_, jobs);
}

void SecondTrace::compare(std::shared_ptr<const Document> first, const CompareOptions& options) {
  if (first && document_) comparison_job_.ask(std::move(first), {document_, options});
}

std::string SecondTrace::take_comparison(const std::shared_ptr<const Document>& first, WindowState& window) {
  if (auto done = comparison_job_.take(); done && first && done->document.lock() == first && done->question.b == document_)
    window.compare.answer = std::move(done->answer);
  const std::optional<Error> trouble = comparison_job_.take_trouble();
  if (trouble) window.compare.trouble = trouble->message;
  return trouble ? trouble->message : std::string();
}

}  // namespace gapscope
