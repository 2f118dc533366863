#pragma once
// What a person asked to be done once, such as saving: one action after the other on a thread of its own, none dropped.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/parallel.h"

namespace gapscope {

class ActionQueue {
 public:
  // What came of an action.
  struct Done {
    std::string say{};                  // a sentence for the person; empty: nothing to say
    std::optional<std::string> copy{};  // to the clipboard
    std::string saved{};                // the file that was written, which `say` reports; else `say` is what went wrong
  };
  // It runs on the queue's thread: what it uses belongs to it. It ends early where `cancel` becomes true.
  using Action = std::function<Done(std::atomic<bool>& cancel)>;

  // `wake` is called on the queue's thread after each action.
  explicit ActionQueue(std::function<void()> wake);
  // Cancels them, does what waits all the same (it may not care), and waits for that, but not where it hangs (LooseThread).
  ~ActionQueue();
  ActionQueue(const ActionQueue&) = delete;
  ActionQueue& operator=(const ActionQueue&) = delete;

  // `to_do` is what it does, as it follows "Not enough memory to ...". Done at once where no thread is available.
  void add(std::string to_do, Action action);
  // Of the action that was done first, once; what it threw is its sentence.
  std::optional<Done> take();
  // There are some whose outcome has not been taken yet.
  bool is_at_work() const;
  // Before destruction, where several are to end at the same time.
  void request_stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::optional<LooseThread> thread_;
};

}  // namespace gapscope
