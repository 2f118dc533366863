#pragma once
// PyTorch programs that run already, recorded from the window (app/attach): a thread listens for them, asks those that are
// chosen and waits for what they write. Used on the UI thread, which never waits; `wake` is called on the other when there is
// news.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "ui/attach/attach_page.h"

namespace gapscope {

class ProgramRecorder {
 public:
  explicit ProgramRecorder(std::function<void()> wake);
  ~ProgramRecorder();
  ProgramRecorder(const ProgramRecorder&) = delete;
  ProgramRecorder& operator=(const ProgramRecorder&) = delete;

  // A recording under way continues without it.
  void listen(bool on);
  // As soon as each of its programs has asked.
  void record(RecordPrograms what);
  // The last one that came to a trace, to compare with the open one; nothing before there was one.
  void record_again();
  void cancel();
  // Before destruction, where several are to end at the same time.
  void request_stop();

  struct Outcome {
    RecordPrograms what;
    std::string folder;
    std::vector<std::string> traces;  // in order of rank; empty: nothing came
    std::string said;                 // what went wrong, sentences
  };
  // What the last recording came to, once.
  std::optional<Outcome> take();
  // The newest; valid until the next call.
  const AttachView& view();
  bool listens() const { return listens_; }

 private:
  struct State;
  void tell(const std::function<void(State&)>& what);

  std::shared_ptr<State> state_;
  AttachView view_;
  std::optional<RecordPrograms> last_;
  bool listens_ = false;
  std::optional<LooseThread> thread_;
};

}  // namespace gapscope
