#pragma once
// Questions about documents, worked out on a thread for each kind: of a kind the newest only. Another question of that kind,
// cancel() or the end makes the one under way stop early. Used on the UI thread; answers are put next to the document that they
// are about.
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/view/answers.h"

namespace gapscope {

class DocumentJobs {
 public:
  explicit DocumentJobs(std::function<void()> wake);
  ~DocumentJobs();
  DocumentJobs(const DocumentJobs&) = delete;
  DocumentJobs& operator=(const DocumentJobs&) = delete;

  void ask(const std::shared_ptr<const Document>& document, const AnyQuestion& question);
  // Puts what is there in its place. Gives the sentence of what came to no answer; empty: nothing went wrong.
  std::string take();
  void cancel();
  // One was asked whose outcome has not been taken yet.
  bool is_at_work() const;
  // Before destruction, where several are to end at the same time.
  void request_stop();

 private:
  struct Job;

  std::function<void()> wake_;
  std::map<const void*, std::unique_ptr<Job>> jobs_;  // by kind
};

}  // namespace gapscope
